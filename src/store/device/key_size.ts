/**
 * Keys that every store takes, whatever names they are made of.
 *
 * @module
 */

import { nodeCryptoNow } from "../../base/node_crypto.ts";
import type { KvKey } from "../kv_store.ts";

/**
 * How many bytes the parts of a key may take that stand as they are: less than the 2,048 that Deno KV allows for all of a key, so
 * that there is room for what it puts in front, and for four names behind that are hashed.
 */
const MAX_BYTES = 1_760;
/** Begins what stands in the place of a name. */
const HASHED = "sha256:";
/** The most that a store makes of 16 bits of a text: an escape of three bytes, and three for what is escaped. */
const MOST_BYTES_PER_UNIT = 6;
const END_OF_PART = 2;
/** What Deno KV's store escapes with, and escapes. */
const ESCAPE = 0xe000;

/**
 * The key of a path below a prefix. A name that would make it too long is replaced by its hash, and so is what could be taken for
 * a hash. Whether it is depends on nothing that comes behind it, so that what is below a path is found below it.
 */
export function keyBelow(prefix: KvKey, path: KvKey): KvKey {
  const key = prefix.concat(path); // not by `[...prefix, …]`, which takes twice the time and makes an array with room for many more
  if (surelyFits(key) && !path.some(isHashed)) return key;
  let bytes = 0;
  return key.map((part, index) => {
    const taken = bytesOf(part);
    const fits = bytes + taken <= MAX_BYTES && !isHashed(part);
    if (index < prefix.length || fits) bytes += taken;
    return index < prefix.length || fits ? part : hashed(part);
  });
}

function isHashed(part: string): boolean {
  return part.startsWith(HASHED);
}

function hashed(part: string): string {
  return HASHED + nodeCryptoNow().createHash("sha256").update(part, "utf16le").digest("base64url");
}

/** So it is with nearly all: they need not be measured. */
function surelyFits(key: KvKey): boolean {
  let units = 0;
  for (const part of key) units += part.length;
  return MOST_BYTES_PER_UNIT * units + END_OF_PART * key.length <= MAX_BYTES;
}

/** How many bytes a part takes in the store that makes most of it, which is Deno KV with what it escapes. */
function bytesOf(part: string): number {
  const half = part.isWellFormed() ? 2 : MOST_BYTES_PER_UNIT;
  let bytes = END_OF_PART;
  for (let index = 0; index < part.length; index++) {
    const unit = part.charCodeAt(index);
    if (unit === 0) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > ESCAPE) bytes += 3;
    else bytes += unit === ESCAPE ? MOST_BYTES_PER_UNIT : half;
  }
  return bytes;
}
