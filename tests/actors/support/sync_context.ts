import type { SyncContext } from "../../../src/actors/syncer/sync_batch.ts";
import { OWN } from "./events.ts";

/** The context of a response that came in a running sync. */
export const CONTEXT: SyncContext = {
  own: OWN,
  initial: false,
  handledBefore: true,
  repeated: false,
  members: "all",
  acceptClear: undefined,
  outlives: false,
  dropTimeline: false,
};
