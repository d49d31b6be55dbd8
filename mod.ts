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

export { Client } from "./src/client.ts";
export type { ClientLeaseOptions, ClientOptions } from "./src/client_options.ts";
export { MemoryStore } from "./src/store/memory_store.ts";
export * from "./src/store/device_copy.ts";
export type { KvCheck, KvEntry, KvKey, KvLock, KvMutation, KvStore } from "./src/store/kv_store.ts";
export * from "./src/store/inspection.ts";
export { SealedStore } from "./src/store/sealed.ts";
export type { PowerAction } from "./src/store/room_power.ts";
export type { StoredState } from "./src/store/records.ts";
export type { StateStore } from "./src/actors/state_store.ts";
export type { SyncStore } from "./src/actors/sync_store.ts";
export type { EncryptingAPI } from "./src/actors/encrypting_api.ts";
export type { Crypto, CryptoStartOptions, EncryptOptions } from "./src/actors/crypto.ts";
export { type DecryptingClient, DecryptionDispatcher } from "./src/actors/decryption_dispatcher.ts";
export type { EncryptionOptions, OnNewRecipient } from "./src/actors/encryption_options.ts";
export type { ComparedDevice, Device as CryptoDevice, DeviceTrust, LocalTrust } from "./src/crypto/device.ts";
export type { NewRecipient } from "./src/crypto/approvals.ts";
export type { AcceptPolicy, SendPolicy } from "./src/crypto/policy.ts";
export type {
  CryptoInput,
  CryptoOutput,
  Decryption,
  OwnIdentity,
  RecoveredEvent,
  RoomStateInput,
  SentRoomEvent,
  ShareReport,
} from "./src/crypto/engine_protocol.ts";
export type * from "./src/crypto/decrypted.ts";
export type { WithheldDevice } from "./src/crypto/share_policy.ts";
export type { ComparedIdentity, UserIdentity } from "./src/crypto/user_record.ts";
export type { DeviceAlarm } from "./src/types/device_alarm.ts";
export { encryptionOf, type Encryptions } from "./src/types/encryption_of.ts";
export type {
  EncryptionInfo,
  KeySource,
  RelationSource,
  SenderInfo,
  SenderTrust,
  UndecryptableCode,
} from "./src/types/encryption_info.ts";
export { ActorError, type ActorErrorInit, ActorStoppedError } from "./src/actors/actor_error.ts";
export type { PruneSummary } from "./src/actors/housekeeping.ts";
export type { HandlerContext } from "./src/actors/handler_context.ts";
export type { Handler, HandlerOptions, SessionHandlerOptions } from "./src/actors/handler_registry.ts";
export type { QuarantineAPI } from "./src/actors/quarantine_api.ts";
export type { StartOptions, SyncOnceOptions } from "./src/actors/start_options.ts";
export type { EventFor, HandlerDecorator, HandlersAPI, OptionsFor } from "./src/actors/handlers_api.ts";
export type {
  Dispatcher,
  DispatcherType,
  DispatchManualOptions,
  InternalData,
  InternalEventOptions,
  SyncerAPI,
} from "./src/actors/syncer_api.ts";

