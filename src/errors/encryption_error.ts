/**
 * The errors of end-to-end encryption, of a verification that was called off, of secret storage, and of the
 * backup of room keys.
 *
 * Over 300 lines because each class is a comment on when it is thrown and what to do.
 *
 * @module
 */

import type { VerificationCancelCode } from "../types/content/encryption_content.ts";
import type { UserID } from "../types/ids.ts";
import { MatrixError } from "./matrix_error.ts";

/**
 * An event could not be encrypted; nothing was sent.
 *
 * Mend: Do what the message says, and send again.
 */
export class EncryptionError extends MatrixError {
  /** `ENCRYPTION_ERROR`; what is derived from it has a code of its own. */
  override readonly code: string = "ENCRYPTION_ERROR";
}

/**
 * The server has keys of this device that are not in the store, or the access token is that of another
 * user than `mxid`. The client can't go on, and syncing ends. Nothing was overwritten.
 *
 * Mend: Start with the store that has the keys, and the token that belongs to it, or log in again. In an
 * application service, choose another `deviceId`.
 */
export class DeviceConflictError extends EncryptionError {
  /** Always `DEVICE_CONFLICT`. */
  override readonly code = "DEVICE_CONFLICT";
}

/**
 * Why the own identity can't be used or made:
 *
 * - `mismatch`: the private keys that were found are of another identity than the server shows;
 * - `replaced`: the server shows an identity again that was replaced by another;
 * - `incomplete`: the secret storage has not all private keys of the identity, or other things under
 *   their names;
 * - `hidden`: there are secrets of an identity, but for no key that is there, and no identity;
 * - `not-shown`: the server has taken the identity, and does not show it;
 * - `recovery-key`: `onRecoveryKey` has failed, so that nobody has the key;
 * - `no-key`: the private key that would sign is not at hand;
 * - `refused`: the server does not take a signature.
 */
export type OwnIdentityProblem =
  | "mismatch"
  | "replaced"
  | "incomplete"
  | "hidden"
  | "not-shown"
  | "recovery-key"
  | "no-key"
  | "refused";

/** What makes an {@linkcode OwnIdentityError}. */
export interface OwnIdentityErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: OwnIdentityProblem;
}

/**
 * The own identity could not be used or made. Nothing was adopted, and nothing replaced.
 *
 * Mend: Do what the message says: `problem` names the case. `resetIdentity()` is the last resort.
 */
export class OwnIdentityError extends EncryptionError {
  /** Always `OWN_IDENTITY_ERROR`. */
  override readonly code = "OWN_IDENTITY_ERROR";

  /** What is wrong with the own identity, for programs. */
  readonly problem: OwnIdentityProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: OwnIdentityErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * An event could not be decrypted; the message says why, and whether it may be later.
 *
 * Mend: Wait: the event is delivered if its key comes.
 */
export class DecryptionError extends MatrixError {
  /** `DECRYPTION_ERROR`; what is derived from it has a code of its own. */
  override readonly code: string = "DECRYPTION_ERROR";
}

/**
 * Why an encrypted file can't be decrypted: `file` if what the message says of it can't be used,
 * `hash` if the content is not what was sent, `size` if there is more of it than was allowed,
 * `storage` if there is nowhere to hold it.
 */
export type AttachmentProblem = "file" | "hash" | "size" | "storage";

/** What makes an {@linkcode AttachmentError}. */
export interface AttachmentErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: AttachmentProblem;
}

/**
 * An encrypted file could not be decrypted; nothing of it was handed out.
 *
 * Mend: Ask the sender to send the file again; for `size`, raise the limit of the download.
 */
export class AttachmentError extends DecryptionError {
  /** Always `ATTACHMENT_ERROR`. */
  override readonly code = "ATTACHMENT_ERROR";

  /** What is wrong with the attachment, for programs. */
  readonly problem: AttachmentProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: AttachmentErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Why a key file can't be read: `format` if it is none, cut off or damaged; `passphrase` if it was
 * made with another one, or changed since; `size` if it is larger than what is read.
 */
export type KeyFileProblem = "format" | "passphrase" | "size";

/** What makes a {@linkcode KeyFileError}. */
export interface KeyFileErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: KeyFileProblem;
}

/**
 * A key file could not be read.
 *
 * Mend: Check the passphrase and the file; export it again if it is damaged.
 */
export class KeyFileError extends MatrixError {
  /** Always `KEY_FILE_ERROR`. */
  override readonly code = "KEY_FILE_ERROR";

  /** What is wrong with the key file, for programs. */
  readonly problem: KeyFileProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: KeyFileErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * The room is encrypted with something that is not known here, so that nothing can be sent to it.
 *
 * Mend: Leave the room, or use a version that knows the algorithm.
 */
export class UnsupportedAlgorithmError extends EncryptionError {
  /** Always `UNSUPPORTED_ALGORITHM`. */
  override readonly code = "UNSUPPORTED_ALGORITHM";
}

/**
 * The event would be larger than servers accept, once encrypted.
 *
 * Mend: Send less, or send it as a file.
 */
export class EventTooLargeError extends EncryptionError {
  /** Always `EVENT_TOO_LARGE`. */
  override readonly code = "EVENT_TOO_LARGE";
}

/** What makes an {@linkcode IdentityChangedError}. */
export interface IdentityChangedErrorInit extends ErrorOptions {
  /** Whose identity has changed. */
  readonly users: readonly UserID[];
}

/**
 * A user was verified and is not any more: nothing is sent to the room until the user is verified again,
 * or `withdrawVerification()` says that this need not be. Or the identity of a user is another one by
 * now than the one that was compared.
 *
 * Mend: Compare again and call `verifyUser()`, or call `withdrawVerification()`.
 */
export class IdentityChangedError extends EncryptionError {
  /** Always `IDENTITY_CHANGED`. */
  override readonly code = "IDENTITY_CHANGED";

