/**
 * Records of the engine: the steps that read and write them, bounds for what others cause, and for how long
 * they are kept.
 *
 * @module
 */

export {
  ChangeLog,
  type CommitOptions,
  LiveObjects,
  type RecordCache,
  type RecordKey,
  recordKey,
  Transaction,
  type Vault,
} from "./transaction.ts";
export {
  DAY_MS,
  DEVICES_A_TURN,
  duePruning,
  FairIndex,
  FairRecords,
  FALLBACK_MARGIN_MS,
  FORMER_DEVICES,
  GONE_PEER_DAYS,
  IDLE_ROOM_MS,
  LEFT_PEER_DAYS,
  LEFT_USER_DAYS,
  LONGEST_USE_MS,
  LOOKUPS_AN_HOUR,
  MISUNDERSTOOD_DEVICES,
  NEW_PEERS_A_DAY,
  pruningDone,
  RECORDS_A_STEP,
  type ScheduledPruning,
  schedulePruning,
  UNKNOWN_DEVICES,
  UNUSED_IN_ALL,
  UNUSED_OF_USER,
  UNVOUCHED_USER_DAYS,
} from "./fair_index.ts";
