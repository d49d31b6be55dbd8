/**
 * Time that passes while something goes on.
 *
 * @module
 */

import type { ClientStage } from "../../client/support/stage.ts";

/** Has time pass while something goes on: the lease of a process that has crashed runs out. */
export async function ticking<Result>(here: ClientStage, work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => isDone = true);
  done.catch(() => {}); // it is awaited below
  while (!isDone) await here.clock.tick(100); // no request takes a minute of it, however busy the machine is
  return await done;
}
