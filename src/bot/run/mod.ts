/**
 * One run of a function of a bot: its order, its record, its error, and what it does afterwards.
 *
 * @module
 */

export { type BotSession, BotSessions, Locks, sessionKeyFor } from "./bot_sessions.ts";
export { ConversationEndedError, type ConversationEnding, ConversationError, isCutOff } from "./errors.ts";
export { currentRun, Run, type RunOptions } from "./run.ts";
export { Begun, Patience, RunTime } from "./patience.ts";
export {
  editedEvent,
  keptOf,
  keptUpdate,
  placeOf,
  runDetails,
  sentAt,
  threadOf,
  type Update,
  updateOf,
} from "./update.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  checkQueries,
  type EventOfQuery,
  fullQuery,
  type ListenedQuery,
  type MessageOf,
  type Queries,
  type Query,
  type ShortQuery,
  typesOf,
} from "./queries.ts";
export type { OtherQueries } from "./other_queries.ts";
export {
  type Answer,
  checkReplayed,
  hasSaid,
  type KeptEvent,
  type RunEnd,
  type Scene,
  type Step,
  type Wait,
} from "./run_record.ts";
export { type EventPlace, fits, queueOf, type WaitEntry, Waits } from "./waits.ts";
export { Once } from "./once.ts";
export { sceneOf, withScene } from "./scene.ts";
