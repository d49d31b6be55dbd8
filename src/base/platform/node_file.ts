/**
 * Files of Node and Bun.
 *
 * A file of its own because it is more than a line of the port each.
 *
 * @module
 */

import * as fs from "node:fs";
import { promisify } from "node:util";
import { DatabaseSync } from "node:sqlite";
import { type FileOptions, type PlatformFile, SEEK } from "./port.ts";

const [readFile, writeFile] = [promisify(fs.read), promisify(fs.write)];
const [truncateFile, syncFile, syncData] = [
  promisify(fs.ftruncate),
  promisify(fs.fsync),
  promisify(fs.fdatasync),
];

/** What follows the name of a file that is locked, for Node has no locks: SQLite's, which end with the process. */
const LOCK = ".lock";

function flagsOf({ read = false, write = false, create = false, createNew = false }: FileOptions): number {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  const access = write ? (read ? O_RDWR : O_WRONLY) : O_RDONLY;
  return access | (create || createNew ? O_CREAT : 0) | (createNew ? O_EXCL : 0);
}

export function openNodeFile(path: string, options: FileOptions = { read: true }): PlatformFile {
  return new NodeFile(path, fs.openSync(path, flagsOf(options), options.mode));
}

class NodeFile implements PlatformFile {
  readonly #path: string;
  readonly #fd: number;
  #at = 0;
  #lock: DatabaseSync | undefined;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  async read(into: Uint8Array): Promise<number | null> {
    const { bytesRead } = await readFile(this.#fd, into, 0, into.length, this.#at);
    this.#at += bytesRead;
    return bytesRead === 0 && into.length > 0 ? null : bytesRead;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { bytesWritten } = await writeFile(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += bytesWritten;
    return bytesWritten;
  }

  writeSync(bytes: Uint8Array): number {
    const written = fs.writeSync(this.#fd, bytes, 0, bytes.length, this.#at);
    this.#at += written;
    return written;
  }

  seek(offset: number, from: 0 | 2): Promise<number> {
    return Promise.resolve(this.seekSync(offset, from));
  }

  seekSync(offset: number, from: 0 | 2): number {
    return this.#at = offset + (from === SEEK.END ? fs.fstatSync(this.#fd).size : 0);
  }

  truncate(length: number): Promise<void> {
    return truncateFile(this.#fd, length);
  }

  sync(): Promise<void> {
    return syncFile(this.#fd);
  }

  syncData(): Promise<void> {
    return syncData(this.#fd);
  }

  // deno-lint-ignore require-await -- what fails is to reject
  async tryLock(): Promise<boolean> {
    const lock = new DatabaseSync(this.#path + LOCK);
    try {
      lock.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    } catch (error) {
      lock.close();
      if (!/locked/.test(String(error))) throw error;
      return false;
    }
    this.#lock = lock;
    return true;
  }

  close(): void {
    this.#lock?.close();
    fs.closeSync(this.#fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
