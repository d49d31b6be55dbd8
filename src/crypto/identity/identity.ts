/**
 * What the own identity signs: the master keys of other users, and the user's own devices; and the signatures
 * that are to be uploaded: the exact bytes, durable until the server shows or refuses them.
 *
 * What is signed is made of the keys that are known here, and only if they are those that were compared:
 * never an object that somebody shows.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#cross-signing | Cross-signing}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3keyssignaturesupload | POST /keys/signatures/upload}
 *
 * Over 300 lines because what is signed, and what of it is to be uploaded, are one list.
 *
 * @module
 */

import type { BackoffRange } from "../../base/clock.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { CrossSigningKey, DeviceKeys } from "../../types/api/device_keys.ts";
import { unpadded } from "../../types/base64.ts";
import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { OwnAccount, OwnKeys } from "../account/account.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  acceptedIdentity,
  type ComparedDevice,
  type ComparedIdentity,
  type DeviceLists,
  provenIdentity,
  signedIdentity,
  type StoredDevice,
} from "../devices/mod.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { Retries } from "../requests/requests.ts";
import type { OwnIdentity } from "./own_identity.ts";

export {
  type ComparedSeeds,
  type IdentitySeeds,
  type NewIdentity,
  SEED_NAMES,
  SEED_SECRETS,
  seedNameOf,
} from "./identity_seeds.ts";
export { type KnownIdentity, type NewIdentityInput, type OfferOutcome, OwnIdentity } from "./own_identity.ts";

/** `no-key`: the private key that would sign is not at hand; nothing was changed. */
export type SigningOutcome = "signed" | "no-key";

/** Signs. What it signs is verified at once, and uploaded when the step is durable. */
export class IdentitySigning {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own device's account, which signs the own master key. */
    readonly account: OwnAccount;
    /** What is known of users. */
    readonly devices: Pick<DeviceLists, "changeIdentity" | "setSigned">;
    /** The private keys. */
    readonly ownIdentity: Pick<OwnIdentity, "known" | "signWith">;
    /** Where signatures go. */
    readonly signatures: DueSignatures;
  }) {
    this.#options = options;
  }

  /**
   * Signs the identity of a user, whose present master key was compared: another user's with the
   * user-signing key. The own one, which needs no private key, with this device's; it is proven by that.
   *
   * @throws {ValueError} If the user has no identity.
   * @throws {IdentityChangedError} If the user has another one by now.
   */
  async signIdentity(tx: Transaction, compared: ComparedIdentity): Promise<SigningOutcome> {
    const { context: { own }, account, devices, ownIdentity, signatures } = this.#options;
    const { userId } = compared;
    const name = unpadded(compared.master);
    const object = { user_id: userId, usage: ["master"], keys: { [`ed25519:${name}`]: name } };
    if (userId === own.userId) {
      await devices.changeIdentity(
        tx,
        userId,
        (before) => provenIdentity(acceptedIdentity(before, compared)),
      );
      signatures.add(tx, { userId, name, object: account.sign(object) });
      return "signed";
    }
    const { known } = ownIdentity;
    if (known?.phase !== "published") return "no-key";
    const verifier = known.userSigning;
    const signed = await ownIdentity.signWith(tx, "userSigning", object);
    if (signed === undefined) return "no-key";
    await devices.changeIdentity(tx, userId, (before) => signedIdentity(before, compared, verifier));
    signatures.add(tx, { userId, name, object: signed });
    return "signed";
  }

  /**
   * Signs another device of the own user, whose Ed25519 key was compared.
   *
   * @throws {ValueError} If it is not the own user's, not known, or has another key than was compared.
   */
  async signDevice(tx: Transaction, compared: ComparedDevice): Promise<SigningOutcome> {
    const { context: { own }, devices, ownIdentity, signatures } = this.#options;
    const { userId, deviceId: name } = compared;
    if (userId !== own.userId || name === own.deviceId) {
      throw new ValueError(
        `Cannot sign device ${JSON.stringify(name)} of ${JSON.stringify(userId)}: it is ` +
          `${name === own.deviceId ? "this device, which ensureVerified() signs" : "not the own user's"}`,
      );
    }
    if (ownIdentity.known?.phase !== "published") return "no-key";
    const device = await devices.setSigned(tx, compared);
    const object = await ownIdentity.signWith(tx, "selfSigning", deviceObject(userId, device));
    if (object === undefined) return "no-key";
    signatures.add(tx, { userId, name, object });
    return "signed";
  }
}

