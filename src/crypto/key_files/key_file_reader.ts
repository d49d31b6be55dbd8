/**
 * Reads key files: nothing of one is decrypted before all of it was authenticated.
 *
 * @module
 */

import { nodeCrypto } from "../../base/node_crypto.ts";
import { KeyFileError } from "../../errors/encryption_error.ts";
import { BLOCK_SIZE, BlockReader } from "../ciphers/ciphers.ts";
import { damaged, readArmor } from "./armor.ts";
import { deriveKeys, HEAD_BYTES, type KeyFileKeys, MAC_BYTES, readHead } from "./key_file_keys.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A key file: its text, whole or as a stream. */
export type KeyFileData = ReadableStream<Uint8Array> | Uint8Array | string;

/** What opens a key file. */
export interface KeyFileOptions {
  readonly passphrase: string;
  /** Aborts the reading. */
  readonly signal?: AbortSignal;
}

/** A key file that was authenticated. */
export interface OpenKeyFile {
  /** The length of its content, in bytes. */
  readonly size: number;
  /** Decrypts its content, in parts, which are the caller's; once. */
  readonly content: () => AsyncGenerator<Bytes>;
}

/** How large a file may be, in bytes behind its base64: it is held in memory, encrypted. */
export const MAX_SIZE: number = 256 * 2 ** 20;

/**
 * Reads a file to its end, and authenticates it.
 *
 * @throws {KeyFileError} If it can't be used, or the passphrase is another.
 */
export async function openKeyFile(data: KeyFileData, options: KeyFileOptions): Promise<OpenKeyFile> {
  const bytes = await readAll(data, options.signal);
  const end = bytes.length - MAC_BYTES;
  if (end < HEAD_BYTES) throw damaged();
  const { mode, mac } = await deriveKeys(readHead(bytes.slice(0, HEAD_BYTES)), {
    signal: undefined,
    ...options,
  });
  await authenticate(mac, { bytes, end });
  return {
    size: end - HEAD_BYTES,
    async *content() {
      for (const block of blocksOf(bytes, HEAD_BYTES, end)) yield await mode.apply(block);
    },
  };
}

/** Reads what the text holds. */
async function readAll(data: KeyFileData, signal: AbortSignal | undefined): Promise<Bytes> {
  const reader = new BlockReader(
    data instanceof ReadableStream ? data : ReadableStream.from([bytesOf(data)]),
  );
  const abort = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", abort, { once: true });
  try {
    signal?.throwIfAborted();
    const buffer = new ArrayBuffer(0, { maxByteLength: MAX_SIZE }); // grows where it is
    for await (const part of readArmor(blocksIn(reader, signal))) {
      const size = buffer.byteLength;
      if (size + part.length > MAX_SIZE) throw tooLarge();
      buffer.resize(size + part.length);
      new Uint8Array(buffer).set(part, size);
    }
    return new Uint8Array(buffer);
  } finally {
    signal?.removeEventListener("abort", abort);
    await reader.cancel(undefined).catch(() => {}); // an earlier error is the one to report
  }
}

async function* blocksIn(reader: BlockReader, signal: AbortSignal | undefined): AsyncGenerator<Bytes> {
  for (;;) {
    const block = await reader.read();
    signal?.throwIfAborted(); // which ends the stream
    if (block === undefined) return;
    yield block;
  }
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

async function authenticate(
  mac: KeyFileKeys["mac"],
  { bytes, end }: { readonly bytes: Bytes; readonly end: number },
): Promise<void> {
  for (const block of blocksOf(bytes, 0, end)) mac.update(block);
  if ((await nodeCrypto()).timingSafeEqual(mac.digest(), bytes.slice(end))) return;
  throw new KeyFileError(
    "Cannot import the key file: its passphrase is another one, or it was changed; try the right one, or get it again",
    { problem: "passphrase" },
  );
}

/** Copies of the bytes, block by block: a buffer that can grow goes into no cipher. */
function* blocksOf(bytes: Bytes, start: number, end: number): Generator<Bytes> {
  for (let at = start; at < end; at += BLOCK_SIZE) yield bytes.slice(at, Math.min(at + BLOCK_SIZE, end));
}

function tooLarge(): KeyFileError {
  return new KeyFileError(
    `Cannot import the key file: it has more than ${MAX_SIZE / 2 ** 20} MiB; export fewer rooms at once`,
    { problem: "size" },
  );
}
