/**
 * Encrypted files to test with.
 *
 * @module
 */

import { encryptAttachment } from "../../src/crypto/attachments/attachments.ts";
import type { EncryptedFileSecrets } from "../../src/types/content/file_info.ts";

/** A file's encrypted bytes, and what decrypts them. */
export interface Sealed {
  /** The encrypted bytes. */
  bytes: Uint8Array<ArrayBuffer>;
  /** What decrypts them. */
  secrets: EncryptedFileSecrets;
}

/** Encrypts a file whole. */
export async function seal(data: Uint8Array | ReadableStream<Uint8Array>): Promise<Sealed> {
  const { stream, secrets } = encryptAttachment(data);
  return { bytes: await bytesOf(stream), secrets: secrets() };
}

/** Reads a stream whole. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: BlobPart[] = [];
  for await (const part of stream) parts.push(part.slice());
  return await new Blob(parts).bytes();
}

/** Bytes that differ from their neighbours and from those a block further on. */
export function pattern(size: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, index) => index * 7 + Math.floor(index / 251));
}

/** A stream of bytes in parts of the sizes given, the rest in one. */
export function inParts(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const size of sizes) parts.push(bytes.slice(offset, offset += size));
  return ReadableStream.from([...parts, bytes.slice(offset)]);
}

/** Puts something in the place of a member, as long as it is in use. */
export function replaced<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  value: Owner[Name],
): Disposable {
  const before = owner[name];
  owner[name] = value;
  return { [Symbol.dispose]: () => void (owner[name] = before) };
}
