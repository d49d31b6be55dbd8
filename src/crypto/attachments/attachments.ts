/**
 * Encrypted files: AES-256 in counter mode, under a SHA-256 of the encrypted bytes.
 *
 * Only the hash proves that a file is genuine: the encrypted bytes are buffered, and nothing is decrypted
 * before all of it was hashed.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
 *
 * Over 300 lines because no byte leaves the buffer before the hash is checked, which is one promise.
 *
 * @module
 */

import { type Digest, platform, type PlatformFile, SEEK } from "../../base/platform/mod.ts";
import { AttachmentError, EncryptionError } from "../../errors/encryption_error.ts";
import type {
  AttachmentCipher,
  BufferOptions,
  EncryptedAttachment,
  EncryptedFileSecrets,
} from "../../types/content/file_info.ts";
import { isJsonObject } from "../../types/json.ts";
import { BLOCK_SIZE, BlockReader, CounterMode } from "../ciphers/ciphers.ts";

/** What decrypts a file, as bytes. */
interface AttachmentSecrets {
  /** The key of AES: 32 bytes. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** The first counter block: 16 bytes. */
  readonly iv: Uint8Array<ArrayBuffer>;
  /** The SHA-256 of the encrypted bytes: 32 bytes. */
  readonly sha256: Uint8Array<ArrayBuffer>;
}

/**
 * Reads the description of an encrypted file, which may be anything.
 *
 * `ext` and unspecified members are ignored: they change nothing.
 *
 * @throws {AttachmentError} If the file can't be decrypted with it.
 */
export function readSecrets(file: unknown): AttachmentSecrets {
  if (!isJsonObject(file)) throw malformed("it is no object");
  if (file.v !== "v2") throw malformed("its version is not v2");
  const { key, hashes } = file;
  if (!isJsonObject(key)) throw malformed("it has no key");
  if (key.kty !== "oct") throw malformed("its key is not of type oct");
  if (key.alg !== "A256CTR") throw malformed("its key is not for A256CTR");
  const operations: unknown = key.key_ops;
  if (!Array.isArray(operations) || !["encrypt", "decrypt"].every((name) => operations.includes(name))) {
    throw malformed("its key is not for encrypting and decrypting");
  }
  if (!isJsonObject(hashes) || !Object.hasOwn(hashes, "sha256")) throw malformed("it has no SHA-256");
  return {
    key: decoded("key", key.k, "base64url", 32),
    iv: decoded("iv", file.iv, "base64", 16),
    sha256: decoded("SHA-256", hashes.sha256, "base64", 32),
  };
}

/** Writes the description of an encrypted file. */
export function writeSecrets({ key, iv, sha256 }: AttachmentSecrets): EncryptedFileSecrets {
  const k = key.toBase64({ alphabet: "base64url", omitPadding: true });
  return {
    v: "v2",
    key: { kty: "oct", alg: "A256CTR", ext: true, key_ops: ["encrypt", "decrypt"], k },
    iv: iv.toBase64({ omitPadding: true }),
    hashes: { sha256: sha256.toBase64({ omitPadding: true }) },
  };
}

/** Decodes base64, with or without padding. */
function decoded(
  name: string,
  value: unknown,
  alphabet: "base64" | "base64url",
  length: number,
): Uint8Array<ArrayBuffer> {
  const wrong = (): AttachmentError => malformed(`its ${name} is not ${length} bytes in ${alphabet}`);
  // Checked first: the decoder skips white space, and a long value must not be decoded only to be
  // refused.
  if (typeof value !== "string" || value.length > 48 || /\s/.test(value)) throw wrong();
  try {
    const bytes = Uint8Array.fromBase64(value, { alphabet });
    if (bytes.length === length) return bytes;
  } catch {
    // reported below, without the decoder's error
  }
  throw wrong();
}

