/**
 * Greenroom: the Matrix client SDK for Deno.
 *
 * {@linkcode Client} is where to begin: it has every operation of a homeserver, syncs, and brings events to handlers.
 *
 * @example A bot that echoes
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("echo");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token: accessToken });
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

export { Client, type ClientOptions } from "./src/client.ts";
export { MemoryStore } from "./src/store/memory_store.ts";
export type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "./src/store/kv_store.ts";
export type { PowerAction } from "./src/store/room_power.ts";
export type { StoredState } from "./src/store/records.ts";
export type { StateStore } from "./src/actors/state_store.ts";
export type { SyncStore } from "./src/actors/sync_store.ts";
export type { EncryptingAPI } from "./src/actors/encrypting_api.ts";
export type {
  Crypto,
  CryptoInput,
  CryptoOutput,
  CryptoProtocol,
  Decryption,
} from "./src/actors/crypto_protocol.ts";
export type { ActorRef, AskOptions, Body, Kind, Protocol, Reply } from "./src/actors/actor.ts";
export { ActorError, type ActorErrorInit, ActorStoppedError } from "./src/actors/actor_error.ts";
export type { Handler, HandlerOptions } from "./src/actors/handler_registry.ts";
export type { StartOptions, SyncOnceOptions } from "./src/actors/start_options.ts";
export type {
  Dispatcher,
  DispatcherType,
  DispatchManualOptions,
  HandlerDecorator,
  InternalData,
  InternalEventOptions,
  SyncerAPI,
} from "./src/actors/syncer_api.ts";

export type { Clock } from "./src/clock.ts";
export type { Logger } from "./src/log.ts";

export * from "./src/errors/crypto_error.ts";
export {
  AlreadyJoinedError,
  AppserviceLoginUnsupportedError,
  BadAliasError,
  BadJSONError,
  BadStateError,
  BadStatusError,
  CannotLeaveServerNoticeRoomError,
  CannotOverwriteMediaError,
  CaptchaInvalidError,
  CaptchaNeededError,
  ConnectionFailedError,
  ConnectionTimeoutError,
  DuplicateAnnotationError,
  ExclusiveError,
  ForbiddenError,
  GuestAccessForbiddenError,
  IncompatibleRoomVersionError,
  InsufficientPowerError,
  InvalidParamError,
  InvalidRoomStateError,
  InvalidSignatureError,
  InvalidUsernameError,
  InviteBlockedError,
  KeyTooLargeError,
  LimitExceededError,
  MissingParamError,
  MissingTokenError,
  NotFoundError,
  NotJoinedError,
  NotJSONError,
  NotYetUploadedError,
  NoValidSessionError,
  ProfileTooLargeError,
  ResourceLimitExceededError,
  RoomInUseError,
  ServerNotTrustedError,
  SessionExpiredError,
  SessionNotValidatedError,
  ThreepidAuthFailedError,
  ThreepidDeniedError,
  ThreepidInUseError,
  ThreepidMediumNotSupportedError,
  ThreepidNotFoundError,
  TooLargeError,
  UnableToAuthoriseJoinError,
  UnableToGrantJoinError,
  UnauthorizedError,
  UnknownDeviceError,
  UnknownEndpointError,
  UnknownError,
  UnknownTokenError,
  UnrecognizedError,
  UnsupportedRoomVersionError,
  UrlNotSetError,
  UserDeactivatedError,
  UserInUseError,
  UserLimitExceededError,
  UserLockedError,
  UserSuspendedError,
  WeakPasswordError,
  WrongRoomKeysVersionError,
} from "./src/errors/errcodes.ts";
export * from "./src/errors/matrix_error.ts";
export * from "./src/errors/network_error.ts";
export * from "./src/errors/request_error.ts";
export * from "./src/errors/service_response_error.ts";
export * from "./src/errors/value_error.ts";
export * from "./src/errors/well_known_error.ts";
export * from "./src/types/account_data_content.ts";
export * from "./src/types/call_content.ts";
export * from "./src/types/capabilities.ts";
export * from "./src/types/client_event.ts";
export * from "./src/types/content_schema.ts";
export * from "./src/types/define_event.ts";
export * from "./src/types/device.ts";
export * from "./src/types/device_keys.ts";
export * from "./src/types/discovery.ts";
export * from "./src/types/encryption_content.ts";
export * from "./src/types/enums.ts";
export * from "./src/types/ephemeral_content.ts";
export * from "./src/types/event.ts";
export * from "./src/types/event_map.ts";
export * from "./src/types/event_of.ts";
export * from "./src/types/event_type.ts";
export * from "./src/types/file_info.ts";
export * from "./src/types/filter.ts";
export * from "./src/types/history.ts";
export * from "./src/types/ids.ts";
export * from "./src/types/image_pack_content.ts";
export * from "./src/types/internal_event.ts";
export * from "./src/types/internal_event_type.ts";
export type { JsonObject } from "./src/types/json.ts";
export * from "./src/types/login.ts";
export * from "./src/types/media.ts";
export * from "./src/types/member_content.ts";
export * from "./src/types/message_content.ts";
export * from "./src/types/open.ts";
export * from "./src/types/openid.ts";
export * from "./src/types/power_levels_content.ts";
export * from "./src/types/profile.ts";
export * from "./src/types/public_rooms.ts";
export * from "./src/types/push_rule.ts";
export * from "./src/types/pusher.ts";
export * from "./src/types/relation.ts";
export * from "./src/types/room_records.ts";
export * from "./src/types/room_state_content.ts";
export * from "./src/types/search.ts";
export * from "./src/types/sync_response.ts";
export * from "./src/types/sync_stream.ts";
export * from "./src/types/third_party.ts";
export * from "./src/types/to_device_content.ts";
export * from "./src/types/turn.ts";
export * from "./src/types/uia.ts";
export * from "./src/types/verification_content.ts";
