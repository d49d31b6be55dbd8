/**
 * `@greenroom/matrix/types`: what programs pass to a client and get from it: identifiers, events
 * and their contents, what operations take and return, and the names of values (`Membership`,
 * `RoomCreatePreset`, `SyncStream`).
 *
 * Nothing here does anything; the client, its stores and its errors are in `@greenroom/matrix`.
 *
 * Over 300 lines because it is a list.
 *
 * @example Functions of a bot
 * ```ts
 * import type { Client } from "@greenroom/matrix";
 * import { type EventOf, MessageType, type RoomID } from "@greenroom/matrix/types";
 *
 * function isText(event: EventOf<"m.room.message">): boolean {
 *   return event.content.msgtype === MessageType.TEXT;
 * }
 *
 * async function announce(bot: Client, rooms: RoomID[], text: string): Promise<void> {
 *   for (const room of rooms) await bot.sendNotice(room, text);
 * }
 * ```
 *
 * @module
 */

// Operations: their interfaces, and what they take and return beside what Matrix defines.
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
export type { Device, DevicesAPI } from "./src/api/account/devices.ts";
export type {
  DehydratedDeviceAPI,
  GetDehydratedDeviceEventsOptions,
} from "./src/api/account/dehydrated_device.ts";
export type {
  DownloadRoomKeysOptions,
  GetKeyBackupVersionOptions,
  RoomKeysAPI,
} from "./src/api/account/room_keys.ts";
export type { FiltersAPI } from "./src/api/account/filters.ts";
export type { OpenIDAPI, OpenIDToken } from "./src/api/account/openid.ts";
export type { PresenceAPI, SetPresenceOptions } from "./src/api/account/presence.ts";
export type { ProfileAPI, SetProfileOptions } from "./src/api/account/profile.ts";
export type { PushRulesAPI, SetPushRuleOptions } from "./src/api/account/push_rules.ts";
export type {
  Pusher,
  PusherData,
  PusherRemoval,
  PushersAPI,
  PusherSetup,
} from "./src/api/account/pushers.ts";
export type { LoginOptions, LogoutOptions, SessionAPI } from "./src/api/account/session_api.ts";
export type { NewSession } from "./src/api/account/store_login.ts";
export type {
  Authentication,
  AuthenticationOptions,
  StageHandler,
  StageRequest,
  UIAAPI,
} from "./src/api/account/uia.ts";
export type { CoreAPI, FillMemberEventAPI } from "./src/api/core_api.ts";
export type { Method, Query } from "./src/api/http/endpoint.ts";
export type { TransactionOptions } from "./src/api/http/transaction_id.ts";
export type { MediaData, OnProgress, ReadableSource } from "./src/api/http/upload_body.ts";
export type { GetUrlPreviewOptions, MediaAPI } from "./src/api/media/media.ts";
export type {
  DownloadMediaOptions,
  DownloadMediaStreamOptions,
  DownloadOptions,
  DownloadThumbnailOptions,
  MediaDownload,
} from "./src/api/media/media_download.ts";
export type { UploadMediaOptions } from "./src/api/media/media_upload.ts";
export type {
  GetMessagesOptions,
  MessagesAPI,
  RedactOptions,
  SendOptions,
} from "./src/api/messages/messages.ts";
export type { ContentAs, SendableContent } from "./src/api/messages/outgoing_event.ts";
export type {
  ReceiptsAPI,
  SendReceiptOptions,
  SetFullyReadMarkerOptions,
  SetTypingOptions,
} from "./src/api/messages/receipts.ts";
export type { GetRelationsOptions, GetThreadsOptions, RelationsAPI } from "./src/api/messages/relations.ts";
export type { ReportingAPI, ReportOptions } from "./src/api/messages/reporting.ts";
export type {
  HistoricProfile,
  RoomEventsCriteria,
  RoomEventsResults,
  SearchAPI,
  SearchCategories,
  SearchContextCriteria,
  SearchGroup,
  SearchGroupings,
  SearchGroupKey,
  SearchMessagesOptions,
  SearchRequest,
  SearchResponse,
  SearchResult,
  SearchResultContext,
} from "./src/api/messages/search.ts";
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
export type { SendToDeviceOptions, ToDeviceAPI, ToDeviceMessages } from "./src/api/messages/to_device.ts";
export type {
  AddRoomAliasOptions,
  DirectoryAPI,
  GetRoomDirectoryOptions,
  RemoveRoomAliasOptions,
  SearchUsersOptions,
} from "./src/api/rooms/directory.ts";
export type { JoiningAPI, JoinRoomOptions, KnockRoomOptions } from "./src/api/rooms/joining.ts";
export type {
  JoinRoomByIdOptions,
  MembershipAPI,
  MembershipOptions,
  SendMemberEventOptions,
} from "./src/api/rooms/membership.ts";
export type { IterateMessagesOptions, PagingAPI } from "./src/api/rooms/paging.ts";
export type {
  GetEventContextOptions,
  GetRoomSummaryOptions,
  RoomExtrasAPI,
  UpgradeRoomOptions,
} from "./src/api/rooms/room_extras.ts";
export type { CreateRoomOptions, RoomsAPI } from "./src/api/rooms/rooms.ts";
export type { GetSpaceHierarchyOptions, SpacesAPI } from "./src/api/rooms/spaces.ts";
export type {
  GetMembersOptions,
  GetStateEventOptions,
  RoomStateAPI,
  SendStateEventOptions,
  StateContentAs,
  StateEventAnswer,
} from "./src/api/rooms/state_events.ts";
export type {
  AccountModerationCapability,
  BooleanCapability,
  Capabilities,
  CapabilitiesAPI,
  ProfileFieldsCapability,
  RoomVersionsCapability,
} from "./src/api/server/capabilities.ts";
export type { DiscoverOptions } from "./src/api/server/discovery.ts";
export type { SyncAPI, SyncOptions } from "./src/api/server/sync.ts";
export type {
  ThirdPartyAPI,
  ThirdPartyFieldType,
  ThirdPartyLocation,
  ThirdPartyLookupOptions,
  ThirdPartyProtocol,
  ThirdPartyProtocolInstance,
  ThirdPartyUser,
} from "./src/api/server/third_party.ts";
export type { TurnServer, VoIPAPI } from "./src/api/server/voip.ts";
export type { UserIDParts } from "./src/types/identifiers.ts";
export type { EventFor, OptionsFor } from "./src/client/handlers_api.ts";
export type { DispatchManualOptions, InternalData, InternalEventOptions } from "./src/client/syncer_api.ts";
export type { NewSecretStorageKeyOptions } from "./src/encryption/secrets/new_key.ts";
export type { OpenSecretStorage } from "./src/encryption/secrets/open_secret_storage.ts";
export type {
  SecretStorage,
  SecretStorageInfo,
  SecretStorageKey,
} from "./src/encryption/secrets/secret_storage.ts";
export type { SecretStorageUnlock } from "./src/encryption/secrets/unlock.ts";
export type { AttachmentProblem, KeyFileProblem, OwnIdentityProblem } from "./src/errors/encryption_error.ts";
export type { KeyBackupProblem } from "./src/errors/key_backup_error.ts";
export type { SecretStorageProblem } from "./src/errors/secret_storage_error.ts";

