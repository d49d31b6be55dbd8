/**
 * A new identity: what is to be stored of it, and what to be published.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { OwnAccount } from "../account/own_account.ts";
import { signableJson, withSignature } from "../encoding/signed_json.ts";
import type { CrossSigningKey } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { KeyUsage } from "../devices/cross_signing_key.ts";
import { copiedSeeds, type IdentitySeeds, type PublicIdentity } from "./identity_seeds.ts";

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

/** What a new identity is described with. */
export interface DescribingParts {
  /** Signs. */
  readonly vodozemac: Vodozemac;
  /** The own device, which signs the master key. */
  readonly account: Pick<OwnAccount, "sign">;
  /** The own user. */
  readonly userId: UserID;
}

/** Describes a new identity: the same bytes each time. */
export function describedIdentity(
  { seeds, recoveryKey, ...keys }: PublicIdentity & Pick<NewIdentity, "seeds" | "recoveryKey">,
  { vodozemac, account, userId }: DescribingParts,
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
    return withSignature(unsigned, { userId, keyId, signature }) as unknown as CrossSigningKey; // with a signature
  };
  return {
    seeds: copiedSeeds(seeds),
    recoveryKey,
    masterKey: account.sign(object("master")) as unknown as CrossSigningKey, // with a signature
    selfSigningKey: signed("selfSigning"),
    userSigningKey: signed("userSigning"),
  };
}
