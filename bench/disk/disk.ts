/**
 * A disk that loses power.
 *
 * What was written to a file before a sync of it began is on the disk when the sync has ended. Of
 * what came later, each sector of each write may be there or not, and each change of the length;
 * where a file has become longer and what made it so is missing, there may be zeros or anything.
 * That a file was made or removed is on the disk after a sync of the folder, and may be or not
 * before. This is stricter than any file system of Linux: ext4, XFS and Btrfs keep the order of
 * such changes, and write them with a sync of the file. As SQLite does, it assumes that a sector of
 * 512 bytes is written whole or not at all, and that a write spoils nothing beside it.
 *
 * @module
 */

import { type DiskEvent, FOLDER, type Recording } from "./recording.ts";

/** The smallest part of a write that is on the disk as a whole, in bytes. */
export const SECTOR = 512;

/** A change that may be on the disk or not. */
export type Pending = Exclude<DiskEvent, { type: "sync" | "mark" }>;

/** How much of a change is on the disk: of a write, also only some of its sectors. */
export type Part = boolean | ((sector: number) => boolean);

interface Kept {
  readonly change: Pending;
  readonly kept: Part;
}

/** What is on the disk of the changes after the last syncs. */
export interface Cut {
  /** In words. */
  readonly name: string;
  /** For each change, in order. */
  readonly kept: readonly Part[];
  /**
   * What is in place of missing bytes, where the length of a file has reached the disk without
   * them; without it, files are as long as what was kept makes them.
   */
  readonly filler?: (bytes: Uint8Array) => void;
}

interface Numbered {
  /** Which event of the recording it is. */
  readonly index: number;
  readonly change: Pending;
}

/** The files of a folder, by their names. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** A disk on the way through a recording. */
export class Disk {
  readonly #durable = new Map<number, Content>();
  readonly #names = new Map<string, number>();
  #pending: Numbered[] = [];

  constructor({ before }: Recording) {
    [...before].forEach(([name, bytes], index) => {
      this.#names.set(name, index + 1);
      this.#durable.set(index + 1, new Content(bytes));
    });
  }

  /** The changes that a power cut may undo. */
  get pending(): readonly Pending[] {
    return this.#pending.map(({ change }) => change);
  }

  /** Carries out an event. */
  take(event: DiskEvent, index: number): void {
    if (event.type === "mark") return;
    if (event.type !== "sync") {
      this.#pending.push({ index, change: event });
      return;
    }
    const left: Numbered[] = [];
    for (const each of this.#pending) {
      if (each.index >= event.since || each.change.file !== event.file) left.push(each);
      else if (each.change.type === "name") rename(this.#names, each.change);
      else this.#durableOf(event.file).change(each.change);
    }
    this.#pending = left;
  }

  /** What is on the disk after a power cut. */
  after({ kept, filler }: Cut): Files {
    const names = new Map(this.#names);
    const changes = Map.groupBy(
      this.#pending.map(({ change }, index) => ({ change, kept: kept[index] ?? false })),
      ({ change }) => change.file,
    );
    for (const { change, kept } of changes.get(FOLDER) ?? []) if (kept) rename(names, change);
    return new Map(
      [...names].map(([name, file]) => [name, this.#contentAfter(file, changes.get(file), filler)]),
    );
  }

  #contentAfter(file: number, changes: readonly Kept[] = [], filler: Cut["filler"]): Uint8Array {
    const end = Math.max(
      0,
      ...changes.map(({ change }) => change.type === "write" ? change.offset + change.bytes.length : 0),
    );
    const content = this.#durableOf(file).copy(end);
    if (filler !== undefined) content.lengthen(end, filler);
    for (const { change, kept } of changes) {
      if (kept === true) content.change(change);
      else if (kept !== false) {
        sectorsOf(change).forEach((part, sector) => kept(sector) && content.change(part));
      }
    }
    return content.bytes;
  }

  #durableOf(file: number): Content {
    const content = this.#durable.get(file) ?? new Content(new Uint8Array());
    this.#durable.set(file, content);
    return content;
  }
}

/** What a file has. */
class Content {
  #buffer: Uint8Array;
  #length: number;

  constructor(bytes: Uint8Array, capacity = bytes.length) {
    this.#buffer = new Uint8Array(capacity);
    this.#buffer.set(bytes);
    this.#length = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** A copy, which will grow up to a length. */
  copy(length: number): Content {
    return new Content(this.bytes, Math.max(this.#length, length));
  }

  change(change: Pending): void {
    if (change.type === "write") {
      this.lengthen(change.offset + change.bytes.length);
      this.#buffer.set(change.bytes, change.offset);
    } else if (change.type === "truncate") {
      this.lengthen(change.size);
      this.#length = change.size;
    }
  }

  lengthen(length: number, filler?: (bytes: Uint8Array) => void): void {
    if (length <= this.#length) return;
    if (length > this.#buffer.length) this.#buffer = new Content(this.bytes, length * 2).#buffer;
    const added = this.#buffer.subarray(this.#length, length).fill(0);
    filler?.(added);
    this.#length = length;
  }
}

function rename(names: Map<string, number>, change: Pending): void {
  if (change.type !== "name") return;
  if (change.target === undefined) names.delete(change.name);
  else names.set(change.name, change.target);
}

/** A write as writes of one sector each. */
export function sectorsOf(change: Pending): Pending[] {
  if (change.type !== "write") return [change];
  const parts: Pending[] = [];
  const end = change.offset + change.bytes.length;
  for (let at = change.offset; at < end;) {
    const next = Math.min(end, at - at % SECTOR + SECTOR);
    parts.push({
      ...change,
      offset: at,
      bytes: change.bytes.subarray(at - change.offset, next - change.offset),
    });
    at = next;
  }
  return parts;
}
