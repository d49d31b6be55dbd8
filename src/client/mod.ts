/**
 * The client, and the types of what it is given and has.
 *
 * @module
 */

export { Client } from "./client.ts";
export type { ClientOptionHints } from "./client_hints.ts";
export type { ClientRoom } from "./client_room.ts";
export {
  type ClientLeaseOptions,
  type ClientOptions,
  FEED,
  type RegisterWakeOptions,
  STATE_STORE,
  type WakeAPI,
  type WakeOptions,
  type WakeRegistration,
} from "./client_options.ts";
export { type DecryptingClient, DecryptionDispatcher } from "./decryption_dispatcher.ts";
export type { EncryptingAPI } from "./encrypting_api.ts";
export type { EventFor, HandlerDecorator, HandlersAPI, OptionsFor, QuarantineAPI } from "./handlers_api.ts";
export type { PruneSummary } from "./client_core.ts";
export type {
  QueueAPI,
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueOptions,
  QueueProgress,
  SendQueue,
} from "./queue/queue.ts";
export type { ListSessionsOptions, SessionsAPI, StoredSession, TasksAPI } from "./sessions_api.ts";
export type {
  Dispatcher,
  DispatcherType,
  DispatchManualOptions,
  InternalData,
  InternalEventOptions,
  SyncerAPI,
  SyncStore,
} from "./syncer_api.ts";
