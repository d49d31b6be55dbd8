/**
 * A verification by QR code: one device shows a code, the other scans it and returns its secret. The bytes
 * of codes are here too.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#qr-codes | QR codes}
 * @module
 */

import { concat } from "@std/bytes/concat";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";
import type { OwnDevice } from "../context/context.ts";
import { type FlowName, type FrozenKeys, VerificationFault, type VerifiedKeys } from "./protocol.ts";

/**
 * What a code verifies: `other-user`, two users each other's master keys; `trusting`, the device that
 * shows it trusts the own master key, and has it verify an own device; `untrusting`, that device does
 * not trust the own master key yet.
 */
export type QrMode = "other-user" | "trusting" | "untrusting";

export interface QrCode {
  /** What it verifies. */
  readonly mode: QrMode;
  /** The verification. */
  readonly flowId: string;
  /**
   * The key of the side that shows it, in unpadded base64: its master key, or of an `untrusting`
   * device the device's own.
   */
  readonly ownKey: string;
  /**
   * What that side believes is the other's key: the master key, or if it is `trusting` the key of the
   * other device.
   */
  readonly theirKey: string;
  /** The shared secret, in unpadded base64: who knows it has seen the code. */
  readonly secret: string;
}

const MODES: readonly QrMode[] = ["other-user", "trusting", "untrusting"];
const PREFIX = new TextEncoder().encode("MATRIX");
const VERSION = 2;
/** Version, mode and the length of the flow ID, behind the prefix. */
const HEAD = PREFIX.length + 4;
const KEY_BYTES = 32;
/** The specification says at least 8; 16 are written. */
const MIN_SECRET = 8;
/** A QR code holds no more than 2,953 bytes. */
const MAX_BYTES = 2_953;

/** How many bytes the secret of a new code has. */
const SECRET_BYTES = 16;

/** Writes a code. */
export function encodeQrCode({ mode, flowId, ownKey, theirKey, secret }: QrCode): Uint8Array<ArrayBuffer> {
  const id = new TextEncoder().encode(flowId);
  return concat([
    PREFIX,
    new Uint8Array([VERSION, MODES.indexOf(mode), id.length >> 8, id.length & 0xff]),
    id,
    ...[ownKey, theirKey, secret].map((key) => decodeBase64(key) ?? new Uint8Array()),
  ]);
}

/**
 * Reads a code.
 *
 * @throws {ValueError} If it is no code of a verification.
 */
export function decodeQrCode(bytes: Uint8Array): QrCode {
  const hasPrefix = PREFIX.every((byte, index) => bytes[index] === byte);
  if (bytes.length > MAX_BYTES || !hasPrefix) {
    throw unreadable("it is no code of a verification; scan the one that the other device shows");
  }
  const [version, number = 0, high = 0, low = 0] = bytes.subarray(PREFIX.length);
  const mode = MODES[number];
  if (version !== VERSION || mode === undefined) {
    throw unreadable("it is of another version or for another purpose; compare emoji instead");
  }
  const end = HEAD + (high << 8 | low);
  const secretAt = end + 2 * KEY_BYTES;
  if (bytes.length < secretAt + MIN_SECRET) throw unreadable("it is cut off; scan it again");
  return {
    mode,
    flowId: text(bytes.subarray(HEAD, end)),
    ownKey: encodeBase64(bytes.subarray(end, end + KEY_BYTES)),
    theirKey: encodeBase64(bytes.subarray(end + KEY_BYTES, secretAt)),
    secret: encodeBase64(bytes.subarray(secretAt)),
  };
}

function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable("its text is damaged; scan it again");
  }
}

function unreadable(why: string): ValueError {
  return new ValueError(`Cannot read the QR code: ${why}`);
}

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
  return platform.cryptoNow().timingSafeEqual(known, given);
}

function unshowable(why: string): ValueError {
  return new ValueError(`Cannot show a QR code: ${why}; compare emoji instead`);
}
