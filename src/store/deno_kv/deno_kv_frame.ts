/**
 * Writes as bytes, as a journal has them.
 *
 * @module
 */

import { joinBytes, type KvWrite } from "./deno_kv_write.ts";
import { decodeValue, encodeValue } from "../value_codec.ts";

/** What stands in front of the records of some writes. */
interface FrameHead {
  /** Where they go. */
  readonly keys: readonly Deno.KvKey[];
  /** How long each is; {@link REMOVAL} if there is none. */
  readonly lengths: readonly number[];
}

const REMOVAL = -1;

/** The bytes that say how long the head is. */
const LENGTH_BYTES = 4;

/** Makes bytes of writes: the keys first, then the records as they are, which need not be encoded again. */
export function encodeWrites(writes: readonly KvWrite[]): Uint8Array {
  const head = encodeValue(
    {
      keys: writes.map(({ key }) => key),
      lengths: writes.map(({ record }) => record?.length ?? REMOVAL),
    } satisfies FrameHead,
  );
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, head.length);
  return joinBytes([length, head, ...writes.flatMap(({ record }) => record ?? [])]);
}

/** Makes writes of bytes again: of all that were put one behind the other. */
export function decodeWrites(bytes: Uint8Array): KvWrite[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const writes: KvWrite[] = [];
  let at = 0;
  const take = (length: number) => bytes.subarray(at, at += length);
  while (at < bytes.length) {
    const length = view.getUint32(at);
    at += LENGTH_BYTES;
    const { keys, lengths } = decodeValue(take(length)) as FrameHead; // encodeWrites() made it
    for (const [index, key] of keys.entries()) {
      const length = lengths[index] ?? REMOVAL;
      writes.push({ key, record: length === REMOVAL ? undefined : take(length) });
    }
  }
  return writes;
}
