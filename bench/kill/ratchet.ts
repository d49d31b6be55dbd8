/**
 * Reads from ciphertexts where in its ratchet each was made: an index that two of them share gives
 * both away.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { RatchetUse } from "./ledger.ts";

/** A field of a message: a number or bytes, by its tag. */
type Fields = Map<number, number | Uint8Array>;

const TAG_INDEX = { megolm: 0x08, olm: 0x10 };
const TAG_RATCHET_KEY = 0x0a;
const TAG_INNER_MESSAGE = 0x22;

/**
 * Where all of a request's ciphertexts were made: of an event for a room, or of messages for
 * devices.
 */
export function ratchetUses(body: unknown): RatchetUse[] {
  return [...parts(body)].flatMap((part) => {
    if (part.algorithm === "m.megolm.v1.aes-sha2") return [megolmUse(part)];
    if (part.algorithm === "m.olm.v1.curve25519-aes-sha2") return olmUses(part);
    return [];
  });
}

/** Where the ciphertext of an encrypted event was made. */
export function megolmUse(content: Record<string, unknown>): RatchetUse {
  const ciphertext = String(content.ciphertext);
  const index = fieldsOf(bytesOf(ciphertext)).get(TAG_INDEX.megolm);
  return { chain: String(content.session_id), index: Number(index), digest: digest(ciphertext) };
}

function olmUses(content: Record<string, unknown>): RatchetUse[] {
  const messages = content.ciphertext as Record<string, { type: number; body: string }>;
  return Object.entries(messages).map(([recipient, { type, body }]) => {
    const outer = bytesOf(body);
    const inner = type === 0 ? fieldsOf(outer).get(TAG_INNER_MESSAGE) : outer;
    const fields = fieldsOf(inner as Uint8Array);
    const key = (fields.get(TAG_RATCHET_KEY) as Uint8Array).toBase64();
    // A pre-key message is repeated with another envelope around the same inside: the inside is
    // what counts.
    const sealed = (inner as Uint8Array).toBase64();
    return { chain: `${recipient} ${key}`, index: Number(fields.get(TAG_INDEX.olm)), digest: digest(sealed) };
  });
}

/** All objects with an algorithm in a body. */
function* parts(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if ("algorithm" in value && "ciphertext" in value) yield value as Record<string, unknown>;
  else for (const each of Object.values(value)) yield* parts(each);
}

/**
 * A version byte, then fields; what is behind them, a MAC and a signature, is no field and ends the
 * reading.
 */
function fieldsOf(message: Uint8Array): Fields {
  const fields: Fields = new Map();
  let at = 1;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1;; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = message[at++] ?? 0;
    if (fields.has(tag) || ![0, 2].includes(tag & 7)) break;
    const value = varint();
    fields.set(tag, (tag & 7) === 0 ? value : message.subarray(at, at + value));
    if ((tag & 7) === 2) at += value;
  }
  return fields;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.fromBase64(text);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64").slice(0, 22);
}
