/**
 * The private keys of the own identity: where they are kept, and what they sign.
 *
 * Over 300 lines because all that reads or writes their record is here.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { OwnAccount } from "../account/account.ts";
import {
  checkDeviceKeys,
  type DeviceLists,
  isPinned,
  provenIdentity,
  type StoredIdentity,
} from "../devices/mod.ts";
import { signableJson, verifySignedJson, withSignature } from "../encoding/encoding.ts";
import type { CryptoContext } from "../context/context.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  type ComparedSeeds,
  comparedSeeds,
  copiedSeeds,
  describedIdentity,
  type IdentitySeeds,
  type NewIdentity,
  newSeeds,
  type PublicIdentity,
  publicIdentity,
  SEED_NAMES,
} from "./identity_seeds.ts";

/** What is known of the own private keys, without them. */
export interface KnownIdentity extends PublicIdentity {
  /** `created`: the server may not have the public keys; `published`: it has. */
  readonly phase: "created" | "published";
  /** Whether it is to replace an identity that is published. */
  readonly replaces?: true;
  /** The private keys that are not at hand; absent: all are. */
  readonly missing?: readonly (keyof IdentitySeeds)[];
}

/** Private keys with the public ones of their identity. */
interface HeldKeys extends PublicIdentity {
  /** Those that are at hand: all, of one that was made here. */
  readonly seeds: Partial<IdentitySeeds>;
}

/** The record of the private keys. */
interface IdentityRecord extends HeldKeys, Pick<KnownIdentity, "phase" | "replaces"> {
  /** The recovery key that is being handed out, until the identity is published. */
  readonly recoveryKey?: string;
  /** The private keys of the identity that is replaced, if they were at hand. */
  readonly previous?: HeldKeys;
}

/** What a new identity may be made with. */
export interface NewIdentityInput {
  /** Private keys that were stored before, but never published. Default for each: a new one. */
  readonly seeds?: Partial<IdentitySeeds>;
  /** The recovery key that will be handed out, kept until the identity is published. Default: none. */
  readonly recoveryKey?: string;
  /** Whether it is to replace one that is published. Default: as the one that is being made, if any. */
  readonly replaces?: true;
}

/**
 * What has become of private keys that were offered:
 *
 * - `adopted`: they are those of the identity that the server shows: it is proven, and they are kept;
 * - `mismatch`: the server shows another one;
 * - `replaced`: it shows an identity that another one has replaced: only who has compared it takes it back;
 * - `unproven`: they are those of the identity that it shows, but the master key is not among them,
 *   and nothing has proven before that the identity is the user's;
 * - `absent`: it shows none;
 * - `unasked`: it has to be asked first.
 */
export type OfferOutcome = "adopted" | "mismatch" | "replaced" | "unproven" | "absent" | "unasked";

/** Neither in the cache nor in memory after a step: what is not there can't leak. */
const RECORD: RecordKey<IdentityRecord> = { ...recordKey("own_identity"), held: true, passing: true };

