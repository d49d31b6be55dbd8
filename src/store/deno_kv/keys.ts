/**
 * Keys as Deno KV takes them.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { KvKey } from "../kv_store.ts";

/** Stands in front of every key, so that a database can be shared with the application. */
const NAMESPACE = "greenroom";

/** What Deno KV allows, in bytes; one more when reading. */
const MAX_KEY_BYTES = 2048;

/** Begins what stands for a code unit that UTF-8 has no bytes for; stands for itself with {@link ITSELF} behind it. */
const ESCAPE = "\uE000";
const ITSELF = "\uFFFF";
const FIRST_SURROGATE = 0xd800;

/** Where the value of a key is. */
export function valueKey(key: KvKey): Deno.KvKey {
  const physical = [NAMESPACE, "value", ...key.map(toWellFormed)];
  if (keyBytesAtMost(physical) > MAX_KEY_BYTES && keyBytes(physical) > MAX_KEY_BYTES) {
    throw new ValueError(
      `Cannot use a key of ${key.length} parts: it takes ${
        keyBytes(physical)
      } bytes, and Deno KV allows ${MAX_KEY_BYTES}; use a shorter one`,
    );
  }
  return physical;
}

/** The key of which this is the place of its value. */
export function logicalKey(physical: Deno.KvKey): KvKey {
  return physical.slice(2).map((part) => fromWellFormed(part as string)); // valueKey() makes nothing but strings
}

/** Where the parts of a value that is too long for one record are: at 0, 1, … below. */
export function partKey(id: string, index: number): Deno.KvKey {
  return [NAMESPACE, "part", id, index];
}

/** Where it is noted whose parts these are; without an identifier, below which all notes are. */
export function partsKey(id?: string): Deno.KvKey {
  return id === undefined ? [NAMESPACE, "parts"] : [NAMESPACE, "parts", id];
}

/** Where a journal that counts is named. */
export const journalKey: Deno.KvKey = [NAMESPACE, "journal"];

/** Where it is said which format the database has. */
export const formatKey: Deno.KvKey = [NAMESPACE, "format"];

/** Below which everything is. */
export const namespaceKey: Deno.KvKey = [NAMESPACE];

/** Where a writer on the network notes its last write. */
export function turnKey(id: string): Deno.KvKey {
  return [NAMESPACE, "turn", id];
}

/** Where nothing ever is. */
export const waitingKey: Deno.KvKey = [NAMESPACE, "waiting"];

/** Where journals are written; with an identifier, one of them; with an index too, a piece of it. */
export function stagedKey(...idAndIndex: [] | [id: string] | [id: string, index: number]): Deno.KvKey {
  return [NAMESPACE, "staged", ...idAndIndex];
}

/** How many bytes Deno KV makes of a key: of each part a type, its UTF-8 with zeros doubled, and an end. */
export function keyBytes(key: Deno.KvKey): number {
  let size = 0;
  for (const part of key) size += typeof part === "string" ? 2 + utf8Bytes(part) : 9;
  return size;
}

/** No less than {@link keyBytes}, without a look at the characters: most keys are far from any limit. */
export function keyBytesAtMost(key: Deno.KvKey): number {
  let size = 0;
  for (const part of key) size += typeof part === "string" ? 2 + 3 * part.length : 9;
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
 * Replaces each surrogate without its other half, which Deno KV would make U+FFFD of, so that keys would meet. Text that
 * is in order stays as it is, but for U+E000, and the order of the code points stays in any case.
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
