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
  AccountDataAPI,
  AccountDataOptions,
  Authentication,
  AuthenticationOptions,
  BindThirdPartyIDOptions,
  ChangePasswordOptions,
  ClaimKeysOptions,
  DeactivateAccountOptions,
  DehydratedDeviceAPI,
  Device,
  DeviceKeysAPI,
  DevicesAPI,
  DevicesToQuery,
  DownloadRoomKeysOptions,
  FiltersAPI,
  GetDehydratedDeviceEventsOptions,
  GetKeyBackupVersionOptions,
  GetNotificationsOptions,
  InvitePermissions,
  InvitePermissionsAPI,
  KeysToClaim,
  LoginOptions,
  LogoutOptions,
  NewSession,
  Notification,
  NotificationsAPI,
  NotificationsResponse,
  OpenIDAPI,
  OpenIDToken,
  PresenceAPI,
  ProfileAPI,
  Pusher,
  PusherData,
  PusherRemoval,
  PushersAPI,
  PusherSetup,
  PushRulesAPI,
  QueryKeysOptions,
  RegisterOptions,
  RequestEmailTokenOptions,
  RequestPhoneTokenOptions,
  RoomKeysAPI,
  SessionAPI,
  SetPresenceOptions,
  SetProfileOptions,
  SetPushRuleOptions,
  SetRoomTagOptions,
  SignedObjects,
  StageHandler,
  StageRequest,
  ThirdPartyAddress,
  ThirdPartyAddressesAPI,
  ThirdPartyID,
  ThirdPartyValidation,
  UiaAPI,
  UnbindResult,
  UnbindThirdPartyIDOptions,
  UploadCrossSigningKeysOptions,
  UploadKeysOptions,
} from "./src/api/account/account.ts";
export type { CoreAPI, RawAPI } from "./src/api/api.ts";
export type {
  ContentAs,
  FillMemberEventAPI,
  MediaData,
  Method,
  OnProgress,
  Query,
  ReadableSource,
  SendableContent,
  TransactionOptions,
} from "./src/api/http/mod.ts";
export type {
  DownloadMediaOptions,
  DownloadMediaStreamOptions,
  DownloadOptions,
  DownloadThumbnailOptions,
  GetUrlPreviewOptions,
  MediaAPI,
  MediaDownload,
  UploadMediaOptions,
} from "./src/api/media/media.ts";
export type {
  CreateDelayedEventOptions,
  DelayedEvent,
  DelayedEventsAPI,
  EditOptions,
  GetMessagesOptions,
  GetRelationsOptions,
  GetThreadsOptions,
  HistoricProfile,
  IterateMessagesOptions,
  MessagesAPI,
  PagingAPI,
  PlacedSendOptions,
  ReceiptsAPI,
  RedactOptions,
  RelationsAPI,
  ReportingAPI,
  ReportOptions,
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
  SendFileOptions,
  SendFilesAPI,
  SendHelpersAPI,
  SendImageOptions,
  SendOptions,
  SendReceiptOptions,
  SendStickerOptions,
  SendTextOptions,
  SendToDeviceOptions,
  SendTypedTextOptions,
  SetFullyReadMarkerOptions,
  SetThreadSubscriptionOptions,
  SetTypingOptions,
  ThreadSubscription,
  ThreadSubscriptionsAPI,
  Thumbnail,
  ToDeviceAPI,
  ToDeviceMessages,
} from "./src/api/messages/mod.ts";
export type {
  AddRoomAliasOptions,
  CreateRoomOptions,
  DirectoryAPI,
  GetEventContextOptions,
  GetMembersOptions,
  GetRoomDirectoryOptions,
  GetRoomSummaryOptions,
  GetSpaceHierarchyOptions,
  GetStateEventOptions,
  JoiningAPI,
  JoinRoomByIdOptions,
  JoinRoomOptions,
  KnockRoomOptions,
  MembershipAPI,
  MembershipOptions,
  MutualRoomsAPI,
  RemoveRoomAliasOptions,
  RoomExtrasAPI,
  RoomsAPI,
  RoomStateAPI,
  SearchUsersOptions,
  SendMemberEventOptions,
  SendStateEventOptions,
  SpacesAPI,
  StateContentAs,
  StateEventAnswer,
  UpgradeRoomOptions,
} from "./src/api/rooms/rooms.ts";
export type {
  AccountModerationAPI,
  AccountModerationCapability,
  BooleanCapability,
  Capabilities,
  CapabilitiesAPI,
  DiscoverOptions,
  GetSupportOptions,
  PolicyServerInfo,
  ProfileFieldsCapability,
  RoomVersionsCapability,
  ServerContactsAPI,
  ServerSupport,
  SupportContact,
  SyncAPI,
  SyncOptions,
  ThirdPartyAPI,
  ThirdPartyFieldType,
  ThirdPartyLocation,
  ThirdPartyLookupOptions,
  ThirdPartyProtocol,
  ThirdPartyProtocolInstance,
  ThirdPartyUser,
  TurnServer,
  VoipAPI,
} from "./src/api/server/server.ts";
export type { MegolmSessionRef, UserIDParts } from "./src/types/identifiers.ts";
export type {
  ClientOptionHints,
  ClientRoom,
  DispatchManualOptions,
  EventFor,
  InternalData,
  InternalEventOptions,
  OptionsFor,
  PruneSummary,
  QueueAPI,
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueOptions,
  QueueProgress,
  SendQueue,
} from "./src/client/mod.ts";
export type {
  NewSecretStorageKeyOptions,
  OpenSecretStorage,
  SecretStorage,
  SecretStorageInfo,
  SecretStorageKey,
  SecretStorageUnlock,
} from "./src/encryption/secrets/secrets.ts";
export type {
  AttachmentProblem,
  KeyBackupProblem,
  KeyFileProblem,
  OwnIdentityProblem,
  SecretStorageProblem,
  VerificationEnd,
} from "./src/errors/encryption_error.ts";
export type { WriteInstead } from "./src/errors/hints.ts";

