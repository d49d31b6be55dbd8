/**
 * What clients ask for when they sync.
 *
 * @module
 */

import type { SyncOnceOptions } from "@greenroom/matrix";
import type { WorldPlan } from "./plan.ts";

/** The options of a world's clients. */
export function syncOptionsOf(
  { lazy, timelineLimit }: Pick<WorldPlan, "lazy" | "timelineLimit">,
): SyncOnceOptions {
  const filterData = timelineLimit === undefined
    ? undefined
    : { room: { timeline: { limit: timelineLimit } } };
  return { lazyLoadMembers: lazy, filterData };
}
