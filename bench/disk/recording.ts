/**
 * Reads the log of `recorder.c`: what processes handed to the disk, in order.
 *
 * @module
 */

/** Stands for the folder where a file is named by number. */
export const FOLDER = 0;

/** A call that has succeeded. Files are numbered, as their names and inodes change hands. */
export type DiskEvent =
  | { readonly type: "write"; readonly file: number; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly type: "truncate"; readonly file: number; readonly size: number }
  /** The folder has a name for a file from here on; `undefined`: it has that name no more. */
  | { readonly type: "name"; readonly file: typeof FOLDER; readonly name: string; readonly target?: number }
  /** A sync has ended: what came before the event `since` is on the disk. */
  | { readonly type: "sync"; readonly file: number; readonly since: number }
  /** What the workload has noted. */
  | { readonly type: "mark"; readonly text: string };

/** What a run of the workload handed to the disk. */
export interface Recording {
  /** The files that were there before, which are on the disk. */
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly events: readonly DiskEvent[];
  /** The last name of each file, to show. */
  readonly names: readonly string[];
}

/** The file in the folder to which the workload writes its notes; it is no part of a state. */
export const MARKS = "marks";

const CREATE = 1, WRITE = 2, TRUNCATE = 3, SYNC_BEGIN = 4, SYNC_END = 5, UNLINK = 6, UNKNOWN = 7;
const HEAD = 32;
const DECODER = new TextDecoder();

/** The files in a folder before a recording begins. */
export interface Before {
  readonly folderInode: number;
  readonly files: readonly { readonly name: string; readonly inode: number; readonly bytes: Uint8Array }[];
}

/** Reads the files of a folder, but for the index of the log. */
export async function readFolder(folder: string): Promise<Before> {
  const inodeOf = async (path: string) => (await Deno.stat(path)).ino ?? 0;
  const files: Before["files"][number][] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (!isFile || name.endsWith("-shm") || name === MARKS) continue;
    const path = `${folder}/${name}`;
    files.push({ name, inode: await inodeOf(path), bytes: await Deno.readFile(path) });
  }
  return { folderInode: await inodeOf(folder), files };
}

/**
 * Reads a log.
 *
 * @param before What the folder had when the recording began.
 * @throws {Error} If the log has a call that the model of the disk does not include.
 */
export function readRecording(log: Uint8Array, before: Before): Recording {
  const reader = new LogReader(before);
  for (let at = 0; at < log.length;) {
    const [kind, inode, number, length] = new BigUint64Array(log.slice(at, at + HEAD).buffer);
    at += HEAD + Number(length);
    reader.take(
      Number(kind),
      { inode: Number(inode), number: number ?? 0n },
      log.subarray(at - Number(length), at),
    );
  }
  return {
    before: new Map(before.files.map(({ name, bytes }) => [name, bytes])),
    events: reader.events,
    names: reader.names,
  };
}

interface Numbers {
  readonly inode: number;
  readonly number: bigint;
}

class LogReader {
  readonly events: DiskEvent[] = [];
  readonly names: string[];
  readonly #files: Map<number, number>;
  /** Where the syncs under way began. */
  readonly #syncs = new Map<bigint, number>();
  #marks = -1;

  constructor({ folderInode, files }: Before) {
    this.names = ["the folder", ...files.map(({ name }) => name)];
    this.#files = new Map([
      [folderInode, FOLDER],
      ...files.map(({ inode }, index) => [inode, index + 1] as const),
    ]);
  }

  take(kind: number, { inode, number }: Numbers, bytes: Uint8Array): void {
    if (kind === UNKNOWN) {
      throw new Error(`Cannot read the recording: it has a ${DECODER.decode(bytes)}, which is not modelled`);
    }
    if (kind === CREATE || kind === UNLINK) {
      return this.#name(kind === CREATE ? inode : undefined, DECODER.decode(bytes));
    }
    const file = this.#files.get(inode);
    if (file === undefined) throw new Error(`Cannot read the recording: no file has the inode ${inode}`);
    if (file === this.#marks) {
      if (kind === WRITE) this.events.push({ type: "mark", text: DECODER.decode(bytes).trim() });
    } else if (kind === WRITE) this.events.push({ type: "write", file, offset: Number(number), bytes });
    else if (kind === TRUNCATE) this.events.push({ type: "truncate", file, size: Number(number) });
    else if (kind === SYNC_BEGIN) this.#syncs.set(number, this.events.length);
    else if (kind === SYNC_END) this.events.push({ type: "sync", file, since: this.#syncs.get(number) ?? 0 });
  }

  #name(inode: number | undefined, name: string): void {
    let target: number | undefined;
    if (inode !== undefined) {
      target = this.names.push(name) - 1;
      this.#files.set(inode, target); // of a file that is gone, if the system uses its number again
      if (name === MARKS) this.#marks = target;
    }
    if (name !== MARKS) this.events.push({ type: "name", file: FOLDER, name, target });
  }
}
