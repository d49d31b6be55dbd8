/**
 * The exchange of keys behind a short authentication string, and the MACs of what it verifies.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#short-authentication-string-sas-verification | SAS verification}
 * @module
 */

import { type EstablishedSas, type Sas, type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type {
  ShortAuthenticationStringMethod,
  VerificationAcceptContent,
  VerificationMacContent,
} from "../../types/content/encryption_content.ts";
import { isKey, sameKey } from "../../types/base64.ts";
import { canonicalJson } from "../encoding/encoding.ts";
import { SAS, type ShortString, type StepContent, unexpected, VerificationFault } from "./protocol.ts";

const AGREEMENT = "curve25519-hkdf-sha256";
const HASH = "sha256";
const MAC = "hkdf-hmac-sha256.v2";
/** The MAC as early libolm wrote it, which is no base64: only for peers that know no other. */
const OLD_MAC = "hkdf-hmac-sha256";

/** One of the two devices. */
export interface SasParty {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
}

/** What an exchange is bound to. */
export interface SasBinding {
  /** This device. */
  readonly own: SasParty;
  /** The other device. */
  readonly other: SasParty;
  /** The verification. */
  readonly flowId: string;
}

/** Keys by their names: `ed25519:` and a device ID or a master key. */
export type NamedKeys = ReadonlyMap<string, string>;

/** The part of a start's content that is about the method. */
export function sasOffer(): JsonObject {
  return {
    method: SAS,
    key_agreement_protocols: [AGREEMENT],
    hashes: [HASH],
    message_authentication_codes: [MAC, OLD_MAC],
    short_authentication_string: ["decimal", "emoji"],
  };
}

/** What both devices have agreed on. */
type Choice = Pick<VerificationAcceptContent, "message_authentication_code" | "short_authentication_string">;

/** One exchange. Each method throws a {@link VerificationFault} for a fault of the other device. */
export class SasExchange implements Disposable {
  readonly #binding: SasBinding;
  /** The content of the start, as it was sent: the commitment is to it too. */
  readonly #start: JsonObject;
  /** Whether this device has sent the start. */
  readonly #isStarter: boolean;
  readonly #sas: Sas;
  #established: EstablishedSas | undefined;
  #choice: Choice | undefined;
  #commitment: string | undefined;
  #theirKey: string | undefined;

  private constructor(vodozemac: Vodozemac, binding: SasBinding, start: JsonObject, isStarter: boolean) {
    this.#binding = binding;
    this.#start = start;
    this.#isStarter = isStarter;
    this.#sas = vodozemac.createSas();
  }

  /** The exchange of the device that has sent the start. */
  static started(vodozemac: Vodozemac, binding: SasBinding, start: JsonObject): SasExchange {
    const isStarter = true;
    return new SasExchange(vodozemac, binding, start, isStarter);
  }

  /** The exchange of the device that has received the start. */
  static received(
    vodozemac: Vodozemac,
    binding: SasBinding,
    { start, offer }: { readonly start: JsonObject; readonly offer: StepContent<"start"> },
  ): SasExchange {
    const choice = choiceOf(offer);
    const isStarter = false;
    const exchange = new SasExchange(vodozemac, binding, start, isStarter);
    exchange.#choice = choice;
    return exchange;
  }

  /** The content with which the other device's start is accepted. */
  acceptance(): JsonObject {
    return {
      method: SAS,
      key_agreement_protocol: AGREEMENT,
      hash: HASH,
      ...this.#chosen,
      commitment: commitmentTo(this.#sas.publicKey, this.#start),
    };
  }

  /** Takes the acceptance of the own start. */
  accepted(content: StepContent<"accept">): void {
    if (this.#choice !== undefined) throw unexpected("accept");
    const { key_agreement_protocol, hash, message_authentication_code: mac, short_authentication_string } =
      content;
    const strings = known(short_authentication_string);
    const isOffered = has([AGREEMENT], key_agreement_protocol) && has([HASH], hash) &&
      has([MAC, OLD_MAC], mac);
    if (!isOffered || strings.length === 0) {
      throw new VerificationFault("m.unknown_method", "What was accepted had not been offered");
    }
    this.#choice = { message_authentication_code: mac, short_authentication_string: strings };
    this.#commitment = content.commitment;
  }

  /** The own ephemeral key. */
  get publicKey(): string {
    return this.#sas.publicKey;
  }

  /** Takes the other device's ephemeral key: the short string is there from then on. */
  receiveKey({ key }: StepContent<"key">): void {
    if (this.#choice === undefined || this.#established !== undefined) throw unexpected("key");
    if (!isKey(key)) throw new VerificationFault("m.invalid_message", "The key is none");
    if (this.#isStarter && commitmentTo(key, this.#start) !== this.#commitment) {
      throw new VerificationFault("m.mismatched_commitment", "The key is not the one that was committed to");
    }
    if (sameKey(key, this.#sas.publicKey)) {
      throw new VerificationFault("m.key_mismatch", "The key is this device's own");
    }
    const ownKey = this.#sas.publicKey;
    try {
      this.#established = this.#sas.establish(key);
    } catch (error) {
      if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      throw new VerificationFault("m.key_mismatch", "The key agrees on nothing");
    }
    this.#theirKey = key;
    this.#shortString = this.#stringOf(this.#established, ownKey);
  }

  #shortString: ShortString | undefined;

  /** What is to be compared; undefined: the keys are not there yet. */
  get shortString(): ShortString | undefined {
    return this.#shortString;
  }

  /** The MACs of own keys. */
  macs(keys: NamedKeys): JsonObject {
    const { own, other } = this.#binding;
    const sign = this.#signer(own, other);
    const names = [...keys.keys()].sort();
    const mac = Object.fromEntries(names.map((name) => [name, sign(keys.get(name) ?? "", name)]));
    return { mac, keys: sign(names.join(","), "KEY_IDS") };
  }

  /**
   * Verifies the other device's MACs.
   *
   * @param expected The keys that it may vouch for, as they were when the exchange began.
   * @returns The names of those that it does vouch for; unknown ones are left out.
   */
  verify({ mac, keys }: VerificationMacContent, expected: NamedKeys): ReadonlySet<string> {
    const { own, other } = this.#binding;
    const verify = this.#verifier(other, own);
    const names = Object.keys(mac).sort();
    const bad = () => new VerificationFault("m.key_mismatch", "The MACs are not those of the keys");
    if (!verify(names.join(","), "KEY_IDS", keys)) throw bad();
    const verified = new Set<string>();
    for (const name of names) {
      const key = expected.get(name);
      if (key === undefined) continue;
      if (!verify(key, name, mac[name] ?? "")) throw bad();
      verified.add(name);
    }
    if (verified.size === 0) throw bad();
    return verified;
  }

  /** Frees the private keys. */
  [Symbol.dispose](): void {
    this.#sas[Symbol.dispose]();
    this.#established?.[Symbol.dispose]();
  }

  get #chosen(): Choice {
    if (this.#choice === undefined) throw unexpected("step");
    return this.#choice;
  }

  #stringOf(established: EstablishedSas, ownKey: string): ShortString {
    const { own, other, flowId } = this.#binding;
    const mine = [own.userId, own.deviceId, ownKey];
    const theirs = [other.userId, other.deviceId, this.#theirKey ?? ""];
    const parties = this.#isStarter ? [...mine, ...theirs] : [...theirs, ...mine];
    const info = ["MATRIX_KEY_VERIFICATION_SAS", ...parties, flowId].join("|");
    const { emojiIndices, decimals } = established.string(info);
    const shown = this.#chosen.short_authentication_string;
    return {
      emojiIndices: shown.includes("emoji") ? emojiIndices : undefined,
      decimals: shown.includes("decimal") ? decimals : undefined,
    };
  }

  #signer(from: SasParty, to: SasParty): (text: string, name: string) => string {
    const [established, info] = [this.#agreed, this.#macInfo(from, to)];
    return (text, name) =>
      this.#isOld ? established.macInvalidBase64(text, info + name) : established.mac(text, info + name);
  }

  #verifier(from: SasParty, to: SasParty): (text: string, name: string, mac: string) => boolean {
    const [established, info] = [this.#agreed, this.#macInfo(from, to)];
    return (text, name, mac) =>
      this.#isOld
        ? established.verifyMacInvalidBase64(text, info + name, mac)
        : established.verifyMac(text, info + name, mac);
  }

  get #agreed(): EstablishedSas {
    if (this.#established === undefined) throw unexpected("mac");
    return this.#established;
  }

  get #isOld(): boolean {
    return has([OLD_MAC], this.#chosen.message_authentication_code);
  }

  #macInfo(from: SasParty, to: SasParty): string {
    const parties = [from.userId, from.deviceId, to.userId, to.deviceId];
    return ["MATRIX_KEY_VERIFICATION_MAC", ...parties, this.#binding.flowId].join("");
  }
}

/** Chooses of an offer the best that both know. */
function choiceOf(offer: StepContent<"start">): Choice {
  if (offer.method !== SAS) throw new VerificationFault("m.unknown_method", "The method is another");
  const { key_agreement_protocols, hashes, message_authentication_codes: macs } = offer;
  const mac = [MAC, OLD_MAC].find((each) => has(macs, each));
  const strings = known(offer.short_authentication_string);
  const isKnown = has(key_agreement_protocols, AGREEMENT) && has(hashes, HASH) && strings.length > 0;
  if (!isKnown || mac === undefined) {
    throw new VerificationFault("m.unknown_method", "Nothing of what is offered is supported");
  }
  return { message_authentication_code: mac, short_authentication_string: strings };
}

/** Returns whether a name is in a list: both are public. */
function has(list: readonly string[], name: string): boolean {
  return list.includes(name);
}

function known(strings: readonly string[]): ShortAuthenticationStringMethod[] {
  return ["decimal", "emoji"].filter((each) => strings.includes(each));
}

/** The hash by which the device that accepts is bound to a key before it has seen the other's. */
export function commitmentTo(key: string, start: JsonObject): string {
  const hash = platform.cryptoNow().createHash("sha256");
  try {
    hash.update(key).update(canonicalJson(start));
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new VerificationFault("m.invalid_message", "The start has no canonical form");
  }
  return hash.digest("base64").replace("=", "");
}
