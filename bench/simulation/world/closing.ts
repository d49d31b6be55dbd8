/**
 * Closing a client takes as long as its handlers do, and no longer.
 *
 * @module
 */

import type { Process } from "./process.ts";
import type { Surroundings } from "./surroundings.ts";

/** How long closing may take while no handler is at work, in milliseconds. */
const LONGEST = 60_000;

/** Looks at a process from time to time until it is closed. */
export function watchClosing(
  world: Surroundings,
  { name, process }: { readonly name: string; readonly process: Process },
  closing: Promise<void>,
): void {
  const { timeline } = world;
  let busyAt = timeline.now;
  const stopped = Promise.race([closing, process.ended]).finally(() => cancel());
  stopped.catch(() => {}); // who closes it is told
  const look = (): void => {
    if (process.handlers > 0 || process.isPaused) busyAt = timeline.now;
    if (timeline.now - busyAt > LONGEST) return world.violate(`closing ${name} takes too long`);
    cancel = timeline.schedule(LONGEST / 4, "", look);
  };
  let cancel = timeline.schedule(0, "", look);
}
