/**
 * A verification by QR code: one device shows a code, the other scans it and returns its secret.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#qr-codes | QR codes}
 * @module
 */

import { nodeCryptoNow } from "../../base/node_crypto.ts";
import { ValueError } from "../../errors/value_error.ts";
import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";
import type { OwnDevice } from "../context/context.ts";
import type { FlowName, FrozenKeys, VerifiedKeys } from "./protocol.ts";
import { decodeQrCode, encodeQrCode, type QrCode, type QrMode, SECRET_BYTES } from "./qr_code.ts";
import { VerificationFault } from "./verification_fault.ts";

/** What it is bound to. */
export interface QrBinding {
  /** This device. */
  readonly own: OwnDevice;
  /** The verification. */
  readonly name: FlowName;
  /** The keys of both sides. */
  readonly keys: FrozenKeys;
}

/** What a scan has brought. */
export interface Scan {
  /** The secret, to be returned. */
  readonly secret: string;
  /** What the code verifies. */
  readonly verifies: VerifiedKeys;
}

const DEVICE: VerifiedKeys = { device: true, identity: false };
const IDENTITY: VerifiedKeys = { device: false, identity: true };

/** One side of it, or both: each device can show a code until one is scanned. */
export class QrReciprocation {
  readonly #binding: QrBinding;
  /** The code that is shown. */
  #shown: QrCode | undefined;

  /** @param binding What it is bound to. */
  constructor(binding: QrBinding) {
    this.#binding = binding;
  }

  /**
   * The bytes of the code to show; the same each time.
   *
   * @throws {ValueError} If there are no keys that a code could verify.
   */
  show(): Uint8Array<ArrayBuffer> {
    this.#shown ??= this.#code();
    return encodeQrCode(this.#shown);
  }

  #code(): QrCode {
    const { own, name: { userId, flowId }, keys: { device, master, ownMaster, isOwnVerified } } =
      this.#binding;
    const secret = encodeBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
    if (ownMaster === undefined) throw unshowable("the own user has no cross-signing identity");
    if (userId !== own.userId) {
      if (!isOwnVerified) throw unshowable("this device does not know that the own identity is its user's");
      if (master === undefined) throw unshowable(`${userId} has no cross-signing identity`);
      return { mode: "other-user", flowId, ownKey: ownMaster, theirKey: master, secret };
    }
    return isOwnVerified
      ? { mode: "trusting", flowId, ownKey: ownMaster, theirKey: device, secret }
      : { mode: "untrusting", flowId, ownKey: own.ed25519, theirKey: ownMaster, secret };
  }

  /**
   * Takes the secret that the other device has scanned. The verification goes on by it, or ends: a code
   * is used once.
   *
   * @returns What is verified once the user has confirmed.
   * @throws {VerificationFault} If it is another one, or no code is shown.
   */
  reciprocated(secret: string): VerifiedKeys {
    const code = this.#shown;
    if (code === undefined || !sameSecret(code.secret, secret)) {
      throw new VerificationFault("m.key_mismatch", "The secret is not that of the QR code");
    }
    return code.mode === "trusting" ? DEVICE : IDENTITY;
  }

  /**
   * Compares the code that the other device shows with the keys that the server shows.
   *
   * @throws {ValueError} If it is no code of this verification.
   * @throws {VerificationFault} If its keys are others.
   */
  scan(bytes: Uint8Array): Scan {
    const { own, name: { userId, flowId }, keys } = this.#binding;
    const { mode, flowId: named, ownKey, theirKey, secret } = decodeQrCode(bytes);
    const isOther = mode === "other-user";
    if (named !== flowId || isOther !== (userId !== own.userId)) {
      throw new ValueError("Cannot use the QR code: it is of another verification; scan the one of this");
    }
    if (mode !== "trusting" && !keys.isOwnVerified) {
      throw new ValueError(
        "Cannot use the QR code: this device does not know that the own identity is its user's; " +
          "verify it with an own device that does, or call ensureVerified()",
      );
    }
    const { mine, theirs } = this.#expected(mode);
    if (theirKey !== mine || ownKey !== theirs) {
      throw new VerificationFault(
        "m.key_mismatch",
        "The keys in the QR code are not those that the server shows",
      );
    }
    return { secret, verifies: mode === "untrusting" ? DEVICE : IDENTITY };
  }

  /** The keys that a code must have: the one of this side, and the one of the side that shows it. */
  #expected(mode: QrMode): { readonly mine: string | undefined; readonly theirs: string | undefined } {
    const { own, keys: { device, master, ownMaster } } = this.#binding;
    switch (mode) {
      case "other-user":
        return { mine: ownMaster, theirs: master };
      case "trusting":
        return { mine: own.ed25519, theirs: ownMaster };
      case "untrusting":
        return { mine: ownMaster, theirs: device };
    }
  }
}

/** Takes the same time wherever the secrets differ. */
function sameSecret(one: string, other: string): boolean {
  const [known, given] = [decodeBase64(one), decodeBase64(other)];
  if (known === undefined || given === undefined || known.length !== given.length) return false;
  return nodeCryptoNow().timingSafeEqual(known, given);
}

function unshowable(why: string): ValueError {
  return new ValueError(`Cannot show a QR code: ${why}; compare emoji instead`);
}
