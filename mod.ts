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
 * Over 300 lines because all that the package exports is named here, one module a line.
 *
 * @module
 */

export { Client } from "./src/client/client.ts";
export type { ClientLeaseOptions, ClientOptions } from "./src/client/client_options.ts";
export { MemoryStore } from "./src/store/memory_store.ts";
export * from "./src/store/copy/device_copy.ts";
export type { KvCheck, KvEntry, KvKey, KvLock, KvMutation, KvStore } from "./src/store/kv_store.ts";
export * from "./src/store/device/inspection.ts";
export { SealedStore } from "./src/store/sealed/sealed.ts";
export type { PowerAction } from "./src/store/device/room_power.ts";
export type { StoredState } from "./src/store/device/records.ts";
export type { StateStore } from "./src/actors/store/state_store.ts";
export type { SyncStore } from "./src/client/sync_store.ts";
export type { EncryptingAPI } from "./src/client/encrypting_api.ts";
export type { Crypto, CryptoStartOptions, EncryptOptions } from "./src/actors/crypto/crypto.ts";
export { type DecryptingClient, DecryptionDispatcher } from "./src/client/decryption_dispatcher.ts";
export type { EncryptionOptions, OnNewRecipient } from "./src/actors/crypto/encryption_options.ts";
export type {
  ComparedDevice,
  Device as CryptoDevice,
  DeviceTrust,
  LocalTrust,
} from "./src/crypto/devices/device.ts";
export type { NewRecipient } from "./src/crypto/sharing/approvals.ts";
export type { AcceptPolicy, SendPolicy } from "./src/crypto/engine/policy.ts";
export type {
  CryptoInput,
  CryptoOutput,
  Decryption,
  OwnIdentity,
  RecoveredEvent,
  RoomStateInput,
  SentRoomEvent,
  ShareReport,
} from "./src/crypto/engine/engine_protocol.ts";
export type * from "./src/crypto/megolm/decrypted.ts";
export type { WithheldDevice } from "./src/crypto/sharing/share_policy.ts";
export type { ComparedIdentity, UserIdentity } from "./src/crypto/devices/user_record.ts";
export type { DeviceAlarm } from "./src/types/api/device_alarm.ts";
export { encryptionOf, type Encryptions } from "./src/types/events/encryption_of.ts";
export type {
  EncryptionInfo,
  KeySource,
  RelationSource,
  SenderInfo,
  SenderTrust,
  UndecryptableCode,
} from "./src/types/events/encryption_info.ts";
export { ActorError, type ActorErrorInit, ActorStoppedError } from "./src/actors/kernel/actor_error.ts";
export type { PruneSummary } from "./src/client/housekeeping.ts";
export type { HandlerContext } from "./src/actors/dispatcher/handler_context.ts";
export type {
  Handler,
  HandlerOptions,
  SessionHandlerOptions,
} from "./src/actors/dispatcher/handler_registry.ts";
export type { QuarantineAPI } from "./src/client/quarantine_api.ts";
export type { StartOptions, SyncOnceOptions } from "./src/actors/syncer/start_options.ts";
export type { EventFor, HandlerDecorator, HandlersAPI, OptionsFor } from "./src/client/handlers_api.ts";
export type {
  Dispatcher,
  DispatcherType,
  DispatchManualOptions,
  InternalData,
  InternalEventOptions,
  SyncerAPI,
} from "./src/client/syncer_api.ts";