export type { ClientAPI } from "./src/api/client_api.ts";
export type { CustomRequestOptions, FindAddress, HTTPAPIOptions } from "./src/api/http_options.ts";
export type { FillMemberEventCallback } from "./src/api/session.ts";
export { HTTPAPI } from "./src/api/http_api.ts";
export type { Method } from "./src/api/endpoint.ts";
export type {
  AccountAPI,
  ChangePasswordOptions,
  DeactivateAccountOptions,
  RegisterOptions,
  ThirdPartyId,
} from "./src/api/account.ts";
export type { AccountDataAPI, AccountDataOptions, SetRoomTagOptions } from "./src/api/account_data.ts";
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
} from "./src/api/device_keys.ts";
export type { DevicesAPI } from "./src/api/devices.ts";
export type {
  AddRoomAliasOptions,
  DirectoryAPI,
  GetRoomDirectoryOptions,
  RemoveRoomAliasOptions,
  SearchUsersOptions,
} from "./src/api/directory.ts";
export type { FiltersAPI } from "./src/api/filters.ts";
export type { JoiningAPI, JoinRoomOptions, KnockRoomOptions } from "./src/api/joining.ts";
export { type MatrixLink, matrixToUrl, matrixUri, parseMatrixLink } from "./src/api/matrix_link.ts";
export type {
  JoinRoomByIdOptions,
  MembershipAPI,
  MembershipOptions,
  SendMemberEventOptions,
} from "./src/api/membership.ts";
export type { GetMessagesOptions, MessagesAPI, RedactOptions, SendOptions } from "./src/api/messages.ts";
export type { OnTokensRefreshed, Tokens } from "./src/api/credentials.ts";
export type { PresenceAPI, SetPresenceOptions } from "./src/api/presence.ts";
export type { ProfileAPI, SetProfileOptions } from "./src/api/profile.ts";
export type { PushRulesAPI, SetPushRuleOptions } from "./src/api/push_rules.ts";
export type {
  ReceiptsAPI,
  SendReceiptOptions,
  SetFullyReadMarkerOptions,
  SetTypingOptions,
} from "./src/api/receipts.ts";
export type { RequestOptions, RetryPolicy } from "./src/api/request_options.ts";
export type { CreateRoomOptions, RoomsAPI } from "./src/api/rooms.ts";
export type { SendFileOptions, SendFilesAPI, SendImageOptions, Thumbnail } from "./src/api/send_files.ts";
export type {
  SendHelpersAPI,
  SendStickerOptions,
  SendTextOptions,
  SendTypedTextOptions,
} from "./src/api/send_helpers.ts";
export type { LoginOptions, LogoutOptions, SessionAPI } from "./src/api/session_api.ts";
export type { SyncAPI, SyncOptions } from "./src/api/sync.ts";
export type { SendToDeviceOptions, ToDeviceAPI, ToDeviceMessages } from "./src/api/to_device.ts";
export type { TransactionOptions } from "./src/api/transaction_id.ts";
export type {
  Authentication,
  AuthenticationOptions,
  StageHandler,
  StageRequest,
  UIAAPI,
} from "./src/api/uia.ts";
export type { ContentAs, SendableContent } from "./src/api/outgoing_event.ts";
export type { NewSession } from "./src/api/store_login.ts";
export type { CapabilitiesAPI } from "./src/api/capabilities.ts";
export type { MediaAPI } from "./src/api/media.ts";
export type { MediaDownload } from "./src/api/media_file.ts";
export type {
  DownloadMediaOptions,
  DownloadMediaStreamOptions,
  DownloadOptions,
  DownloadThumbnailOptions,
  GetUrlPreviewOptions,
  UploadMediaOptions,
} from "./src/api/media_options.ts";
export type { MediaData, OnProgress, ReadableSource } from "./src/api/upload_body.ts";
export type { OpenIDAPI } from "./src/api/openid.ts";
export type { IterateMessagesOptions, PagingAPI } from "./src/api/paging.ts";
export type { PushersAPI } from "./src/api/pushers.ts";
export type { GetRelationsOptions, GetThreadsOptions, RelationsAPI } from "./src/api/relations.ts";
export type { ReportingAPI, ReportOptions } from "./src/api/reporting.ts";
export type {
  GetEventContextOptions,
  GetRoomSummaryOptions,
  RoomExtrasAPI,
  UpgradeRoomOptions,
} from "./src/api/room_extras.ts";
export type { SearchAPI, SearchMessagesOptions } from "./src/api/search.ts";
export type { GetSpaceHierarchyOptions, SpacesAPI } from "./src/api/spaces.ts";
export type { ThirdPartyAPI, ThirdPartyLookupOptions } from "./src/api/third_party.ts";
export type { VoIPAPI } from "./src/api/voip.ts";
export type { Query } from "./src/api/path.ts";
export type {
  GetMembersOptions,
  GetStateEventOptions,
  RoomStateAPI,
  SendStateEventOptions,
  StateContentAs,
  StateEventAnswer,
} from "./src/api/room_state.ts";
export type { Clock } from "./src/clock.ts";
export type { Logger } from "./src/log.ts";

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
export type * from "./src/types/account_data_content.ts";
export type * from "./src/types/call_content.ts";
export type * from "./src/types/capabilities.ts";
export type * from "./src/types/client_event.ts";
export type * from "./src/types/content_schema.ts";
export * from "./src/types/define_event.ts";
export * from "./src/types/define_session.ts";
export type * from "./src/types/device.ts";
export type * from "./src/types/device_keys.ts";
export type * from "./src/types/discovery.ts";
export type * from "./src/types/encryption_content.ts";
export * from "./src/types/enums.ts";
export type * from "./src/types/ephemeral_content.ts";
export type * from "./src/types/event.ts";
export type * from "./src/types/event_map.ts";
export type * from "./src/types/event_of.ts";
export * from "./src/types/event_type.ts";
export type * from "./src/types/file_info.ts";
export type * from "./src/types/filter.ts";
export type * from "./src/types/history.ts";
export type * from "./src/types/ids.ts";
export type * from "./src/types/image_pack_content.ts";
export type * from "./src/types/internal_event.ts";
export * from "./src/types/internal_event_type.ts";
export type { JsonObject } from "./src/types/json.ts";
export type * from "./src/types/login.ts";
export type * from "./src/types/media.ts";
export type * from "./src/types/member_content.ts";
export type * from "./src/types/message_content.ts";
export type * from "./src/types/open.ts";
export type * from "./src/types/openid.ts";
export type * from "./src/types/power_levels_content.ts";
export type * from "./src/types/profile.ts";
export type * from "./src/types/public_rooms.ts";
export type * from "./src/types/push_rule.ts";
export type * from "./src/types/pusher.ts";
export type * from "./src/types/relation.ts";
export type * from "./src/types/room_records.ts";
export type * from "./src/types/room_state_content.ts";
export type * from "./src/types/search.ts";
export type * from "./src/types/sync_response.ts";
export * from "./src/types/sync_stream.ts";
export type * from "./src/types/third_party.ts";
export type * from "./src/types/to_device_content.ts";
export type * from "./src/types/turn.ts";
export * from "./src/types/uia.ts";
export type * from "./src/types/verification_content.ts";
