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

import { endOwnCode } from "./src/base/own_code.ts"; // first: bundles begin with it

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
} from "./src/client/client.ts";

// Handlers of events.
export type {
  Handler,
  HandlerContext,
  HandlerOptions,
  SessionChange,
  SessionHandlerOptions,
} from "./src/actors/dispatcher/dispatcher.ts";
export type { StartOptions, SyncOnceOptions, SyncPass } from "./src/actors/syncer/syncer.ts";
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
export type { OnNewRecipient } from "./src/actors/crypto/mod.ts";
export type { AcceptPolicy, SendPolicy } from "./src/crypto/context/context.ts";
export type { NewRecipient } from "./src/crypto/sharing/mod.ts";
export { encryptionOf } from "./src/types/events/encryption_info.ts";

// Stores.
export type { StateStore } from "./src/actors/store/mod.ts";
export { exportDevice, importDevice } from "./src/store/copy/copy.ts";
export { inspectDevice, listDevices } from "./src/store/device/mod.ts";
export {
  type KvCheck,
  type KvEntry,
  type KvKey,
  type KvListOptions,
  type KvLock,
  type KvMutation,
  type KvStore,
  MemoryStore,
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

// Errors.
export { ActorError, ActorStoppedError } from "./src/actors/kernel/mod.ts";
export { AuthenticationNeededError, MatrixRequestError } from "./src/errors/request_error.ts";
export { ClientEndedError, MatrixError } from "./src/errors/matrix_error.ts";
export {
  AttachmentError,
  DecryptionError,
  DeviceConflictError,
  EncryptionError,
  EventTooLargeError,
  IdentityChangedError,
  KeyFileError,
  OwnIdentityError,
  UnsupportedAlgorithmError,
  VerificationError,
} from "./src/errors/encryption_error.ts";
export {
  AppserviceLoginUnsupportedError,
  CaptchaInvalidError,
  CaptchaNeededError,
  GuestAccessForbiddenError,
  InvalidUsernameError,
  KeyTooLargeError,
  MissingTokenError,
  NoValidSessionError,
  ProfileTooLargeError,
  ServerNotTrustedError,
  SessionExpiredError,
  SessionNotValidatedError,
  ThreepidAuthFailedError,
  ThreepidDeniedError,
  ThreepidInUseError,
  ThreepidMediumNotSupportedError,
  ThreepidNotFoundError,
  UnauthorizedError,
  UnknownDeviceError,
  UnknownTokenError,
  UserDeactivatedError,
  UserInUseError,
  UserLimitExceededError,
  UserLockedError,
  UserSuspendedError,
  WeakPasswordError,
} from "./src/errors/account_errcodes.ts";
export {
  AlreadyJoinedError,
  BadAliasError,
  BadJSONError,
  BadStateError,
  BadStatusError,
  CannotLeaveServerNoticeRoomError,
  CannotOverwriteMediaError,
  ConnectionFailedError,
  ConnectionTimeoutError,
  DuplicateAnnotationError,
  ExclusiveError,
  ForbiddenError,
  IncompatibleRoomVersionError,
  InsufficientPowerError,
  InvalidParamError,
  InvalidRoomStateError,
  InvalidSignatureError,
  InviteBlockedError,
  LimitExceededError,
  MissingParamError,
  NotFoundError,
  NotJoinedError,
  NotJSONError,
  NotYetUploadedError,
  ResourceLimitExceededError,
  RoomInUseError,
  TooLargeError,
  UnableToAuthoriseJoinError,
  UnableToGrantJoinError,
  UnknownEndpointError,
  UnknownError,
  UnrecognizedError,
  UnsupportedRoomVersionError,
  UrlNotSetError,
  WrongRoomKeysVersionError,
} from "./src/errors/request_errcodes.ts";
export { MalformedContentError } from "./src/errors/malformed_content_error.ts";
export { MissingPermissionError } from "./src/errors/missing_permission_error.ts";
export { NetworkError, RequestTimeoutError } from "./src/errors/network_error.ts";
export {
  AcceptedError,
  HomeserverAddressError,
  RedirectError,
  ServiceResponseError,
  WellKnownError,
  WellKnownInvalidIdentityServerError,
  WellKnownInvalidVersionsError,
  WellKnownMissingHomeserverError,
  WellKnownNotJSONError,
  WellKnownNotURLError,
  WellKnownUnreachableError,
  WellKnownUnsupportedSchemeError,
} from "./src/errors/service_response_error.ts";
export { KeyBackupError, SecretStorageError } from "./src/errors/secret_storage_error.ts";
export {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreKeyError,
  StoreReadOnlyError,
} from "./src/errors/store_error.ts";
export { ValueError } from "./src/errors/value_error.ts";

endOwnCode();
