/**
 * One run of a function of a bot: its order, its record, its error, and what it does afterwards.
 *
 * @module
 */

export { type BotSession, BotSessions, Locks, Once, sessionKeyFor } from "./bot_sessions.ts";
export {
  type Answer,
  checkReplayed,
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
  hasSaid,
  isCutOff,
  type KeptEvent,
  type RunEnd,
  type Scene,
  type Step,
  type Wait,
} from "./run_record.ts";
export { currentRun, Run } from "./run.ts";
export { Begun, Patience, RunTime } from "./patience.ts";
export {
  editedEvent,
  keptOf,
  keptUpdate,
  placeOf,
  runDetails,
  sceneOf,
  sentAt,
  threadOf,
  type Update,
  updateOf,
  withScene,
} from "./update.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  checkQueries,
  type EventOfQuery,
  fullQuery,
  type ListenedQuery,
  type MessageOf,
  type OtherQueries,
  type Queries,
  type Query,
  type ShortQuery,
  typesOf,
} from "./queries.ts";
export { type EventPlace, fits, queueOf, type WaitEntry, Waits } from "./waits.ts";