// Encryption.
export type { AskedSecrets } from "./src/crypto/secret_requests/secret_requests.ts";
export type {
  CryptoDoctorOptions,
  CryptoFinding,
  CryptoFindingCode,
  DehydrationOutcome,
  EncryptOptions,
  ExportKeysOptions,
  HistoryCrypto,
  HistoryShareReport,
  ImportKeysOptions,
  KeyExportProgress,
  KeyImportCounts,
  KeyImportProgress,
  KeyImportReport,
} from "./src/encryption/encryption.ts";
export type {
  EnsureVerifiedOptions,
  IdentityCrypto,
  IdentityLoss,
  ResetIdentityOptions,
  VerificationReport,
} from "./src/encryption/identity/identity.ts";
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
} from "./src/encryption/backup/backup.ts";
export type {
  ComparedDevice,
  ComparedIdentity,
  CryptoDevice,
  DeviceTrust,
  LocalTrust,
  UserIdentity,
} from "./src/crypto/devices/mod.ts";
export type { KeyFileData } from "./src/crypto/key_files/key_files.ts";
export type { DecryptedEvent, Decryption } from "./src/crypto/megolm/mod.ts";
export type { OwnDeviceKeys, SentRoomEvent } from "./src/crypto/engine/engine.ts";
export type { ShareReport, WithheldDevice } from "./src/crypto/sharing/mod.ts";
export type { VerificationCrypto, VerificationPeer } from "./src/encryption/verification/verification.ts";
export type * from "./src/types/verification.ts";
export type * from "./src/types/api/device_keys.ts";
export type {
  EncryptionInfo,
  Encryptions,
  KeySource,
  RelationSource,
  SenderInfo,
  SenderTrust,
} from "./src/types/events/encryption_info.ts";

// Stores.
export type {
  DeviceCopyOptions,
  DeviceCopyProgress,
  ExportDeviceOptions,
  ImportedDevice,
} from "./src/store/copy/copy.ts";
export type { DelayOptions } from "./src/base/clock.ts";
export type {
  DeviceHolder,
  DeviceInspection,
  InspectDeviceOptions,
  ListDevicesOptions,
  PowerAction,
  StoredAmount,
  StoredDevice,
  StoredState,
} from "./src/store/device/mod.ts";

// Identifiers, events, contents and answers, as Matrix defines them.
export * from "./src/types/api/login.ts";
export type * from "./src/types/events/sync_response.ts";
export type * from "./src/types/events/room_records.ts";
export type {
  AudioInfo,
  AvatarInfo,
  BaseFileInfo,
  CreateMediaResponse,
  EncryptedFile,
  EncryptedFileKey,
  FileInfo,
  ImageInfo,
  LocationInfo,
  MediaConfig,
  ThumbnailedInfo,
  ThumbnailInfo,
  UrlPreview,
  VideoInfo,
} from "./src/types/content/file_info.ts";
export type * from "./src/types/api/public_rooms.ts";
export type * from "./src/types/content/account_data_content.ts";
export type {
  ContentAccepted,
  ContentIssue,
  ContentPathSegment,
  ContentRefused,
  ContentSchema,
  ContentSchemaProperties,
  ContentSchemaResult,
  ContentSchemaTypes,
} from "./src/types/events/define_event.ts";
export type * from "./src/types/content/to_device_content.ts";
export type * from "./src/types/content/room_state_content.ts";
export type * from "./src/types/content/message_content.ts";
export type {
  BaseVerificationContent,
  MegolmEncryptedContent,
  OlmCiphertext,
  OlmEncryptedContent,
  ReciprocateStartContent,
  RoomEncryptedContent,
  RoomEncryptionContent,
  SasStartContent,
  ShortAuthenticationStringMethod,
  VerificationAcceptContent,
  VerificationCancelCode,
  VerificationCancelContent,
  VerificationDoneContent,
  VerificationKeyContent,
  VerificationMacContent,
  VerificationMethod,
  VerificationReadyContent,
  VerificationRequestContent,
  VerificationStartContent,
} from "./src/types/content/encryption_content.ts";
export * from "./src/types/enums.ts";
export * from "./src/types/events/event.ts";
export type * from "./src/types/events/event_map.ts";
export type {
  ClassOf,
  ClearableContent,
  ContentIn,
  ContentOf,
  ContentsByClass,
  EmptyContent,
  EventIn,
  EventOf,
  HandledType,
  ListenedType,
  MeantType,
  NamedEventType,
  OtherEventTypes,
  ReceivedContent,
  RedactableEventOf,
  RoomMessageEvent,
  UnspecifiedEventType,
} from "./src/types/events/event_of.ts";
export {
  type EventClass,
  type EventType,
  type EventTypeRef,
  InternalEventType,
} from "./src/types/events/event_type.ts";
export type * from "./src/types/events/internal_event.ts";

export type * from "./src/types/ids.ts";
export type { PushResult, PushRuleEvaluation } from "./src/types/push_rules.ts";
export type { JsonObject } from "./src/types/json.ts";
