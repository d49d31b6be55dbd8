/**
 * What the verification of the own device works with.
 *
 * @module
 */

import type { DehydrationMachine } from "../dehydration/dehydration.ts";
import type { EnsureVerifiedOptions } from "./identity_crypto.ts";
import type { IdentityPort } from "./identity_port.ts";
import type { KeyBackupMachine } from "../backup/key_backup.ts";
import type { ClientAPI } from "../../api/api.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { SecretsAPI } from "../secrets/account_secrets.ts";
import type { OpenSecretStorage } from "../secrets/open_secret_storage.ts";
import { secretOperations } from "../secrets/secret_operations.ts";
import { checkUnlock, type SecretStorageUnlock } from "../secrets/unlock.ts";

/** What it works with. */
export interface VerifyParts {
  /** The own identity. */
  readonly identity: Pick<IdentityPort, keyof IdentityPort>;
  /** The operations. */
  readonly api: SecretsAPI & Pick<ClientAPI, "uploadCrossSigningKeys" | "getKeyBackupVersion">;
  /** The backup of room keys. */
  readonly backup: Pick<KeyBackupMachine, "ensure">;
  /** The dehydrated device. */
  readonly dehydration: Pick<DehydrationMachine, "ensure">;
  readonly clock: Clock;
  /** Where it says what is missing. */
  readonly log: Logger;
  /** Whether the server has just been asked for the own identity. Default: false. */
  readonly isAsked?: boolean;
  /** Is called before anything is made: what was read until then may be out of date by then. */
  readonly onNew?: () => void;
}

/** The same, in one call. */
export interface CallParts extends VerifyParts {
  /** The secret storage, which is opened once. */
  readonly held: HeldStorage;
}

/** Keeps the secret storage open until a call has ended: a passphrase takes time. */
export class HeldStorage implements Disposable {
  readonly #api: SecretsAPI;
  #storage: OpenSecretStorage | undefined;
  #recoveryKey: string | undefined;

  /** @param api The operations. */
  constructor(api: SecretsAPI) {
    this.#api = api;
  }

  /** The storage, if it is open. */
  get storage(): OpenSecretStorage | undefined {
    return this.#storage;
  }

  /** The recovery key that it was opened with; undefined: none, or it is not open. */
  get recoveryKey(): string | undefined {
    return this.#recoveryKey;
  }

  /** Opens it, unless it is open. */
  async open(by: SecretStorageUnlock): Promise<OpenSecretStorage> {
    if (this.#storage !== undefined) return this.#storage;
    this.#storage = await secretOperations(this.#api).open(by);
    this.#recoveryKey = by.recoveryKey;
    return this.#storage;
  }

  /** Closes it if the account has another one by now, or nothing says which. */
  async closeOld(): Promise<void> {
    if (this.#storage === undefined) return;
    const { keyId } = await secretOperations(this.#api).info();
    if (keyId !== this.#storage?.keyId) this[Symbol.dispose]();
  }

  /** Closes it. */
  [Symbol.dispose](): void {
    this.#storage?.[Symbol.dispose]();
    this.#storage = undefined;
    this.#recoveryKey = undefined;
  }
}

/**
 * What opens the secret storage; undefined if nothing was given.
 *
 * @throws {ValueError} If two things were.
 * @throws {SecretStorageError} If it is a recovery key with a typing error.
 */
export function unlockOf(
  { recoveryKey, passphrase }: EnsureVerifiedOptions,
): SecretStorageUnlock | undefined {
  if (recoveryKey === undefined && passphrase === undefined) return undefined;
  const by = { recoveryKey, passphrase } as SecretStorageUnlock; // that it is one of the two is checked next
  checkUnlock(by);
  return by;
}
