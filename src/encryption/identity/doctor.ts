/**
 * Looks whether all is well with the encryption of a client: `client.crypto.doctor()`.
 *
 * It changes nothing, but that the server is asked what it has of the device.
 *
 * @module
 */

import {
  DOWNLOAD,
  endpoint,
  letGo,
  type RequestOptions,
  requestOptions,
  skewOf,
  timeOf,
  unchecked,
} from "../../api/http/mod.ts";
import type { KeyBackup } from "../backup/backup.ts";
import type { CryptoDoctorOptions, CryptoFinding } from "../crypto_findings.ts";
import type { CryptoHandlers, EncryptedClient } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import { DeviceConflictError, SecretStorageError } from "../../errors/encryption_error.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { secretOperations, unlockOf } from "../secrets/secrets.ts";
import {
  backupFinding,
  clockFinding,
  dehydratedFinding,
  deviceFinding,
  fallbackFinding,
  identityFinding,
  oneTimeKeysFinding,
  openStorageFinding,
  privateKeysFinding,
  storageFinding,
  storedKeysFinding,
} from "./findings.ts";
import { readSeeds, wipe } from "./identity_secrets.ts";
import type { IdentityRequests } from "./identity_requests.ts";

/** The address of anything that a server answers with a time. */
const VERSIONS = endpoint("getVersions", "GET", "/_matrix/client/versions", unchecked, { auth: false });

/** Looks at the encryption of a client. */
export class Doctor {
  readonly #actor: ActorRef<CryptoHandlers>;
  readonly #identity: Pick<IdentityRequests, "look">;
  readonly #backup: Pick<KeyBackup, "info">;
  readonly #client: Pick<EncryptedClient, "api" | "session" | "store" | "isDurable">;

  /**
   * @param actor The Crypto actor, which has been opened.
   * @param identity Asks the server about the own identity.
   * @param backup The backup of room keys.
   * @param client Whose encryption it is.
   */
  constructor(
    actor: ActorRef<CryptoHandlers>,
    identity: Pick<IdentityRequests, "look">,
    backup: Pick<KeyBackup, "info">,
    client: Pick<EncryptedClient, "api" | "session" | "store" | "isDurable">,
  ) {
    [this.#actor, this.#identity, this.#backup, this.#client] = [actor, identity, backup, client];
  }

  /** Looks at everything. Does not reject: what can't be looked at is a finding. */
  async examine(options: CryptoDoctorOptions): Promise<CryptoFinding[]> {
    const { recoveryKey, passphrase, ...rest } = options;
    const request = requestOptions(rest);
    const conflict = await this.#looked();
    const findings = await Promise.all([
      checked("the own device", () => this.#deviceFindings(conflict, request)),
      checked("the own identity", () => this.#identityFindings()),
      checked("the secret storage", () => this.#storageFindings({ recoveryKey, passphrase }, request)),
      checked("the backup of room keys", async () => [backupFinding(await this.#backup.info(request))]),
      checked("the one-time keys", () => this.#keyFindings(request)),
      checked("the clock", () => this.#clockFindings(request)),
    ]);
    return [...findings.flat(), ...await this.#storeFindings()]; // at last: if it is lost, nothing else works
  }

  /** Asks the server; returns whether it has other keys of the device. */
  async #looked(): Promise<boolean> {
    try {
      await this.#identity.look();
      return false;
    } catch (error) {
      if (error instanceof DeviceConflictError) return true;
      return false; // what needs the answer can't be checked, and says so
    }
  }

  async #deviceFindings(
    conflict: boolean,
    request: RequestOptions,
  ): Promise<CryptoFinding[]> {
    const { device, isSigned } = await this.#actor.health();
    const { api, session } = this.#client;
    const [userId, deviceId] = await session.account(request);
    const { device_keys } = await api.queryKeys([userId], request);
    return [deviceFinding({ conflict, device, isSigned, shown: device_keys?.[userId]?.[deviceId] })];
  }

  async #identityFindings(): Promise<CryptoFinding[]> {
    const { state, hasDehydrated, device } = await this.#actor.health();
    const devices = hasDehydrated ? await this.#actor.devicesOf([device.user_id]) : undefined;
    return [identityFinding(state), ...privateKeysFinding(state), ...dehydratedFinding(devices)];
  }

  async #storageFindings(
    secrets: CryptoDoctorOptions,
    request: RequestOptions,
  ): Promise<CryptoFinding[]> {
    const { info, open } = secretOperations(this.#client.api);
    try {
      const by = unlockOf(secrets);
      if (by === undefined) return [storageFinding((await info(request)).problem)];
      using storage = await open(by, request);
      const seeds = await readSeeds(storage, request);
      const compared = await this.#actor.compareIdentity(seeds).finally(() => wipe(seeds));
      return [openStorageFinding(), ...storedKeysFinding(compared)];
    } catch (error) {
      if (!(error instanceof SecretStorageError)) throw error;
      return [storageFinding(error.problem)];
    }
  }

  async #keyFindings(
    request: RequestOptions,
  ): Promise<CryptoFinding[]> {
    const [counts, { hasFallback }] = await Promise.all([
      this.#client.api.uploadKeys(request), // of nothing: it answers how many there are
      this.#actor.health(),
    ]);
    return [oneTimeKeysFinding(counts.signed_curve25519), fallbackFinding(hasFallback)];
  }

  async #clockFindings(
    request: RequestOptions,
  ): Promise<CryptoFinding[]> {
    const { http } = this.#client.session;
    const { clock } = http;
    const before = clock.now();
    const shown = await http[DOWNLOAD](VERSIONS, { path: {} }, request, ({ response }) => {
      letGo(response.body);
      return Promise.resolve(timeOf(response));
    });
    return clockFinding(shown === undefined ? undefined : skewOf({ shown, before, after: clock.now() }));
  }

  async #storeFindings(): Promise<CryptoFinding[]> {
    const { store, isDurable } = this.#client;
    if (!isDurable) {
      return [{
        code: "store-volatile",
        level: "warning",
        message: "The keys of this device are lost with the process: the client has no store.",
        mend: "Give the client a store that outlives the process, or log in as a new device at each start.",
      }];
    }
    try {
      // Nothing is there: that it can be deleted shows that this process may write.
      await store.commitRecords([{ type: "delete", key: ["crypto", "doctor"] }]);
      return [{ code: "store-kept", level: "ok", message: "The store is kept, and is this process's." }];
    } catch (error) {
      return [{
        code: "store-lost",
        level: "error",
        message: `The store can't be written: ${reasonOf(error)}.`,
        mend: "Make a new client, and run one process for a device.",
      }];
    }
  }
}

async function checked(what: string, check: () => Promise<CryptoFinding[]>): Promise<CryptoFinding[]> {
  try {
    return await check();
  } catch (error) {
    return [{
      code: "not-checked",
      level: "warning",
      message: `It could not be checked how it is with ${what}: ${reasonOf(error)}.`,
      mend: "Try again when the server answers.",
    }];
  }
}

/** Errors of others may hold anything. */
function reasonOf(error: unknown): string {
  return error instanceof MatrixError ? error.message : "it failed unexpectedly";
}
