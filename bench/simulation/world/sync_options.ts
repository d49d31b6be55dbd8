/**
 * What clients ask for when they sync.
 *
 * @module
 */

import type { SyncOnceOptions } from "@greenroom/matrix";
import type { WorldPlan } from "./plan.ts";

/** The options of a world's clients. */
export function syncOptionsOf(
  { lazy, timelineLimit, slides }: Pick<WorldPlan, "lazy" | "timelineLimit" | "slides">,
): SyncOnceOptions {
  if (slides !== undefined) return { lazyLoadMembers: lazy }; // sliding sync takes no filters
  const filterData = timelineLimit === undefined
    ? undefined
    : { room: { timeline: { limit: timelineLimit } } };
  return { lazyLoadMembers: lazy, filterData };
}
