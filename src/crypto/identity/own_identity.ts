/**
 * The private keys of the own identity: where they are kept, and what they sign.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Ed25519SecretKey } from "@greenroom/vodozemac-wasm";
import type { OwnAccount } from "../account/own_account.ts";
import type { DeviceLists } from "../devices/device_lists.ts";
import { signableJson, withSignature } from "../encoding/signed_json.ts";
import type { CryptoContext } from "../engine/context.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/transaction.ts";
import type { CrossSigningKey } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import type { KeyUsage } from "./cross_signing_key.ts";
import {
  type ComparedSeeds,
  comparedSeeds,
  copiedSeeds,
  type IdentitySeeds,
  newSeeds,
  type PublicIdentity,
  publicIdentity,
} from "./identity_seeds.ts";
import { provenIdentity, type StoredIdentity } from "./user_identity.ts";

/** What is known of the own private keys, without them. */
export interface KnownIdentity extends PublicIdentity {
  /** `created`: the server may not have the public keys; `published`: it has. */
  readonly phase: "created" | "published";
  /** Whether it is to replace an identity that is published. */
  readonly replaces?: true;
}

/** The record of the private keys. */
interface IdentityRecord extends KnownIdentity {
  readonly seeds: IdentitySeeds;
  /** The recovery key that is being handed out, until the identity is published. */
  readonly recoveryKey?: string;
  /** The private keys of the identity that is replaced, if they were at hand. */
  readonly previous?: IdentitySeeds;
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

/** A new identity: what is to be stored and what to be published. */
export interface NewIdentity {
  /** Copies of the private keys; wipe them after use. */
  readonly seeds: IdentitySeeds;
  /** The recovery key that was given with the first call. */
  readonly recoveryKey?: string;
  /** The public keys to upload, the same bytes each time. */
  readonly masterKey: CrossSigningKey;
  /** The same. */
  readonly selfSigningKey: CrossSigningKey;
  /** The same. */
  readonly userSigningKey: CrossSigningKey;
}

/**
 * What has become of private keys that were offered:
 *
 * - `adopted`: they are those of the identity that the server shows: it is proven, and they are kept;
 * - `mismatch`: the server shows another one;
 * - `absent`: it shows none;
 * - `unasked`: it has to be asked first.
 */
export type OfferOutcome = "adopted" | "mismatch" | "absent" | "unasked";

/** The parts that it needs. */
export interface OwnIdentityOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The own device's account. */
  readonly account: OwnAccount;
  /** What the server shows of users. */
  readonly devices: Pick<DeviceLists, "changeIdentity" | "isBehind">;
}

const USAGES: Readonly<Record<keyof IdentitySeeds, KeyUsage>> = {
  master: "master",
  selfSigning: "self_signing",
  userSigning: "user_signing",
};

/** Neither in the cache nor in memory after a step: what is not there can't leak. */
const RECORD: RecordKey<IdentityRecord> = { ...recordKey("own_identity"), held: true, passing: true };

/** Keeps the private keys of the own identity, and signs the own device with them. */
export class OwnIdentity {
  /**
   * Whether the first upload of device keys waits for them, so that nobody sees the device without
   * its signature; until the client has found out.
   */
  isAwaited: boolean;
  readonly #options: OwnIdentityOptions;
  #known: KnownIdentity | undefined;