/** The keys of a device, as it has signed them itself. */
function deviceObject(
  userId: UserID,
  { deviceId, algorithms, curve25519, ed25519, dehydrated }: StoredDevice,
): JsonObject {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: [...algorithms],
    keys: { [`curve25519:${deviceId}`]: curve25519, [`ed25519:${deviceId}`]: ed25519 },
    ...(dehydrated && { dehydrated }),
  };
}

/** What was signed: whose, and under which name the server has it. */
export interface SignedName {
  readonly userId: UserID;
  /** A device's ID, or a master key. */
  readonly name: string;
}

/** An object with its new signature. */
export interface DueSignature extends SignedName {
  readonly object: JsonObject;
}

/** How far the upload of a signature is: the server shows it, has said no, or has not shown it yet. */
type SignatureFate =
  | { readonly state: "uploaded" | "due" }
  | { readonly state: "refused"; readonly reason: string };

const KIND = "signature_due";

/** The waits after a request that failed, in milliseconds. */
const WAITS: BackoffRange = { base: 5_000, cap: 3_600_000 };

/** How many refusals are remembered until they are asked for. */
const MAX_REFUSALS = 100;

/** How many signatures go into one request. */
const BATCH = 100;

/** The longest reason that is repeated. */
const MAX_REASON = 255;

/** Keeps signatures until they are uploaded. */
export class DueSignatures {
  readonly #context: CryptoContext;
  readonly #due = new Map<string, DueSignature>();
  /** Those of them that the server says it has taken. */
  readonly #taken = new Set<DueSignature>();
  readonly #refusals = new Map<string, string>();
  readonly #retries = new Retries<"upload">(WAITS);

  /** @param context What the parts share. */
  constructor(context: CryptoContext) {
    this.#context = context;
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    for (const [, due] of await tx.list<DueSignature>(KIND)) this.#due.set(idOf(due), due);
  }

  /** Has a signature uploaded once the step is durable. */
  add(tx: Transaction, due: DueSignature): void {
    tx.set(dueKey(due), due);
    tx.leadsToRequest = true;
    tx.onCommit(() => {
      this.#due.set(idOf(due), due);
      this.#refusals.delete(idOf(due));
      this.#retries.forget("upload");
    });
  }

