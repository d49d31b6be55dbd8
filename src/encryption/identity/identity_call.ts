/**
 * One call that works on the own identity.
 *
 * @module
 */

import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KeyBackupMachine } from "../backup/backup.ts";
import type { DehydratedDevices } from "../dehydration/dehydration.ts";
import {
  type OpenSecretStorage,
  secretOperations,
  type SecretsAPI,
  type SecretStorage,
  type SecretStorageUnlock,
} from "../secrets/secrets.ts";
import type { EarlyReads, IdentityRequests } from "./identity_requests.ts";

/** What a call uses beside the engine. */
export interface IdentityTools {
  /** Asks the server about the own identity. */
  readonly identity: IdentityRequests;
  /** The operations. */
  readonly api: SecretsAPI & Pick<AllAPI, "uploadCrossSigningKeys">;
  /** The backup of room keys. */
  readonly backup: Pick<KeyBackupMachine, "ensure">;
  /** The dehydrated device. */
  readonly dehydration: Pick<DehydratedDevices, "ensure">;
  /** Whether the server has just been asked for the own identity. Default: false. */
  readonly isAsked?: boolean;
  /** What was read early: it ends before anything is made, since it may be out of date by then. */
  readonly early?: Pick<EarlyReads, "end">;
}

/** What a call uses, and the secret storage, which it opens once: a passphrase takes time. */
export class IdentityCall implements IdentityTools, Disposable {
  readonly actor: ActorRef<CryptoHandlers>;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it says what is missing. */
  readonly log: Logger;
  readonly identity: IdentityTools["identity"];
  readonly api: IdentityTools["api"];
  readonly backup: IdentityTools["backup"];
  readonly dehydration: IdentityTools["dehydration"];
  readonly isAsked: boolean;
  readonly early: IdentityTools["early"];
  /** The operations of the secret storage. */
  readonly secrets: SecretStorage;
  #storage: OpenSecretStorage | undefined;
  #recoveryKey: string | undefined;

  /**
   * @param engine The engine, which has been opened.
   * @param tools What the call uses beside it.
   */
  constructor({ actor, clock, log }: Pick<EngineRunner, "actor" | "clock" | "log">, tools: IdentityTools) {
    [this.actor, this.clock, this.log] = [actor, clock, log];
    const { identity, api, backup, dehydration, isAsked = false, early } = tools;
    [this.identity, this.api, this.backup, this.dehydration] = [identity, api, backup, dehydration];
    [this.isAsked, this.early] = [isAsked, early];
    this.secrets = secretOperations(api);
  }

  /** The secret storage, if it is open. */
  get storage(): OpenSecretStorage | undefined {
    return this.#storage;
  }

  /** The recovery key that it was opened with; undefined: none, or it is not open. */
  get recoveryKey(): string | undefined {
    return this.#recoveryKey;
  }

  /** Opens the secret storage, unless it is open. */
  async open(by: SecretStorageUnlock): Promise<OpenSecretStorage> {
    if (this.#storage !== undefined) return this.#storage;
    this.#storage = await this.secrets.open(by);
    this.#recoveryKey = by.recoveryKey;
    return this.#storage;
  }

  /** Closes it if the account has another one by now, or nothing says which. */
  async closeOld(): Promise<void> {
    if (this.#storage === undefined) return;
    const { keyId } = await this.secrets.info();
    if (keyId !== this.#storage?.keyId) this[Symbol.dispose]();
  }

  /** Closes it. */
  [Symbol.dispose](): void {
    this.#storage?.[Symbol.dispose]();
    this.#storage = undefined;
    this.#recoveryKey = undefined;
  }
}