// Encryption.
export type { AskedSecrets } from "./src/crypto/secret_requests/secret_requests.ts";
export type { EncryptOptions } from "./src/encryption/crypto.ts";
export type {
  CryptoDoctorOptions,
  CryptoFinding,
  CryptoFindingCode,
} from "./src/encryption/crypto_findings.ts";
export type {
  EnsureVerifiedOptions,
  IdentityCrypto,
  IdentityLoss,
  ResetIdentityOptions,
  VerificationReport,
} from "./src/encryption/identity/identity_crypto.ts";
export type { HistoryCrypto, HistoryShareReport } from "./src/encryption/history/history_crypto.ts";
export type { DehydrationOutcome } from "./src/encryption/dehydration/dehydration.ts";
export type {
  DeleteKeyBackupOptions,
  KeyBackup,
  KeyBackupInfo,
  KeyBackupOutcome,
  KeyBackupUnlock,
  KeyRestoreProgress,
  NewKeyBackupOptions,
  RestoreKeysOptions,
  SecretKeeper,
  StoreSecretOptions,
} from "./src/encryption/backup/key_backup.ts";
export type {
  ExportKeysOptions,
  ImportKeysOptions,
  KeyExportProgress,
  KeyImportProgress,
  KeyImportReport,
} from "./src/encryption/key_files.ts";
export type {
  ComparedDevice,
  Device as CryptoDevice,
  DeviceTrust,
  LocalTrust,
} from "./src/crypto/devices/device.ts";
export type { KeyFileData } from "./src/crypto/key_files/key_file_reader.ts";
export type { ComparedIdentity, UserIdentity } from "./src/crypto/devices/user_identity.ts";
export type { Decryption } from "./src/crypto/megolm/decrypted.ts";
export type { OwnIdentity, SentRoomEvent } from "./src/crypto/engine/engine_protocol.ts";
export type { ShareReport } from "./src/crypto/sharing/sharing_protocol.ts";
export type {
  VerificationComparison,
  VerificationCrypto,
  VerificationOptions,
  VerificationPeer,
  VerificationRequest,
  VerificationResult,
  VerificationWayOptions,
} from "./src/encryption/verification/verification_crypto.ts";
export type { VerificationEnd, VerificationErrorInit } from "./src/errors/verification_error.ts";
export type { VerificationEmoji } from "./src/crypto/verification/emoji.ts";
export type {
  VerificationCancellation,
  VerificationPhase,
  VerificationWay,
} from "./src/crypto/verification/protocol.ts";
export type { DecryptedEvent } from "./src/crypto/megolm/decrypted.ts";
export type { WithheldDevice } from "./src/crypto/sharing/share_policy.ts";
export type * from "./src/types/api/device_alarm.ts";
export type * from "./src/types/events/encryption_info.ts";
export type { Encryptions } from "./src/types/events/encryption_of.ts";

