/**
 * Reads a ledger while it is written.
 *
 * @module
 */

import type { LedgerEntry } from "./ledger.ts";

const CHUNK = 1_048_576;

/** Reads a ledger; new lines are read on demand. */
export class LedgerReader implements Disposable {
  readonly #file: Deno.FsFile;
  readonly #decoder = new TextDecoder();
  readonly #entries: LedgerEntry[] = [];
  readonly #answered = new Set<string>();
  readonly #begun = new Map<number, string>();
  readonly #done = new Set<number>();
  readonly #counts = new Map<string, number>();
  #rest = "";

  /** @param path The file, which is made if there is none. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true, create: true });
  }

  /** All entries. */
  get entries(): readonly LedgerEntry[] {
    this.#read();
    return this.#entries;
  }

  /** The messages that were answered, by event ID. */
  get answered(): ReadonlySet<string> {
    this.#read();
    return this.#answered;
  }

  /** What was begun and is not known to have arrived: numbers, and their rooms. */
  get unknown(): ReadonlyMap<number, string> {
    this.#read();
    return this.#begun;
  }

  /** The number that the next message has. */
  get next(): number {
    this.#read();
    return this.#done.size + this.#begun.size;
  }

  /** How many entries of a kind there are. */
  count(kind: LedgerEntry["kind"]): number {
    this.#read();
    return this.#counts.get(kind) ?? 0;
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }

  #read(): void {
    const chunk = new Uint8Array(CHUNK);
    for (let length = this.#file.readSync(chunk); length !== null; length = this.#file.readSync(chunk)) {
      const lines = (this.#rest + this.#decoder.decode(chunk.subarray(0, length), { stream: true })).split(
        "\n",
      );
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
  }

  #take(line: string): void {
    let entry: LedgerEntry;
    try {
      entry = JSON.parse(line);
    } catch {
      return; // a kill has torn the line
    }
    this.#entries.push(entry);
    this.#counts.set(entry.kind, (this.#counts.get(entry.kind) ?? 0) + 1);
    if (entry.kind === "answered") this.#answered.add(entry.eventId);
    if (entry.kind === "begin") this.#begun.set(entry.number, entry.roomId);
    if (entry.kind === "done") {
      this.#begun.delete(entry.number);
      this.#done.add(entry.number);
    }
  }
}