  /** The users whose identity has changed. */
  readonly users: readonly UserID[];

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init Whose identity has changed, and the `cause`.
   */
  constructor(message: string, { users, ...options }: IdentityChangedErrorInit) {
    super(message, options);
    this.users = users;
  }
}

/**
 * Who called a verification off: this device (`us`, also because time ran out or a message was wrong),
 * the other one (`them`), or it goes on with another of the own user's devices (`other-device`).
 */
export type VerificationEnd = "us" | "them" | "other-device";

/** What makes a {@linkcode VerificationError}. */
export interface VerificationErrorInit extends ErrorOptions {
  /** Why it was called off. */
  readonly problem: VerificationCancelCode;
  /** Who called it off. */
  readonly by: VerificationEnd;
  /** Why, in words. Default: none are said. */
  readonly reason?: string;
}

/**
 * A verification was called off: nothing is trusted that was not trusted before.
 *
 * Mend: Begin again; after a mismatch, find out first who sits between the devices.
 */
export class VerificationError extends EncryptionError {
  /** Always `VERIFICATION_ERROR`. */
  override readonly code = "VERIFICATION_ERROR";

  /**
   * Why: a code of `m.key.verification.cancel`. With `m.mismatched_sas`, `m.mismatched_commitment` and
   * `m.key_mismatch` somebody may have been listening in between.
   */
  readonly problem: VerificationCancelCode;

  /** Who has called the verification off. */
  readonly by: VerificationEnd;

  /** Why, in words: those of the other device are cut off after 200 characters. They may be empty. */
  readonly reason: string;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init Why it was called off and by whom, and the `cause`.
   */
  constructor(message: string, { problem, by, reason = "", ...options }: VerificationErrorInit) {
    super(message, options);
    this.problem = problem;
    this.by = by;
    this.reason = reason;
  }
}

/**
 * Why something can't be done with the secret storage:
 *
 * - `mistyped`: the text is no recovery key, so it has a typing error;
 * - `wrong-key`: it is a recovery key or passphrase, but not this key's;
 * - `no-passphrase`: the key was not made from a passphrase, so only its recovery key opens it;
 * - `absent`: there is no default key, or its description is gone;
 * - `exists`: there is a default key already;
 * - `unusable`: the description of a key is not what the specification says, or asks for more than
 *   is done;
 * - `unverifiable`: nothing shows whether the key is the right one;
 * - `damaged`: a secret was changed or cut off, or moved from another name;
 * - `other-keys`: a secret is there, but not for this key;
 * - `not-secret`: something else than a secret is kept under the name;
 * - `changed`: another client changed the keys meanwhile;
 * - `closed`: it was closed.
 */
export type SecretStorageProblem =
  | "mistyped"
  | "wrong-key"
  | "no-passphrase"
  | "absent"
  | "exists"
  | "unusable"
  | "unverifiable"
  | "damaged"
  | "other-keys"
  | "not-secret"
  | "changed"
  | "closed";

/** What makes a {@linkcode SecretStorageError}. */
export interface SecretStorageErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: SecretStorageProblem;
}

/**
 * Something could not be done with the secret storage. Nothing was lost, and nothing was taken over
 * that is not proven. The message says what to do; it holds no secret.
 *
 * Mend: Do what the message says: `problem` names the case.
 */
export class SecretStorageError extends MatrixError {
  /** Always `SECRET_STORAGE_ERROR`. */
  override readonly code = "SECRET_STORAGE_ERROR";

  /** What is wrong with the secret storage, for programs. */
  readonly problem: SecretStorageProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: SecretStorageErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Why something can't be done with the backup of room keys:
 *
 * - `absent`: there is none;
 * - `exists`: there is one already;
 * - `unusable`: it is not what the specification says, or of an algorithm that is not known;
 * - `untrusted`: nothing shows that the user has made it, or it was left for another, so it is not in use;
 * - `wrong-key`: the key is another one than that of the backup;
 * - `no-secret`: the secret storage does not have its key;
 * - `changed`: another client changed it meanwhile.
 */
export type KeyBackupProblem =
  | "absent"
  | "exists"
  | "unusable"
  | "untrusted"
  | "wrong-key"
  | "no-secret"
  | "changed";

/** What makes a {@linkcode KeyBackupError}. */
export interface KeyBackupErrorInit extends ErrorOptions {
  /** What is wrong. */
  readonly problem: KeyBackupProblem;
}

/**
 * Something could not be done with the backup of room keys. Nothing was lost, and no backup was
 * taken into use. The message says what to do; it holds no secret.
 *
 * Mend: Do what the message says: `problem` names the case.
 */
export class KeyBackupError extends MatrixError {
  /** Always `KEY_BACKUP_ERROR`. */
  override readonly code = "KEY_BACKUP_ERROR";

  /** What is wrong with the key backup, for programs. */
  readonly problem: KeyBackupProblem;

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param init What is wrong, and the `cause`, if another error led to this one.
   */
  constructor(message: string, { problem, ...options }: KeyBackupErrorInit) {
    super(message, options);
    this.problem = problem;
  }
}