function malformed(state: string): AttachmentError {
  return new AttachmentError(`Cannot use the encrypted file: ${state}; have it sent again`, {
    problem: "file",
  });
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The default limit of a stream, in bytes. */
const MAX_SIZE = 2 ** 30;

/**
 * Encrypts a file with a new key.
 *
 * @param data The file; a stream is used up, and read only as fast as the result is.
 * @returns The encrypted bytes, and, once they have been read, what decrypts them.
 */
export function encryptAttachment(data: Uint8Array | ReadableStream<Uint8Array>): EncryptedAttachment {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const iv = new Uint8Array(16);
  crypto.getRandomValues(iv.subarray(0, 8)); // the other half counts
  const mode = new CounterMode(key, iv);
  const reader = new BlockReader(data instanceof Uint8Array ? ReadableStream.from([data]) : data);
  let hash: Digest | undefined;
  let sha256: Bytes | undefined;
  const stream = new ReadableStream<Bytes>({
    async pull(controller) {
      hash ??= await newHash();
      const block = await reader.read();
      if (block === undefined) {
        sha256 = new Uint8Array(hash.digest());
        return controller.close();
      }
      const encrypted = await mode.apply(block);
      hash.update(encrypted);
      controller.enqueue(encrypted);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return {
    stream,
    secrets() {
      if (sha256 !== undefined) return writeSecrets({ key, iv, sha256 });
      throw new EncryptionError(
        "Cannot tell what decrypts the file: it has not been encrypted to its end; read its stream first",
      );
    },
  };
}

/**
 * Decrypts a file in place.
 *
 * @param data The encrypted bytes; decrypted afterwards.
 * @param file What decrypts it.
 * @throws {AttachmentError} If it is not the file that was sent; nothing is decrypted then.
 */
export async function decryptAttachment(data: Bytes, file: EncryptedFileSecrets): Promise<void> {
  const { key, iv, sha256 } = readSecrets(file);
  await checkHash((await newHash()).update(data), sha256);
  const mode = new CounterMode(key, iv);
  for (let offset = 0; offset < data.length; offset += BLOCK_SIZE) {
    data.set(await mode.apply(data.subarray(offset, offset + BLOCK_SIZE)), offset);
  }
}

/**
 * Decrypts a file that comes as a stream. It is read on demand, and nothing is passed on before all
 * of it was read.
 *
 * @param data The encrypted bytes; used up.
 * @param file What decrypts it.
 * @param options How much is held, and where.
 * @returns The file, or a stream that fails with an {@linkcode AttachmentError}. It must be read to
 *   its end or cancelled.
 * @throws {AttachmentError} If the message does not describe the file properly.
 */
export function decryptAttachmentStream(
  data: ReadableStream<Uint8Array>,
  file: EncryptedFileSecrets,
  { maxSize = MAX_SIZE, maxMemory }: BufferOptions = {},
): ReadableStream<Bytes> {
  const { key, iv, sha256 } = readSecrets(file);
  const reader = new BlockReader(data);
  const hold = new AttachmentBuffer(maxMemory);
  const mode = new CounterMode(key, iv);
  const cancelled = new AbortController();
  /** The last step that was begun: the hold must not go while it is at work. */
  let step: Promise<unknown> = Promise.resolve();
  let verified = false;

  const verify = async (): Promise<void> => {
    const hash = await newHash();
    for (let block = await reader.read(); block !== undefined; block = await reader.read()) {
      cancelled.signal.throwIfAborted();
      hash.update(block);
      if (hold.size + block.length > maxSize) {
        throw new AttachmentError(
          `Cannot decrypt the file: it has more than ${maxSize} bytes; raise maxSize if it may`,
          { problem: "size" },
        );
      }
      await hold.put(block);
    }
    await checkHash(hash, sha256);
    verified = true;
  };
  const next = async (): Promise<Bytes | undefined> => {
    if (!verified) await verify();
    const block = await hold.take();
    return block === undefined ? undefined : await mode.apply(block);
  };
  const pull = async (controller: ReadableStreamDefaultController<Bytes>): Promise<void> => {
    try {
      const part = await next();
      if (cancelled.signal.aborted) return;
      if (part !== undefined) return controller.enqueue(part);
      await hold[Symbol.asyncDispose]();
      controller.close();
    } catch (error) {
      if (!verified) reader.cancel(error).catch(() => {});
      await hold[Symbol.asyncDispose]();
      throw error;
    }
  };
  return new ReadableStream<Bytes>({
    pull: (controller) => step = pull(controller),
    async cancel(reason) {
      cancelled.abort(reason);
      try {
        if (!verified) await reader.cancel(reason);
      } finally {
        await step.catch(() => {});
        await hold[Symbol.asyncDispose]();
      }
    },
  }, { highWaterMark: 0 });
}

async function newHash(): Promise<Digest> {
  return (await platform.crypto()).createHash("sha256");
}

async function checkHash(actual: Digest, expected: Uint8Array): Promise<void> {
  if ((await platform.crypto()).timingSafeEqual(actual.digest(), expected)) return;
  throw new AttachmentError(
    "Cannot decrypt the file: it is not what was sent, its SHA-256 is another",
    { problem: "hash" },
  );
}

/** Encrypts and decrypts files, for the operations on media. */
export const attachmentCipher: AttachmentCipher = {
  encrypt: encryptAttachment,
  check: readSecrets,
  decrypt: decryptAttachment,
  decryptStream: decryptAttachmentStream,
};

const { files } = platform;

/** The default limit of memory, in bytes. */
const MAX_MEMORY = 64 * 2 ** 20;

/**
 * A queue of blocks: first all are put in, then all are taken out. It is in memory up to a limit,
 * and beyond that in a temporary file, which holds nothing but what the server has as well.
 */
class AttachmentBuffer implements AsyncDisposable {
  readonly #maxMemory: number;
  readonly #blocks: Bytes[] = [];
  #size = 0;
  #file: TemporaryFile | undefined;

  /** @param maxMemory The bound, in bytes. */
  constructor(maxMemory: number = MAX_MEMORY) {
    this.#maxMemory = maxMemory;
  }

  /** How many bytes were put in. */
  get size(): number {
    return this.#size;
  }

  /**
   * Puts a block in.
   *
   * @throws {AttachmentError} If a temporary file is needed and can't be had or written.
   */
  async put(block: Bytes): Promise<void> {
    this.#size += block.length;
    this.#blocks.push(block);
    if (this.#size <= this.#maxMemory) return;
    try {
      this.#file ??= await TemporaryFile.create();
      for (let next = this.#blocks.shift(); next !== undefined; next = this.#blocks.shift()) {
        await this.#file.write(next);
      }
    } catch (cause) {
      throw new AttachmentError(
        `Cannot hold the encrypted file: it has more than ${this.#maxMemory} bytes, and no temporary file can be written; ` +
          "allow reading and writing the folder for temporary files (--allow-read, --allow-write, TMPDIR), or raise maxMemory",
        { problem: "storage", cause },
      );
    }
  }

  /**
   * Takes the next block out.
   *
   * @returns The block; undefined if there is none left.
   */
  async take(): Promise<Bytes | undefined> {
    return this.#file === undefined ? this.#blocks.shift() : await this.#file.read();
  }

  /** Discards the blocks, and removes the temporary file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#blocks.length = 0;
    const file = this.#file;
    this.#file = undefined;
    await file?.remove();
  }
}

/** A file that is written, then read, then gone. */
class TemporaryFile {
  readonly #file: PlatformFile;
  /** Empty where the file has no name any more. */
  #path: string;
  #reading = false;

  private constructor(file: PlatformFile, path: string) {
    this.#file = file;
    this.#path = path;
  }

  static async create(): Promise<TemporaryFile> {
    const path = await files.makeTempFile({ prefix: "attachment-" });
    let file: PlatformFile;
    try {
      file = await files.open(path, { read: true, write: true });
    } catch (error) {
      await files.remove(path);
      throw error;
    }
    // Without a name no other process can change it between the check and the reading, and a crash
    // leaves nothing behind. Windows can't do that: there it goes when it is closed.
    const removed = await files.remove(path).then(() => true, () => false);
    return new TemporaryFile(file, removed ? "" : path);
  }

  async write(block: Bytes): Promise<void> {
    for (let written = 0; written < block.length;) {
      written += await this.#file.write(block.subarray(written));
    }
  }

  /** Reads the next block; all but the last are of full size. */
  async read(): Promise<Bytes | undefined> {
    if (!this.#reading) await this.#file.seek(0, SEEK.START);
    this.#reading = true;
    const block = new Uint8Array(BLOCK_SIZE);
    let size = 0;
    while (size < BLOCK_SIZE) {
      const read = await this.#file.read(block.subarray(size));
      if (read === null) break;
      size += read;
    }
    return size === 0 ? undefined : block.subarray(0, size);
  }

  async remove(): Promise<void> {
    this.#file.close();
    if (this.#path !== "") await files.remove(this.#path);
    this.#path = "";
  }
}