/** Keeps the private keys of the own identity, and signs the own device with them. */
export class OwnIdentity {
  /**
   * Whether the first upload of device keys waits for them, so that nobody sees the device without
   * its signature; until the client has found out.
   */
  isAwaited: boolean;
  /** The own device as the server has shown it last; undefined: it has not. */
  shownDevice: JsonObject | undefined;
  readonly #options;
  #known: KnownIdentity | undefined;
  #isSeenSigned = false;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own device's account. */
    readonly account: OwnAccount;
    /** What the server shows of users. */
    readonly devices: Pick<DeviceLists, "changeIdentity" | "tracked">;
  }) {
    this.#options = options;
    this.isAwaited = options.context.policy.awaitIdentity;
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#known = withoutSecrets(await tx.get(RECORD));
  }

  /** The own private keys that are at hand, without them; durable. Undefined: there are none. */
  get known(): KnownIdentity | undefined {
    return this.#known;
  }

  /**
   * Offers private keys: from the secret storage, or those of {@link create} once they are published.
   * They are compared with what the server has shown since it was asked last; those that are not of
   * the own identity change nothing. Those that are at hand already stay.
   */
  async offer(tx: Transaction, seeds: Partial<IdentitySeeds>): Promise<OfferOutcome> {
    const { context: { own: { userId } }, devices } = this.#options;
    return devices.tracked.isBehind(userId) ? "unasked" : await this.receive(tx, seeds);
  }

  /**
   * The same for private keys that another verified device has sent: the identity was accepted before,
   * so that it is enough that they are those of it.
   */
  async receive(tx: Transaction, seeds: Partial<IdentitySeeds>): Promise<OfferOutcome> {
    const { context: { own, vodozemac }, devices } = this.#options;
    const before = await tx.get(RECORD);
    let outcome: OfferOutcome = "absent";
    let keys: PublicIdentity | undefined;
    await devices.changeIdentity(tx, own.userId, (shown) => {
      if (shown === undefined) return shown;
      keys = publicKeysOf(shown);
      outcome = outcomeOf(comparedSeeds(vodozemac, seeds, shown), shown);
      return outcome === "adopted" && seeds.master !== undefined ? provenIdentity(shown) : shown;
    });
    if (outcome as OfferOutcome !== "adopted" || keys === undefined) return outcome;
    const shownKeys = keys as PublicIdentity;
    const held = SEED_NAMES.map((name) => {
      const isSame = before?.[name] === shownKeys[name];
      return [name, seeds[name] ?? (isSame ? before?.seeds[name] : undefined)];
    });
    this.#keep(tx, { ...shownKeys, phase: "published", seeds: Object.fromEntries(held) });
    return outcome;
  }

  /** Compares private keys with the identity that the server has shown; undefined: none. */
  async compared(tx: Transaction, seeds: Partial<IdentitySeeds>): Promise<ComparedSeeds | undefined> {
    const { context: { own, vodozemac }, devices } = this.#options;
    let compared: ComparedSeeds | undefined;
    await devices.changeIdentity(tx, own.userId, (shown) => {
      compared = shown && comparedSeeds(vodozemac, seeds, shown);
      return shown;
    });
    return compared;
  }

  /** Offers what {@link create} has made; `absent` if it has not. */
  async confirm(tx: Transaction): Promise<OfferOutcome> {
    const record = await tx.get(RECORD);
    return record === undefined ? "absent" : await this.offer(tx, record.seeds);
  }

  /** Makes an identity that is not published yet; the same one at each call until it is. */
  async create(tx: Transaction, { seeds, recoveryKey, replaces }: NewIdentityInput): Promise<NewIdentity> {
    const { context: { vodozemac } } = this.#options;
    const before = await tx.get(RECORD);
    const pending = before?.phase === "created" ? before : undefined;
    const kept: IdentitySeeds = { ...newSeeds(), ...pending?.seeds, ...seeds };
    const record = {
      ...publicIdentity(vodozemac, kept),
      phase: "created" as const,
      seeds: kept,
      recoveryKey: recoveryKey ?? pending?.recoveryKey,
      replaces: replaces ?? pending?.replaces,
      previous: pending?.previous ?? (before?.phase === "published" ? heldOf(before) : undefined),
    };
    this.#keep(tx, record);
    const { account, context } = this.#options;
    return describedIdentity(record, { vodozemac, account, userId: context.own.userId });
  }

  /** Gives up a new identity that was not published: the one before it counts again. */
  async abandon(tx: Transaction): Promise<void> {
    const record = await tx.get(RECORD);
    if (record?.phase !== "created") return;
    if (record.previous === undefined) return this.#drop(tx);
    this.#keep(tx, { ...record.previous, phase: "published" });
  }

  /**
   * Compares the own identity that the server shows now: private keys of another are dropped, and
   * one that was not accepted is reported, where that keeps own devices from reading.
   */
  async compare(tx: Transaction): Promise<void> {
    const { context: { own, log }, devices } = this.#options;
    const known = this.#known;
    let isOwn = true;
    await devices.changeIdentity(tx, own.userId, (shown) => {
      if (shown !== undefined) this.#warn(shown);
      isOwn = known?.phase !== "published" || (shown !== undefined && isSame(shown, known));
      return shown;
    });
    if (isOwn) return;
    log.warn(
      "The own identity was replaced: its private keys are dropped, and own devices of the new one get nothing. If " +
        "the user has reset it, give the new recovery key to the client, or to ensureVerified(), so that others " +
        "trust this device again",
      { master: known?.master },
    );
    this.#drop(tx);
  }

  /** Whether the server has shown the own device last as one that the identity has signed which it shows. */
  get isSeenSigned(): boolean {
    return this.#isSeenSigned;
  }

  /**
   * Learns how the server shows the own device: without a private key that signs it, it goes by a
   * signature that another own device has made.
   */
  async see(tx: Transaction, shown: JsonObject | "missing"): Promise<void> {
    const { context: { own: { userId, deviceId }, vodozemac }, devices } = this.#options;
    await devices.changeIdentity(tx, userId, (identity) => {
      const checked = checkDeviceKeys(vodozemac, shown, {
        userId,
        deviceId,
        selfSigning: identity?.selfSigning,
      });
      tx.onCommit(() => this.#isSeenSigned = checked?.signedBy !== undefined);
      if (shown !== "missing" && checked?.signedBy !== undefined) this.#take(tx, shown, checked.signedBy);
      return identity;
    });
  }

  #take(tx: Transaction, { signatures }: JsonObject, publicKey: string): void {
    const { context: { own: { userId }, vodozemac }, account } = this.#options;
    if (this.#known !== undefined && this.#known.missing?.includes("selfSigning") !== true) return;
    const keyId = `ed25519:${publicKey}`;
    if (account.deviceKeys.signatures[userId]?.[keyId] !== undefined) return;
    const signed = { ...account.deviceKeys, signatures };
    if (!verifySignedJson(vodozemac, signed, { userId, keyId, publicKey })) return;
    const signature = (signatures as DeviceKeys["signatures"])[userId]?.[keyId] ?? ""; // it was verified
    account.crossSign(tx, { publicKey, sign: () => signature });
  }

  /** Whether the server has shown the own device last without the signature of the private keys at hand. */
  get isSignatureDue(): boolean {
    const { shownDevice } = this;
    return this.#known?.phase === "published" && shownDevice !== undefined && !this.isShown(shownDevice);
  }

  /** Returns whether the server shows the own device with the signature of the private keys at hand. */
  isShown({ signatures }: JsonObject): boolean {
    const { context: { own: { userId } }, account } = this.#options;
    const { selfSigning, missing } = this.#known ?? {};
    if (missing?.includes("selfSigning")) return true; // there is none to show
    const name = `ed25519:${selfSigning}`;
    const shown = signatures as Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
    return shown?.[userId]?.[name] === account.deviceKeys.signatures[userId]?.[name];
  }

  /**
   * Signs an object with one of the private keys.
   *
   * @returns The object with the signature; undefined if the key is not at hand.
   */
  async signWith(
    tx: Transaction,
    name: keyof IdentitySeeds,
    object: JsonObject,
  ): Promise<JsonObject | undefined> {
    const { own: { userId }, vodozemac } = this.#options.context;
    const seed = (await tx.get(RECORD))?.seeds[name];
    if (seed === undefined) return undefined;
    using key = vodozemac.keys.importEd25519(seed);
    return withSignature(object, {
      userId,
      keyId: `ed25519:${key.publicKey}`,
      signature: key.sign(signableJson(object)),
    });
  }

  /** A private key of the published identity, for another own device; the caller wipes it. */
  async seedOf(tx: Transaction, name: keyof IdentitySeeds): Promise<Uint8Array | undefined> {
    const record = await tx.get(RECORD);
    return record?.phase === "published" ? record.seeds[name]?.slice() : undefined;
  }

  #drop(tx: Transaction): void {
    tx.delete(RECORD);
    this.#options.account.crossSign(tx, undefined);
    tx.onCommit(() => this.#known = undefined);
  }

  #warn({ pinned, master }: StoredIdentity): void {
    const { context: { log, policy } } = this.#options;
    if (pinned !== undefined || this.isAwaited || this.#known?.master === master) return;
    if (policy.sendTo !== "cross-signed" && policy.accept === "all") return;
    const todo =
      "compare its master key with what another client of the user says, and acknowledgeIdentity()";
    log.warn(`Own devices count as unsigned until the own identity is accepted: ${todo}`, { master });
  }

  #keep(tx: Transaction, record: IdentityRecord): void {
    const { context: { vodozemac }, account } = this.#options;
    tx.set(RECORD, { ...record, seeds: copiedSeeds(record.seeds) }); // the caller wipes its own
    const { selfSigning } = record.seeds;
    using key = selfSigning && vodozemac.keys.importEd25519(selfSigning);
    account.crossSign(tx, key);
    tx.onCommit(() => this.#known = withoutSecrets(record));
  }
}