export type { ClientAPI } from "./src/api/client_api.ts";
export type { CustomRequestOptions, FindAddress, HTTPAPIOptions } from "./src/api/http/http_options.ts";
export type { FillMemberEventCallback } from "./src/api/session.ts";
export { HTTPAPI } from "./src/api/http/http_api.ts";
export type { Method } from "./src/api/http/endpoint.ts";
export type {
  AccountAPI,
  ChangePasswordOptions,
  DeactivateAccountOptions,
  RegisterOptions,
  ThirdPartyId,
} from "./src/api/account/account.ts";
export type {
  AccountDataAPI,
  AccountDataOptions,
  SetRoomTagOptions,
} from "./src/api/account/account_data.ts";
export type { CoreAPI, FillMemberEventAPI } from "./src/api/core_api.ts";
export type {
  ClaimKeysOptions,
  DeviceKeysAPI,
  DevicesToQuery,
  KeysToClaim,
  QueryKeysOptions,
  SignedObjects,
  UploadCrossSigningKeysOptions,
  UploadKeysOptions,
} from "./src/api/account/device_keys.ts";
export type { DevicesAPI } from "./src/api/account/devices.ts";
export type {
  AddRoomAliasOptions,
  DirectoryAPI,
  GetRoomDirectoryOptions,
  RemoveRoomAliasOptions,
  SearchUsersOptions,
} from "./src/api/rooms/directory.ts";
export type { FiltersAPI } from "./src/api/account/filters.ts";
export type { JoiningAPI, JoinRoomOptions, KnockRoomOptions } from "./src/api/rooms/joining.ts";
export { type MatrixLink, matrixToUrl, matrixUri, parseMatrixLink } from "./src/api/messages/matrix_link.ts";
export type {
  JoinRoomByIdOptions,
  MembershipAPI,
  MembershipOptions,
  SendMemberEventOptions,
} from "./src/api/rooms/membership.ts";
export type {
  GetMessagesOptions,
  MessagesAPI,
  RedactOptions,
  SendOptions,
} from "./src/api/messages/messages.ts";
export type { OnTokensRefreshed, Tokens } from "./src/api/http/credentials.ts";
export type { PresenceAPI, SetPresenceOptions } from "./src/api/account/presence.ts";
export type { ProfileAPI, SetProfileOptions } from "./src/api/account/profile.ts";
export type { PushRulesAPI, SetPushRuleOptions } from "./src/api/account/push_rules.ts";
export type {
  ReceiptsAPI,
  SendReceiptOptions,
  SetFullyReadMarkerOptions,
  SetTypingOptions,
} from "./src/api/messages/receipts.ts";
export type { RequestOptions, RetryPolicy } from "./src/api/http/request_options.ts";
export type { CreateRoomOptions, RoomsAPI } from "./src/api/rooms/rooms.ts";
export type {
  SendFileOptions,
  SendFilesAPI,
  SendImageOptions,
  Thumbnail,
} from "./src/api/messages/send_files.ts";
export type {
  SendHelpersAPI,
  SendStickerOptions,
  SendTextOptions,
  SendTypedTextOptions,
} from "./src/api/messages/send_helpers.ts";
export type { LoginOptions, LogoutOptions, SessionAPI } from "./src/api/account/session_api.ts";
export type { SyncAPI, SyncOptions } from "./src/api/server/sync.ts";
export type { SendToDeviceOptions, ToDeviceAPI, ToDeviceMessages } from "./src/api/messages/to_device.ts";
export type { TransactionOptions } from "./src/api/http/transaction_id.ts";
export type {
  Authentication,
  AuthenticationOptions,
  StageHandler,
  StageRequest,
  UIAAPI,
} from "./src/api/account/uia.ts";
export type { ContentAs, SendableContent } from "./src/api/messages/outgoing_event.ts";
export type { NewSession } from "./src/api/account/store_login.ts";
export type { CapabilitiesAPI } from "./src/api/server/capabilities.ts";
export type { MediaAPI } from "./src/api/media/media.ts";
export type { MediaDownload } from "./src/api/media/media_file.ts";
export type {
  DownloadMediaOptions,
  DownloadMediaStreamOptions,
  DownloadOptions,
  DownloadThumbnailOptions,
  GetUrlPreviewOptions,
  UploadMediaOptions,
} from "./src/api/media/media_options.ts";
export type { MediaData, OnProgress, ReadableSource } from "./src/api/http/upload_body.ts";
export type { OpenIDAPI } from "./src/api/account/openid.ts";
export type { IterateMessagesOptions, PagingAPI } from "./src/api/rooms/paging.ts";
export type { PushersAPI } from "./src/api/account/pushers.ts";
export type { GetRelationsOptions, GetThreadsOptions, RelationsAPI } from "./src/api/messages/relations.ts";
export type { ReportingAPI, ReportOptions } from "./src/api/messages/reporting.ts";
export type {
  GetEventContextOptions,
  GetRoomSummaryOptions,
  RoomExtrasAPI,
  UpgradeRoomOptions,
} from "./src/api/rooms/room_extras.ts";
export type { SearchAPI, SearchMessagesOptions } from "./src/api/messages/search.ts";
export type { GetSpaceHierarchyOptions, SpacesAPI } from "./src/api/rooms/spaces.ts";
export type { ThirdPartyAPI, ThirdPartyLookupOptions } from "./src/api/server/third_party.ts";
export type { VoIPAPI } from "./src/api/server/voip.ts";
export type { Query } from "./src/api/http/path.ts";
export type {
  GetMembersOptions,
  GetStateEventOptions,
  RoomStateAPI,
  SendStateEventOptions,
  StateContentAs,
  StateEventAnswer,
} from "./src/api/rooms/state_events.ts";
export type { Clock } from "./src/base/clock.ts";
export type { Logger } from "./src/base/log.ts";

