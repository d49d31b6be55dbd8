/**
 * The bytes of QR codes with which devices verify each other.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#qr-code-format | QR code format}
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";

/**
 * What a code verifies: `other-user`, two users each other's master keys; `trusting`, the device that
 * shows it trusts the own master key, and has it verify an own device; `untrusting`, that device does
 * not trust the own master key yet.
 */
export type QrMode = "other-user" | "trusting" | "untrusting";

/** What is in a code. */
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
export const SECRET_BYTES = 16;

/** Writes a code. */
export function encodeQrCode({ mode, flowId, ownKey, theirKey, secret }: QrCode): Uint8Array<ArrayBuffer> {
  const id = new TextEncoder().encode(flowId);
  const parts = [
    PREFIX,
    new Uint8Array([VERSION, MODES.indexOf(mode), id.length >> 8, id.length & 0xff]),
    id,
    ...[ownKey, theirKey, secret].map((key) => decodeBase64(key) ?? new Uint8Array()),
  ];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
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
