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
  type Session,
  skewOf,
  timeOf,
  unchecked,
} from "../../api/http/mod.ts";
import type { KeyBackup } from "../backup/key_backup.ts";
import type { CryptoDoctorOptions, CryptoFinding } from "../crypto_findings.ts";
import type { IdentityPort } from "./identity_port.ts";
import type { ActorRef } from "../../actors/kernel/actor.ts";
import type { StoreHandlers } from "../../actors/store/store_actor.ts";
import type { ClientAPI } from "../../api/api.ts";
import { DeviceConflictError } from "../../errors/encryption_error.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import type { SecretsAPI } from "../secrets/account_secrets.ts";
import { secretOperations } from "../secrets/secret_operations.ts";
import {
  backupFinding,
  clockFinding,
  dehydratedFinding,
  deviceFinding,
  fallbackFinding,
  identityFinding,
  oneTimeKeysFinding,
  privateKeysFinding,
  storageFinding,
  storedKeysFinding,
} from "./findings.ts";
import { readSeeds, wipe } from "./identity_secrets.ts";
import { unlockOf } from "./verify_parts.ts";

/** What it looks at. */
export interface DoctorParts {
  /** The own identity. */
  readonly identity: Pick<IdentityPort, "look" | "health" | "compare" | "devices">;
  /** The operations. */
  readonly api: SecretsAPI & Pick<ClientAPI, "queryKeys" | "uploadKeys">;
  /** The backup of room keys. */
  readonly backup: Pick<KeyBackup, "info">;
  /** Whose device it is, and its transport. */
  readonly session: Session;
  /** Where all is stored. */
  readonly store: Pick<ActorRef<StoreHandlers>, "commitRecords">;
  /** Whether that outlives the process. */
  readonly isDurable: boolean;
}

/** The address of anything that a server answers with a time. */
const VERSIONS = endpoint("getVersions", "GET", "/_matrix/client/versions", unchecked, { auth: false });

/** Looks at everything. Does not reject: what can't be looked at is a finding. */
export async function examined(parts: DoctorParts, options: CryptoDoctorOptions): Promise<CryptoFinding[]> {
  const { recoveryKey, passphrase, ...rest } = options;
  const request = requestOptions(rest);
  const conflict = await looked(parts);
  const findings = await Promise.all([
    checked("the own device", () => deviceFindings(parts, conflict, request)),
    checked("the own identity", () => identityFindings(parts)),
    checked("the secret storage", () => storageFindings(parts, { recoveryKey, passphrase }, request)),
    checked("the backup of room keys", async () => [backupFinding(await parts.backup.info(request))]),
    checked("the one-time keys", () => keyFindings(parts, request)),
    checked("the clock", () => clockFindings(parts, request)),
  ]);
  return [...findings.flat(), ...await storeFindings(parts)]; // at last: if it is lost, nothing else works
}

/** Asks the server; returns whether it has other keys of the device. */
async function looked({ identity }: DoctorParts): Promise<boolean> {
  try {
    await identity.look();
    return false;
  } catch (error) {
    if (error instanceof DeviceConflictError) return true;
    return false; // what needs the answer can't be checked, and says so
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

async function deviceFindings(
  { api, identity, session }: DoctorParts,
  conflict: boolean,
  request: RequestOptions,
): Promise<CryptoFinding[]> {
  const { device, isSigned } = await identity.health();
  const [userId, deviceId] = await session.account(request);
  const { device_keys } = await api.queryKeys([userId], request);
  return [deviceFinding({ conflict, device, isSigned, shown: device_keys?.[userId]?.[deviceId] })];
}

async function identityFindings({ identity }: DoctorParts): Promise<CryptoFinding[]> {
  const { state, hasDehydrated, device } = await identity.health();
  const devices = hasDehydrated ? await identity.devices(device.user_id) : undefined;
  return [identityFinding(state), ...privateKeysFinding(state), ...dehydratedFinding(devices)];
}

async function storageFindings(
  { api, identity }: DoctorParts,
  secrets: CryptoDoctorOptions,
  request: RequestOptions,
): Promise<CryptoFinding[]> {
  const { info, open } = secretOperations(api);
  try {
    const by = unlockOf(secrets);
    const { keyId, problem } = await info(request);
    if (by === undefined || keyId === undefined) return [storageFinding({ keyId, problem, opens: false })];
    using storage = await open(by, request);
    const seeds = await readSeeds(storage, request);
    const compared = await identity.compare(seeds).finally(() => wipe(seeds));
    return [storageFinding({ keyId, problem: undefined, opens: true }), ...storedKeysFinding(compared)];
  } catch (error) {
    if (!(error instanceof SecretStorageError)) throw error;
    return [storageFinding({ keyId: undefined, problem: error.problem, opens: false })];
  }
}

async function keyFindings(
  { api, identity }: DoctorParts,
  request: RequestOptions,
): Promise<CryptoFinding[]> {
  const [counts, { hasFallback }] = await Promise.all([
    api.uploadKeys(request), // of nothing: it answers how many there are
    identity.health(),
  ]);
  return [oneTimeKeysFinding(counts.signed_curve25519), fallbackFinding(hasFallback)];
}

async function clockFindings(
  { session: { http } }: DoctorParts,
  request: RequestOptions,
): Promise<CryptoFinding[]> {
  const { clock } = http;
  const before = clock.now();
  const shown = await http[DOWNLOAD](VERSIONS, { path: {} }, request, ({ response }) => {
    letGo(response.body);
    return Promise.resolve(timeOf(response));
  });
  return clockFinding(shown === undefined ? undefined : skewOf({ shown, before, after: clock.now() }));
}

async function storeFindings({ store, isDurable }: DoctorParts): Promise<CryptoFinding[]> {
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
