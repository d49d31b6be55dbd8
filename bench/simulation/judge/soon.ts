/**
 * What comes of something in the time of a world.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** What comes of something; undefined if nothing has in time, or it fails. */
export async function soon<Result>(
  world: World,
  work: Promise<Result> | undefined,
): Promise<Result | undefined> {
  let result: Result | undefined;
  let isOver = work === undefined;
  work?.then((value) => result = value, (error) => world.note(`the judge was told: ${error}`))
    .finally(() => isOver = true);
  await world.until(() => isOver, 600_000);
  return result;
}