// Stores.
export type { PruneSummary } from "./src/client/housekeeping.ts";
export type {
  DeviceCopyOptions,
  DeviceCopyProgress,
  ExportDeviceOptions,
  ImportedDevice,
} from "./src/store/copy/device_copy.ts";
export type {
  DeviceHolder,
  DeviceInspection,
  InspectDeviceOptions,
  StoredAmount,
  StoredDevice,
} from "./src/store/device/inspection.ts";
export type { StoredState } from "./src/store/device/records.ts";
export type { PowerAction } from "./src/store/device/room_power.ts";

// Identifiers, events, contents and answers, as Matrix defines them.
export type * from "./src/types/api/device_keys.ts";
export type * from "./src/types/api/discovery.ts";
export type * from "./src/types/api/filter.ts";
export type * from "./src/types/api/history.ts";
export type * from "./src/types/api/dehydrated_device.ts";
export type * from "./src/types/api/key_backup.ts";
export type * from "./src/types/api/login.ts";
export type * from "./src/types/api/media.ts";
export type * from "./src/types/api/profile.ts";
export type * from "./src/types/api/public_rooms.ts";
export type * from "./src/types/api/push_rule.ts";
export * from "./src/types/api/uia.ts";
export type * from "./src/types/content/account_data_content.ts";
export type * from "./src/types/content/call_content.ts";
export type {
  ContentAccepted,
  ContentIssue,
  ContentPathSegment,
  ContentRefused,
  ContentSchema,
  ContentSchemaProperties,
  ContentSchemaResult,
  ContentSchemaTypes,
} from "./src/types/content/content_schema.ts";
export type * from "./src/types/content/encryption_content.ts";
export type * from "./src/types/content/ephemeral_content.ts";
export type * from "./src/types/content/file_info.ts";
export type * from "./src/types/content/image_pack_content.ts";
export type * from "./src/types/content/member_content.ts";
export type * from "./src/types/content/message_content.ts";
export type * from "./src/types/content/power_levels_content.ts";
export type * from "./src/types/content/relation.ts";
export type * from "./src/types/content/room_state_content.ts";
export type * from "./src/types/content/to_device_content.ts";
export type * from "./src/types/content/verification_content.ts";
export * from "./src/types/enums.ts";
export type * from "./src/types/events/client_event.ts";
export type * from "./src/types/events/event.ts";
export type * from "./src/types/events/event_map.ts";
export type * from "./src/types/events/event_of.ts";
export type { EventClass, EventType, EventTypeRef } from "./src/types/events/event_type.ts";
export type { ListenedType, NamedEventType, UnspecifiedEventType } from "./src/types/events/listened_type.ts";
export type * from "./src/types/events/internal_event.ts";
export * from "./src/types/events/internal_event_type.ts";
export type * from "./src/types/events/room_records.ts";
export type * from "./src/types/events/sync_response.ts";
export * from "./src/types/events/sync_stream.ts";
export type * from "./src/types/ids.ts";
export type { JsonObject } from "./src/types/json.ts";
