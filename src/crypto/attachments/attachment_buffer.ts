/**
 * Buffers the encrypted bytes of a file until its hash has been checked.
 *
 * @module
 */

import { platform, type PlatformFile, SEEK } from "../../base/platform/mod.ts";
import { AttachmentError } from "../../errors/encryption_error.ts";
import { BLOCK_SIZE } from "../ciphers/ciphers.ts";

const { files } = platform;

/** The default limit of memory, in bytes. */
const MAX_MEMORY = 64 * 2 ** 20;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A queue of blocks: first all are put in, then all are taken out. It is in memory up to a limit,
 * and beyond that in a temporary file, which holds nothing but what the server has as well.
 */
export class AttachmentBuffer implements AsyncDisposable {
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
