/**
 * The seeds of cross-signing keys, the public keys that belong to them, and new identities.
 *
 * @module
 */

import type { OwnAccount } from "../account/account.ts";
import type { KeyUsage } from "../devices/mod.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import type { CrossSigningKey } from "../../types/api/device_keys.ts";

/** The seeds of the private keys, 32 bytes each. */
export interface IdentitySeeds {
  /** The master key's, which signs the other two. */
  readonly master: Uint8Array;
  /** The self-signing key's, which signs own devices. */
  readonly selfSigning: Uint8Array;
  /** The user-signing key's, which signs other users. */
  readonly userSigning: Uint8Array;
}

/** Their names. */
export const SEED_NAMES: readonly (keyof IdentitySeeds)[] = ["master", "selfSigning", "userSigning"];

/** The names of the secrets that hold them, in secret storage and between devices. */
export const SEED_SECRETS: Readonly<Record<keyof IdentitySeeds, string>> = {
  master: "m.cross_signing.master",
  selfSigning: "m.cross_signing.self_signing",
  userSigning: "m.cross_signing.user_signing",
};

const BY_STORED_NAME: ReadonlyMap<string, keyof IdentitySeeds> = new Map(
  SEED_NAMES.map((name) => [SEED_SECRETS[name], name]),
);

/** Returns the private key that a name stands for; undefined: none. */
export function seedNameOf(storedName: string): keyof IdentitySeeds | undefined {
  return BY_STORED_NAME.get(storedName);
}

/** The public keys, in unpadded base64. */
export type PublicIdentity = Readonly<Record<keyof IdentitySeeds, string>>;

/** Whether each of some private keys is that of the own identity, as the server shows it. */
export type ComparedSeeds = Readonly<Record<keyof IdentitySeeds, "fits" | "differs" | "absent">>;

/** Compares private keys with public ones. */
export function comparedSeeds(
  vodozemac: Vodozemac,
  seeds: Partial<IdentitySeeds>,
  shown: Partial<PublicIdentity>,
): ComparedSeeds {
  const compared = (name: keyof IdentitySeeds): ComparedSeeds[typeof name] => {
    const seed = seeds[name];
    if (seed === undefined) return "absent";
    using key = vodozemac.keys.importEd25519(seed);
    return key.publicKey === shown[name] ? "fits" : "differs";
  };
  return {
    master: compared("master"),
    selfSigning: compared("selfSigning"),
    userSigning: compared("userSigning"),
  };
}

/** Makes random seeds. */
export function newSeeds(): IdentitySeeds {
  const seed = () => crypto.getRandomValues(new Uint8Array(32));
  return { master: seed(), selfSigning: seed(), userSigning: seed() };
}

/** Copies, since each holder wipes its own. */
export function copiedSeeds<Seeds extends Partial<IdentitySeeds>>(seeds: Seeds): Seeds {
  const copies = Object.entries(seeds).map(([name, seed]) => [name, seed?.slice()]);
  // Those that are there.
  return Object.fromEntries(copies.filter(([, seed]) => seed !== undefined)) as Seeds;
}

/** The public keys. */
export function publicIdentity(vodozemac: Vodozemac, seeds: IdentitySeeds): PublicIdentity {
  const publicKey = (seed: Uint8Array): string => {
    using key = vodozemac.keys.importEd25519(seed);
    return key.publicKey;
  };
  const { master, selfSigning, userSigning } = seeds;
  return {
    master: publicKey(master),
    selfSigning: publicKey(selfSigning),
    userSigning: publicKey(userSigning),
  };
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

const USAGES: Readonly<Record<keyof IdentitySeeds, KeyUsage>> = {
  master: "master",
  selfSigning: "self_signing",
  userSigning: "user_signing",
};

/** Describes a new identity: the same bytes each time. */
export function describedIdentity(
  { seeds, recoveryKey, ...keys }: PublicIdentity & Pick<NewIdentity, "seeds" | "recoveryKey">,
  { vodozemac, account, userId }: {
    /** Signs. */
    readonly vodozemac: Vodozemac;
    /** The own device, which signs the master key. */
    readonly account: Pick<OwnAccount, "sign">;
    /** The own user. */
    readonly userId: UserID;
  },
): NewIdentity {
  using master = vodozemac.keys.importEd25519(seeds.master);
  const object = (name: keyof IdentitySeeds): JsonObject => {
    const { [name]: key } = keys;
    return { user_id: userId, usage: [USAGES[name]], keys: { [`ed25519:${key}`]: key } };
  };
  const signed = (name: keyof IdentitySeeds): CrossSigningKey => {
    const unsigned = object(name);
    const signature = master.sign(signableJson(unsigned));
    const keyId = `ed25519:${master.publicKey}`;
    // It has a signature now.
    return withSignature(unsigned, { userId, keyId, signature }) as unknown as CrossSigningKey;
  };
  return {
    seeds: copiedSeeds(seeds),
    recoveryKey,
    masterKey: account.sign(object("master")) as unknown as CrossSigningKey, // with a signature
    selfSigningKey: signed("selfSigning"),
    userSigningKey: signed("userSigning"),
  };
}
