/**
 * One run of a function of a bot: its order, its record, its error, and what it does afterwards.
 *
 * @module
 */

export { type BotSession, BotSessions, sessionKeyFor } from "./bot_sessions.ts";
export { ConversationEndedError, type ConversationEnding, ConversationError, isCutOff } from "./errors.ts";
export { currentRun, Run } from "./run.ts";
export { RunTime } from "./run_time.ts";
export { keptOf, keptUpdate, placeOf, sentAt, threadOf, type Update, updateOf } from "./update.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  checkQueries,
  type EventOfQuery,
  type ListenedQuery,
  type MessageOf,
  type Queries,
  type Query,
  typesOf,
} from "./queries.ts";
export { Begun } from "./begun.ts";
export {
  type Answer,
  hasSaid,
  type KeptEvent,
  runDetails,
  type RunEnd,
  type Step,
  type Wait,
} from "./run_record.ts";
export { Locks } from "./locks.ts";
export { checkReplayed } from "./replayed.ts";
export { type EventPlace, fits, laneOf, type WaitEntry, Waits } from "./waits.ts";
