/**
 * What tells data from other data, as it is read.
 *
 * @module
 */

import { nodeCrypto } from "../../base/node_crypto.ts";
import type { MediaSource } from "../http/upload_body.ts";

/** Data that is hashed while it is read. */
export interface Digesting {
  /** The data. */
  readonly source: MediaSource;
  /** The SHA-256 of what was read last, which was all of it; to be asked for once. */
  readonly digest: () => string;
}

/** Hashes data while it is read. */
export async function digesting(source: MediaSource): Promise<Digesting> {
  const { createHash } = await nodeCrypto();
  let hash = createHash("sha256");
  const open = (): ReadableStream<Uint8Array> => {
    const current = hash = createHash("sha256");
    return source.open().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (chunk instanceof Uint8Array) current.update(chunk); // whoever sends it refuses what is none
          controller.enqueue(chunk);
        },
      }),
    );
  };
  return { source: { ...source, open }, digest: () => hash.digest("base64url") };
}
