/**
 * Reads a key file: checks and decrypts it, and finds its sessions, one after another.
 *
 * The elements of its JSON array are found as its bytes come, not parsed:
 * each is bounded before `JSON.parse()` gets it, however large the array is.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { platform } from "../../base/platform/mod.ts";
import { KeyFileError } from "../../errors/encryption_error.ts";
import type { RoomID } from "../../types/ids.ts";
import { parseObject } from "../../types/json.ts";
import { BLOCK_SIZE, BlockReader } from "../ciphers/ciphers.ts";
import { type ExportedSession, type ImportedRoomKey, readSessionJson, sessionJson } from "../megolm/mod.ts";
import {
  damaged,
  deriveKeys,
  HEAD_BYTES,
  type KeyFileKeys,
  MAC_BYTES,
  readArmor,
  readHead,
  unusable,
} from "./key_file_keys.ts";

export { writeKeyFile } from "./key_file_keys.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A key file: its text, whole or as a stream. */
export type KeyFileData = ReadableStream<Uint8Array> | Uint8Array | string;

/** A key file that was authenticated. */
export interface OpenKeyFile {
  /** The length of its content, in bytes. */
  readonly size: number;
  /** Decrypts its content, in parts, which are the caller's; once. */
  readonly content: () => AsyncGenerator<Bytes>;
}

/** How large a file may be, in bytes behind its base64: it is held in memory, encrypted. */
const MAX_SIZE: number = 256 * 2 ** 20;

/**
 * Reads a file to its end, and authenticates it.
 *
 * @throws {KeyFileError} If it can't be used, or the passphrase is another.
 */
export async function openKeyFile(data: KeyFileData, options: {
  readonly passphrase: string;
  /** Aborts the reading. */
  readonly signal?: AbortSignal;
}): Promise<OpenKeyFile> {
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
  if ((await platform.crypto()).timingSafeEqual(mac.digest(), bytes.slice(end))) return;
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

/** How long an element may be, in bytes: a session takes 700. */
const MAX_LENGTH = 65_536;
/** How deep an element may be. */
const MAX_DEPTH = 16;

const [QUOTE, BACKSLASH, COMMA, BEGIN, END] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d];
const OPEN: ReadonlySet<number> = new Set([BEGIN, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([END, 0x7d]);
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Splits a JSON array into its elements. */
export class JsonElements {
  /** How many brackets are open; the first is the array's. */
  #depth = 0;
  #string: "outside" | "inside" | "escaped" = "outside";
  #isOver = false;
  /** The beginning of the element that is read. */
  #parts: Uint8Array[] = [];
  #length = 0;
  #isGood = true;
  #count = 0;

  /**
   * Adds the next bytes.
   *
   * @returns The elements that end in them; undefined in place of one that is too long or too deep.
   * @throws {KeyFileError} If it is no array.
   */
  add(bytes: Uint8Array): (Uint8Array | undefined)[] {
    const found: (Uint8Array | undefined)[] = [];
    let start = 0;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number; // within the bounds
      if (this.#string !== "outside") this.#readString(byte);
      else if (this.#depth === 0) {
        if (this.#readOutside(byte)) start = index + 1;
      } else if (byte === QUOTE) this.#string = "inside";
      else if (OPEN.has(byte)) this.#isGood = ++this.#depth <= MAX_DEPTH && this.#isGood;
      else if (CLOSE.has(byte) && this.#depth > 1) this.#depth--;
      else if (byte === COMMA && this.#depth === 1) {
        found.push(this.#finish(bytes.subarray(start, index)));
        start = index + 1;
      } else if (CLOSE.has(byte)) {
        if (byte !== END) throw noArray();
        this.#depth = 0;
        this.#isOver = true;
        const last = this.#finish(bytes.subarray(start, index));
        const isEmpty = this.#count === 1 && last?.every((each) => SPACE.has(each)) === true;
        if (!isEmpty) found.push(last);
      }
    }
    if (this.#depth > 0) this.#keep(bytes.slice(start));
    return found;
  }

  /**
   * Says that no more bytes come.
   *
   * @throws {KeyFileError} If the array has not ended.
   */
  end(): void {
    if (!this.#isOver) throw noArray();
  }

  #readString(byte: number): void {
    if (this.#string === "escaped") this.#string = "inside";
    else if (byte === BACKSLASH) this.#string = "escaped";
    else if (byte === QUOTE) this.#string = "outside";
  }

  /** Reads what is around the array; whether it begins here. */
  #readOutside(byte: number): boolean {
    if (SPACE.has(byte)) return false;
    if (this.#isOver || byte !== BEGIN) throw noArray();
    this.#depth = 1;
    return true;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    this.#isGood &&= this.#length <= MAX_LENGTH;
    if (this.#isGood) this.#parts.push(part);
    else this.#parts = [];
  }

  #finish(part: Uint8Array): Uint8Array | undefined {
    this.#keep(part);
    const element = this.#isGood ? concat(this.#parts) : undefined;
    this.#parts = [];
    this.#length = 0;
    this.#isGood = true;
    this.#count++;
    return element;
  }
}

function noArray() {
  return unusable("its content is no list of keys; get it again from where it was made");
}

/** Says of an entry that the file vouches for its maker no more than a backup does. */
const FROM_BACKUP = "greenroom.from_backup";

/** Writes an entry. */
export function writeEntry(session: ExportedSession): string {
  const isWeak = session.source === "backup" || session.source === "bundle";
  return JSON.stringify({ ...sessionJson(session), ...(isWeak && { [FROM_BACKUP]: true }) });
}

/**
 * Reads an entry, whose key is checked where it is imported.
 *
 * @returns The key; undefined if it is no entry, or one of another algorithm.
 */
export function readEntry(bytes: Uint8Array): ImportedRoomKey | undefined {
  const entry = parseObject(bytes);
  const said = entry && readSessionJson(entry);
  if (said === undefined) return undefined;
  const { room_id, session_id, [FROM_BACKUP]: isWeak } = entry ?? {};
  if (typeof room_id !== "string" || typeof session_id !== "string") return undefined;
  // The import checks the room ID.
  return {
    roomId: room_id as RoomID,
    sessionId: session_id,
    ...said,
    source: isWeak === true ? "backup" : "export",
  };
}