export { AuthenticationNeededError } from "./src/errors/authentication_needed_error.ts";
export { ClientEndedError } from "./src/errors/client_ended_error.ts";
export * from "./src/errors/crypto_error.ts";
export * from "./src/errors/encryption_errors.ts";
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
export * from "./src/errors/malformed_content_error.ts";
export * from "./src/errors/matrix_error.ts";
export { MissingPermissionError } from "./src/errors/missing_permission_error.ts";
export * from "./src/errors/network_error.ts";
export * from "./src/errors/request_error.ts";
export * from "./src/errors/service_response_error.ts";
export * from "./src/errors/store_error.ts";
export * from "./src/errors/value_error.ts";
export * from "./src/errors/well_known_error.ts";
export type * from "./src/types/content/account_data_content.ts";
export type * from "./src/types/content/call_content.ts";
export type * from "./src/types/api/capabilities.ts";
export type * from "./src/types/events/client_event.ts";
export type * from "./src/types/content/content_schema.ts";
export * from "./src/types/events/define_event.ts";
export * from "./src/types/events/define_session.ts";
export type * from "./src/types/api/device.ts";
export type * from "./src/types/api/device_keys.ts";
export type * from "./src/types/api/discovery.ts";
export type * from "./src/types/content/encryption_content.ts";
export * from "./src/types/enums.ts";
export type * from "./src/types/content/ephemeral_content.ts";
export type * from "./src/types/events/event.ts";
export type * from "./src/types/events/event_map.ts";
export type * from "./src/types/events/event_of.ts";
export * from "./src/types/events/event_type.ts";
export type * from "./src/types/content/file_info.ts";
export type * from "./src/types/api/filter.ts";
export type * from "./src/types/api/history.ts";
export type * from "./src/types/ids.ts";
export type * from "./src/types/content/image_pack_content.ts";
export type * from "./src/types/events/internal_event.ts";
export * from "./src/types/events/internal_event_type.ts";
export type { JsonObject } from "./src/types/json.ts";
export type * from "./src/types/api/login.ts";
export type * from "./src/types/api/media.ts";
export type * from "./src/types/content/member_content.ts";
export type * from "./src/types/content/message_content.ts";
export type * from "./src/types/open.ts";
export type * from "./src/types/api/openid.ts";
export type * from "./src/types/content/power_levels_content.ts";
export type * from "./src/types/api/profile.ts";
export type * from "./src/types/api/public_rooms.ts";
export type * from "./src/types/api/push_rule.ts";
export type * from "./src/types/api/pusher.ts";
export type * from "./src/types/content/relation.ts";
export type * from "./src/types/events/room_records.ts";
export type * from "./src/types/content/room_state_content.ts";
export type * from "./src/types/api/search.ts";
export type * from "./src/types/events/sync_response.ts";
export * from "./src/types/events/sync_stream.ts";
export type * from "./src/types/api/third_party.ts";
export type * from "./src/types/content/to_device_content.ts";
export type * from "./src/types/api/turn.ts";
export * from "./src/types/api/uia.ts";
export type * from "./src/types/content/verification_content.ts";