  /** @param options The parts that it needs. */
  constructor(options: OwnIdentityOptions) {
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
   * the own identity change nothing.
   */
  async offer(tx: Transaction, seeds: IdentitySeeds): Promise<OfferOutcome> {
    const { context: { own, vodozemac }, devices } = this.#options;
    if (devices.isBehind(own.userId)) return "unasked";
    const keys = publicIdentity(vodozemac, seeds);
    let outcome: OfferOutcome = "absent";
    await devices.changeIdentity(tx, own.userId, (shown) => {
      if (shown === undefined) return shown;
      outcome = isSame(shown, keys) ? "adopted" : "mismatch";
      return outcome === "adopted" ? provenIdentity(shown) : shown;
    });
    if (outcome as OfferOutcome === "adopted") this.#keep(tx, { ...keys, phase: "published", seeds });
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
    const kept = { ...pending?.seeds ?? newSeeds(), ...seeds };
    const record: IdentityRecord = {
      ...publicIdentity(vodozemac, kept),
      phase: "created",
      seeds: kept,
      recoveryKey: recoveryKey ?? pending?.recoveryKey,
      replaces: replaces ?? pending?.replaces,
      previous: pending?.previous ?? (before?.phase === "published" ? before.seeds : undefined),
    };
    this.#keep(tx, record);
    return this.#described(record);
  }

  /** Gives up a new identity that was not published: the one before it counts again. */
  async abandon(tx: Transaction): Promise<void> {
    const { context: { vodozemac } } = this.#options;
    const record = await tx.get(RECORD);
    if (record?.phase !== "created") return;
    if (record.previous === undefined) return this.#drop(tx);
    const seeds = record.previous;
    this.#keep(tx, { ...publicIdentity(vodozemac, seeds), phase: "published", seeds });
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
    log.warn("The own identity was replaced: its private keys are dropped", { master: known?.master });
    this.#drop(tx);
  }

  /** Whether the server shows the own device with the signature of the private keys at hand. */
  isShown({ signatures }: JsonObject): boolean {
    const { context: { own: { userId } }, account } = this.#options;
    const name = `ed25519:${this.#known?.selfSigning}`;
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
    const record = await tx.get(RECORD);
    if (record === undefined) return undefined;
    using key = vodozemac.keys.importEd25519(record.seeds[name]);
    return withSignature(object, {
      userId,
      keyId: `ed25519:${key.publicKey}`,
      signature: key.sign(signableJson(object)),
    });
  }

  #drop(tx: Transaction): void {
    tx.delete(RECORD);
    this.#options.account.crossSign(tx, undefined);
    tx.onCommit(() => this.#known = undefined);
  }

  #warn({ pinned, master }: StoredIdentity): void {
    const { context: { log, policy } } = this.#options;
    if (pinned !== undefined || this.isAwaited) return;
    if (policy.sendTo !== "cross-signed" && policy.accept === "all") return;
    const todo =
      "compare its master key with what another client of the user says, and acknowledgeIdentity()";
    log.warn(`Own devices count as unsigned until the own identity is accepted: ${todo}`, { master });
  }

  #keep(tx: Transaction, record: IdentityRecord): void {
    const { context: { vodozemac }, account } = this.#options;
    tx.set(RECORD, { ...record, seeds: copiedSeeds(record.seeds) }); // the caller wipes its own
    using key = vodozemac.keys.importEd25519(record.seeds.selfSigning);
    account.crossSign(tx, key);
    tx.onCommit(() => this.#known = withoutSecrets(record));
  }

  #described({ seeds, recoveryKey, ...keys }: IdentityRecord): NewIdentity {
    const { context: { vodozemac }, account } = this.#options;
    using master = vodozemac.keys.importEd25519(seeds.master);
    return {
      seeds: copiedSeeds(seeds),
      recoveryKey,
      masterKey: account.sign(this.#object("master", keys)) as unknown as CrossSigningKey, // with a signature
      selfSigningKey: this.#signed("selfSigning", keys, master),
      userSigningKey: this.#signed("userSigning", keys, master),
    };
  }

  #signed(name: keyof IdentitySeeds, keys: PublicIdentity, master: Ed25519SecretKey): CrossSigningKey {
    const { userId } = this.#options.context.own;
    const object = this.#object(name, keys);
    const signature = master.sign(signableJson(object));
    return withSignature(object, {
      userId,
      keyId: `ed25519:${master.publicKey}`,
      signature,
    }) as unknown as CrossSigningKey; // with a signature
  }

  #object(name: keyof IdentitySeeds, { [name]: key }: PublicIdentity): JsonObject {
    const { userId } = this.#options.context.own;
    return { user_id: userId, usage: [USAGES[name]], keys: { [`ed25519:${key}`]: key } };
  }
}

function isSame({ master, selfSigning, userSigning }: StoredIdentity, keys: PublicIdentity): boolean {
  return master === keys.master && selfSigning === keys.selfSigning && userSigning === keys.userSigning;
}

function withoutSecrets(record: IdentityRecord | undefined): KnownIdentity | undefined {
  if (record === undefined) return undefined;
  const { master, selfSigning, userSigning, phase, replaces } = record;
  return { master, selfSigning, userSigning, phase, ...(replaces && { replaces }) };
}
