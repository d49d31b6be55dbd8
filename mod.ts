/**
 * Greenroom: the Matrix client SDK for Deno.
 *
 * {@linkcode Client} is where to begin: it has every operation of a homeserver, syncs, and delivers
 * events to handlers.
 *
 * @example A bot that echoes
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("echo");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * client.on("INVITE", (event) => client.joinRoom(event.room_id));
 * client.on("m.room.message", async (event) => {
 *   if (event.sender !== client.mxid) await client.sendNotice(event.room_id, event.content.body);
 * });
 * const bot = client.start();
 * await client.stop();
 * await bot;
 * ```
 *
 * @module
 */

import { callSite, endOwnCode } from "./src/base/own_code.ts"; // first: bundles begin with it

// The client, and what it is made with.
export type { ClientAPI } from "./src/api/api.ts";
export {
  type CustomRequestOptions,
  type EndedTokens,
  type FillMemberEventCallback,
  type FindAddress,
  type FindTokens,
  HTTPAPI,
  type HTTPAPIOptions,
  type OnTokensRefreshed,
  type RequestOptions,
  type RetryPolicy,
  type Tokens,
} from "./src/api/http/mod.ts";
export type { Clock } from "./src/base/clock.ts";
export { consoleLogger, type ConsoleLoggerOptions, type Logger } from "./src/base/log.ts";
export {
  Client,
  type ClientLeaseOptions,
  type ClientOptions,
  type DecryptingClient,
  DecryptionDispatcher,
  type Dispatcher,
  type DispatcherType,
  type EncryptingAPI,
  type HandlerDecorator,
  type HandlersAPI,
  type ListSessionsOptions,
  type QuarantineAPI,
  type RegisterWakeOptions,
  type SessionsAPI,
  type StoredSession,
  type SyncerAPI,
  type SyncStore,
  type TasksAPI,
  type WakeAPI,
  type WakeOptions,
  type WakeRegistration,
} from "./src/client/mod.ts";

// Handlers of events.
export type {
  Handler,
  HandlerContext,
  HandlerOptions,
  SessionChange,
  SessionHandlerOptions,
} from "./src/actors/dispatcher/dispatcher.ts";
export type { StartOptions, SyncBackoff, SyncOnceOptions, SyncPass } from "./src/actors/syncer/syncer.ts";
export {
  type DefinableEventClass,
  defineEvent,
  type DefineEventOptions,
  type EventDefinition,
} from "./src/types/events/define_event.ts";
export {
  defineSession,
  type DefineSessionOptions,
  type SessionDefinition,
  type SessionKey,
  type SessionScope,
} from "./src/types/events/define_session.ts";
export { eventType } from "./src/types/events/event_type.ts";
export {
  isEventId,
  isRoomAlias,
  isRoomId,
  isUserId,
  toEventId,
  toRoomAlias,
  toRoomId,
  toUserId,
} from "./src/types/identifiers.ts";

// End-to-end encryption.
export type { Crypto, EncryptionOptions, OwnerVerificationOptions } from "./src/encryption/encryption.ts";
export type { OnNewRecipient } from "./src/actors/crypto/crypto.ts";
export type { AcceptPolicy, SendPolicy } from "./src/crypto/context/context.ts";
export type { NewRecipient } from "./src/crypto/sharing/mod.ts";
export { encryptionOf } from "./src/types/events/encryption_info.ts";

// Stores.
export type { StateStore } from "./src/actors/store/mod.ts";
export { exportDevice, importDevice } from "./src/store/copy/copy.ts";
export { inspectDevice, listDevices } from "./src/store/device/mod.ts";
export {
  MemoryStore,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "./src/store/base/mod.ts";
export { SealedStore } from "./src/store/sealed/sealed.ts";

// Links to rooms, users and events.
export {
  type MatrixLink,
  matrixToUrl,
  matrixUri,
  parseMatrixLink,
  relationTo,
  type ReplyPlace,
} from "./src/api/messages/mod.ts";

// The commonest errors; `@greenroom/matrix/errors` has all.
export { UnknownTokenError } from "./src/errors/account_errcodes.ts";
export { MatrixError, ValueError } from "./src/errors/matrix_error.ts";
export { MatrixRequestError, NetworkError } from "./src/errors/request_error.ts";
export { ForbiddenError, LimitExceededError, NotFoundError } from "./src/errors/errcodes.ts";

endOwnCode(() => callSite());
