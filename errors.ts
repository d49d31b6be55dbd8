/**
 * The classes of errors, and the types that they are made of. `@greenroom/matrix` has the commonest, too.
 *
 * @example What to do about an error
 * ```ts
 * import { MatrixError } from "@greenroom/matrix";
 * import { StoreFullError, StoreInUseError } from "@greenroom/matrix/errors";
 *
 * export function mendOf(error: unknown): string {
 *   if (error instanceof StoreInUseError) return "stop the other process";
 *   if (error instanceof StoreFullError) return "make room";
 *   return error instanceof MatrixError ? error.code : "unknown";
 * }
 * ```
 *
 * @module
 */

export { ActorError, type ActorErrorInit, ActorStoppedError } from "./src/actors/kernel/mod.ts";
export {
  AppserviceLoginUnsupportedError,
  CaptchaInvalidError,
  CaptchaNeededError,
  GuestAccessForbiddenError,
  InvalidUsernameError,
  KeyTooLargeError,
  MissingTokenError,
  NoValidSessionError,
  OAuthError,
  type OAuthErrorInit,
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
  AttachmentError,
  type AttachmentErrorInit,
  DecryptionError,
  DeviceConflictError,
  EncryptionError,
  EventTooLargeError,
  IdentityChangedError,
  type IdentityChangedErrorInit,
  KeyBackupError,
  type KeyBackupErrorInit,
  KeyFileError,
  type KeyFileErrorInit,
  OwnIdentityError,
  type OwnIdentityErrorInit,
  SecretStorageError,
  type SecretStorageErrorInit,
  UnsupportedAlgorithmError,
  VerificationError,
  type VerificationErrorInit,
} from "./src/errors/encryption_error.ts";
export {
  ClientEndedError,
  MalformedContentError,
  type MalformedContentErrorInit,
  MatrixError,
  MissingPermissionError,
  ValueError,
} from "./src/errors/matrix_error.ts";
export {
  AuthenticationNeededError,
  MatrixRequestError,
  NetworkError,
  type RequestErrorInit,
  RequestTimeoutError,
} from "./src/errors/request_error.ts";
export {
  AlreadyJoinedError,
  BadAliasError,
  BadJsonError,
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
  NotJsonError,
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
} from "./src/errors/errcodes.ts";
export {
  AcceptedError,
  HomeserverAddressError,
  RedirectError,
  ServiceResponseError,
  UnsupportedFeatureError,
  WellKnownError,
  WellKnownInvalidIdentityServerError,
  WellKnownInvalidVersionsError,
  WellKnownMissingHomeserverError,
  WellKnownNotJsonError,
  WellKnownNotUrlError,
  WellKnownUnreachableError,
  WellKnownUnsupportedSchemeError,
} from "./src/errors/service_response_error.ts";
export {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  type StoreInUseErrorInit,
  StoreKeyError,
  StoreReadOnlyError,
} from "./src/errors/store_error.ts";
/** {@linkcode LimitExceededError}, by the name that other libraries have for it. */
export { LimitExceededError as RateLimitError } from "./src/errors/errcodes.ts";