function publicKeysOf({ master, selfSigning = "", userSigning = "" }: StoredIdentity): PublicIdentity {
  return { master, selfSigning, userSigning };
}

/** Decides what becomes of private keys, each of which fits the identity that is shown, or not. */
function outcomeOf(compared: ComparedSeeds, shown: StoredIdentity): OfferOutcome {
  const all = Object.values(compared);
  if (all.includes("differs")) return "mismatch";
  if (shown.replaced?.includes(shown.master)) return "replaced";
  return compared.master === "fits" || (isPinned(shown) && all.includes("fits")) ? "adopted" : "unproven";
}

function isSame(shown: StoredIdentity, known: PublicIdentity): boolean {
  const { master, selfSigning, userSigning } = publicKeysOf(shown);
  return master === known.master && selfSigning === known.selfSigning && userSigning === known.userSigning;
}

function heldOf({ master, selfSigning, userSigning, seeds }: HeldKeys): HeldKeys {
  return { master, selfSigning, userSigning, seeds };
}

function withoutSecrets(record: IdentityRecord | undefined): KnownIdentity | undefined {
  if (record === undefined) return undefined;
  const { master, selfSigning, userSigning, phase, replaces, seeds } = record;
  const missing = SEED_NAMES.filter((name) => seeds[name] === undefined);
  return {
    master,
    selfSigning,
    userSigning,
    phase,
    ...(replaces && { replaces }),
    ...(missing.length > 0 && { missing }),
  };
}
