/**
 * Keys as Deno KV takes them.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { StoreKey } from "../base/mod.ts";

/** The first part of every key, so that a database can be shared with the application. */
const NAMESPACE = "greenroom";

/** The bytes that Deno KV allows; one more for reads. */
const MAX_KEY_BYTES = 2048;

/**
 * Begins the escape of a code unit that UTF-8 can't encode; with {@link ITSELF} behind it, stands
 * for itself.
 */
const ESCAPE = "\uE000";
const ITSELF = "\uFFFF";
const FIRST_SURROGATE = 0xd800;

export function valueKey(key: StoreKey): Deno.KvKey {
  const physical = [NAMESPACE, "value", ...key.map(toWellFormed)];
  const size = keyBytes(physical);
  if (size > MAX_KEY_BYTES) {
    throw new ValueError(
      `Cannot use a key of ${key.length} parts: it takes ${size} bytes, and Deno KV allows ${MAX_KEY_BYTES}; use a shorter one`,
    );
  }
  return physical;
}

/** The key whose value has this key in the database. */
export function logicalKey(physical: Deno.KvKey): StoreKey {
  return physical.slice(2).map((part) => fromWellFormed(part as string)); // valueKey() makes nothing but strings
}

/** The keys of the parts of a large value: 0, 1, … below its identifier. */
export function partKey(id: string, index: number): Deno.KvKey {
  return [NAMESPACE, "part", id, index];
}

/**
 * The key of the note of which value the parts belong to; without an identifier, the prefix of all
 * notes.
 */
export function partsKey(id?: string): Deno.KvKey {
  return id === undefined ? [NAMESPACE, "parts"] : [NAMESPACE, "parts", id];
}

/** The key of the journal's marker. */
export const journalKey: Deno.KvKey = [NAMESPACE, "journal"];

/** The key of the database's format. */
export const formatKey: Deno.KvKey = [NAMESPACE, "format"];

/** The prefix of everything. */
export const namespaceKey: Deno.KvKey = [NAMESPACE];

/** The key of a remote writer's turn. */
export function turnKey(id: string): Deno.KvKey {
  return [NAMESPACE, "turn", id];
}

/** A key that never has a value. */
export const waitingKey: Deno.KvKey = [NAMESPACE, "waiting"];

/**
 * The prefix of staged journals; with an identifier, one of them; with an index too, a piece of it.
 */
export function stagedKey(...idAndIndex: [] | [id: string] | [id: string, index: number]): Deno.KvKey {
  return [NAMESPACE, "staged", ...idAndIndex];
}

/**
 * The bytes that Deno KV makes of a key: of each part a type, its UTF-8 with zeros doubled, and an
 * end.
 */
export function keyBytes(key: Deno.KvKey): number {
  let size = 0;
  for (const part of key) size += typeof part === "string" ? 2 + utf8Bytes(part) : 9;
  return size;
}

function utf8Bytes(text: string): number {
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0) size += 2;
    else if (unit < 0x80) size += 1;
    else if (unit < 0x800 || (unit >= FIRST_SURROGATE && unit < 0xe000)) size += 2; // a pair makes four
    else size += 3;
  }
  return size;
}

/**
 * Replaces each unpaired surrogate, which Deno KV would turn into U+FFFD, so that different keys
 * would be equal. Well-formed text stays as it is, except for U+E000. The order of the code points
 * stays in any case.
 */
function toWellFormed(part: string): string {
  if (part.isWellFormed() && !part.includes(ESCAPE)) return part;
  return Array.from(part, (character) => {
    if (character === ESCAPE) return ESCAPE + ITSELF;
    if (character.isWellFormed()) return character;
    return ESCAPE + String.fromCharCode(character.charCodeAt(0) - FIRST_SURROGATE);
  }).join("");
}

function fromWellFormed(part: string): string {
  if (!part.includes(ESCAPE)) return part;
  return part.replaceAll(/\uE000([\s\S])/g, (_, behind: string) => {
    return behind === ITSELF ? ESCAPE : String.fromCharCode(behind.charCodeAt(0) + FIRST_SURROGATE);
  });
}