  /** Returns how far an upload is. */
  fateOf(signed: SignedName): SignatureFate {
    if (this.#due.has(idOf(signed))) return { state: "due" };
    const reason = this.#refusals.get(idOf(signed));
    return reason === undefined ? { state: "uploaded" } : { state: "refused", reason };
  }

  /** Returns the next upload. */
  next(now: number): readonly DueSignature[] {
    return this.#retries.isOver("upload", now) ? [...this.#due.values()].slice(0, BATCH) : [];
  }

  /** In how many milliseconds something may be uploaded; infinity: there is nothing. */
  nextIn(now: number): number {
    return this.#due.size === 0 ? Infinity : this.#retries.wait("upload", now);
  }

  /**
   * Notes that an upload was answered. What the server has refused it will refuse again;
   * the rest is uploaded again until it is shown.
   */
  answered(tx: Transaction, uploaded: readonly DueSignature[], response: JsonObject): void {
    const now = this.#context.clock.now();
    for (const due of uploaded) {
      if (this.#due.get(idOf(due)) !== due) continue; // it was signed again meanwhile
      const reason = refusalIn(response, due);
      if (reason !== undefined) tx.delete(dueKey(due));
      tx.onCommit(() => this.#settled(due, reason));
    }
    tx.onCommit(() => {
      if (this.#due.values().every((each) => this.#taken.has(each))) this.#retries.failed("upload", now);
      else this.#retries.forget("upload");
    });
  }

  /** Learns what the server shows of users: which signatures it has taken. */
  shown(tx: Transaction, response: JsonObject): void {
    for (const due of this.#due.values()) {
      const found = shownIn(response, due);
      if (found === undefined || found !== "signed" && !this.#taken.has(due)) continue;
      if (found === "unsigned") {
        const { userId, name } = due;
        this.#context.log.warn("The server does not show a signature of this device: it is uploaded again", {
          userId,
          name,
        });
        continue;
      }
      tx.delete(dueKey(due));
      tx.onCommit(() => this.#forget(due));
    }
  }

  /** Notes that an upload has failed: it is made again after a wait. */
  failed(tx: Transaction, now: number): void {
    tx.onCommit(() => this.#retries.failed("upload", now));
  }

  #forget(due: DueSignature): void {
    this.#due.delete(idOf(due));
    this.#taken.delete(due);
  }

  #settled(due: DueSignature, reason: string | undefined): void {
    this.#forget(due);
    if (reason === undefined) {
      this.#due.set(idOf(due), due); // behind those that have not been uploaded
      this.#taken.add(due);
      return;
    }
    this.#refusals.set(idOf(due), reason);
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= MAX_REFUSALS) break;
      this.#refusals.delete(oldest);
    }
    const { userId, name } = due;
    this.#context.log.warn("The server has refused a signature", { userId, name, reason });
  }
}

/**
 * Reads how a response to `/keys/query` shows what was signed: with the signature or without it, or it is
 * gone; undefined: it says nothing of the user.
 */
function shownIn(
  { device_keys, master_keys }: JsonObject,
  { userId, name, object }: DueSignature,
): "signed" | "unsigned" | "gone" | undefined {
  const devices = isJsonObject(device_keys) ? device_keys[userId] : undefined;
  const master = isJsonObject(master_keys) ? master_keys[userId] : undefined;
  const isMaster = Array.isArray(object.usage);
  const shown = isMaster ? master : isJsonObject(devices) ? devices[name] : undefined;
  if (!isJsonObject(shown)) return isJsonObject(devices) && !isMaster ? "gone" : undefined;
  if (isMaster && !(isJsonObject(shown.keys) && `ed25519:${name}` in shown.keys)) return "gone";
  return hasSignatures(shown.signatures, object.signatures) ? "signed" : "unsigned";
}

/** Returns whether signatures include others. */
function hasSignatures(all: unknown, some: unknown): boolean {
  if (!isJsonObject(some)) return all === some;
  return isJsonObject(all) && Object.entries(some).every(([name, value]) => hasSignatures(all[name], value));
}

/** Signatures as the server takes them. */
export function uploadOf(due: readonly DueSignature[]): SignaturesUpload {
  const upload = new Map<UserID, Record<string, JsonObject>>();
  for (const { userId, name, object } of due) {
    upload.getOrInsertComputed(userId, () => ({}))[name] = object;
  }
  return Object.fromEntries(upload) as unknown as SignaturesUpload; // devices and keys, as they were signed
}

/** Reads why the server has refused a signature, in its words; undefined: it has not. */
function refusalIn({ failures }: JsonObject, { userId, name }: SignedName): string | undefined {
  const ofUser = isJsonObject(failures) ? failures[userId] : undefined;
  const failure = isJsonObject(ofUser) ? ofUser[name] : undefined;
  return failure === undefined ? undefined : JSON.stringify(failure).slice(0, MAX_REASON);
}

function idOf({ userId, name }: SignedName): string {
  return JSON.stringify([userId, name]);
}

function dueKey({ userId, name }: SignedName): RecordKey<DueSignature> {
  return { ...recordKey<DueSignature>(KIND, userId, name), held: true };
}

/** What was signed, with the signatures, by user and by device or master key. */
export type SignaturesUpload = Readonly<
  Record<UserID, Readonly<Record<string, DeviceKeys | CrossSigningKey>>>
>;

/** The waits before a signature is uploaded again that the server does not show, in milliseconds. */
const OWN_WAITS: BackoffRange = { base: 60_000, cap: 24 * 3_600_000 };

/**
 * Uploads the signature until the server shows it. What is signed and sent is what this device has
 * published itself, whatever the server shows of it.
 */
export class OwnSignature {
  readonly #options;
  readonly #retries = new Retries<"signature">(OWN_WAITS);

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    readonly ownKeys: Pick<OwnKeys, "deviceKeys" | "isPublished">;
    readonly ownIdentity: Pick<OwnIdentity, "shownDevice" | "isSignatureDue">;
  }) {
    this.#options = options;
  }

  /** Learns how the server shows the own device. */
  shown(keys: JsonObject): void {
    const { ownIdentity } = this.#options;
    ownIdentity.shownDevice = keys;
    if (!ownIdentity.isSignatureDue) this.#retries.forget("signature");
  }

  /** The own device, to be uploaded now; undefined: it need not be. */
  next(now: number): DeviceKeys | undefined {
    if (!this.#isDue || !this.#retries.isOver("signature", now)) return undefined;
    return this.#options.ownKeys.deviceKeys();
  }

  /** In how many milliseconds it may be uploaded again; infinity: it need not be. */
  nextIn(now: number): number {
    return this.#isDue ? this.#retries.wait("signature", now) : Infinity;
  }

  /** Notes that an upload has ended: whether it has taken effect, the next answer shows. */
  ended(now: number, response: JsonObject = {}): void {
    this.#retries.failed("signature", now);
    const { context: { log, own: { userId, deviceId } } } = this.#options;
    const reason = refusalIn(response, { userId, name: deviceId });
    if (reason !== undefined) log.warn("The server has refused the signature of this device", { reason });
  }

  get #isDue(): boolean {
    const { ownKeys, ownIdentity } = this.#options;
    return ownKeys.isPublished && ownIdentity.isSignatureDue;
  }
}
