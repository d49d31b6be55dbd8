/**
 * Commits that are too large for one atomic operation of Deno KV.
 *
 * The writes are staged under a prefix of their own, in several commits. One small commit then makes them
 * count: it writes a marker that names them, together with the checks. Then they are carried out, again in
 * several commits, and the marker is cleared. After a crash before the small commit, the staged pieces do not
 * count. After a crash behind it, the next process, or the next operation, carries out the rest before
 * anything else. Every commit of the store checks that the marker has not changed since it was seen clear.
 *
 * Over 300 lines because it says for each power cut what is left.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import {
  cutBytes,
  decodeWrites,
  encodeWrites,
  fitsOneCommit,
  journalKey,
  type KvDatabase,
  type KvRecord,
  type KvWrite,
  listAll,
  packWrites,
  readMany,
  stagedKey,
} from "./database.ts";
import { decodeValue, encodeValue } from "../base/mod.ts";

/** Which journal counts, or is about to. */
interface Marker {
  readonly id: string;
  readonly pieces: number;
  /** Does not count yet: keeps all others from writing while the checks are read. */
  readonly locked?: boolean;
}

type Pending = Marker & { readonly versionstamp: string };

/** A staged journal; the check is that no other process has discarded it. */
type Staged = Marker & { readonly header: Deno.AtomicCheck };

/** The outcome of a commit; `again`: another process has written in between. */
type Outcome = "held" | "refused" | "again";

/** How many commits of a large one run at once; each has up to 0.8 MB. */
const AT_ONCE = 8;

/** Reads the marker; `undefined` if it is clear. */
function pendingIn({ value, versionstamp }: KvRecord): Pending | undefined {
  if (versionstamp === null) return undefined;
  const marker = decodeValue(value as Uint8Array) as Marker | null; // markerWrite() made it
  return marker === null ? undefined : { ...marker, versionstamp };
}

/** Sets or clears the marker. Cleared, it has a new versionstamp, which shows that it was set. */
function markerWrite(marker: Marker | null): KvWrite {
  return { key: journalKey, record: encodeValue(marker) };
}

/** The commits that run at once. */
function* groupsOf(packs: readonly KvWrite[][]): Generator<KvWrite[][]> {
  for (let start = 0; start < packs.length; start += AT_ONCE) yield packs.slice(start, start + AT_ONCE);
}

/** Returns whether a journal counts and is not carried out yet, so that what was read is incomplete. */
export function isTorn(marker: KvRecord): boolean {
  return pendingIn(marker)?.locked === false;
}

/** Writes, and carries out unfinished journals. */
export class DenoKvJournal {
  readonly #database: KvDatabase;
  /** The versionstamp of the marker when it was last seen clear; `undefined`: read it again. */
  #empty: string | null | undefined;
  #finishing: { readonly versionstamp: string; readonly done: Promise<void> } | undefined;

  /** @param database The database. */
  constructor(database: KvDatabase) {
    this.#database = database;
  }

  /** Carries out a journal that counts, and returns the check that no other one begins. */
  async check(): Promise<Deno.AtomicCheck> {
    while (this.#empty === undefined) await this.#look();
    return { key: journalKey, versionstamp: this.#empty };
  }

  /** Carries out a journal that was found while reading. */
  async settle(marker: KvRecord): Promise<void> {
    const pending = pendingIn(marker);
    if (pending !== undefined) await this.#finish(pending);
  }

  /** Returns whether no journal was begun since the check was made. */
  async holds({ versionstamp }: Deno.AtomicCheck): Promise<boolean> {
    const marker = await this.#marker();
    const holds = marker.versionstamp === versionstamp;
    if (!holds && this.#empty === versionstamp) this.#empty = undefined;
    return holds;
  }

  /** Returns whether all fits into one commit. */
  fits(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): boolean {
    return fitsOneCommit(writes, checks, this.#database.maxChecks);
  }

  /** Writes everything if the checks hold; in one commit if it fits. */
  async commit(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): Promise<boolean> {
    const attempt = this.fits(writes, checks) ? this.#commitAtOnce : this.#commitStaged;
    for (;;) {
      const outcome = await attempt.call(this, writes, checks);
      if (outcome !== "again") return outcome === "held";
    }
  }

  /** Removes the journals that do not count. */
  async discard(): Promise<void> {
    const ids = new Set<string>();
    // As stagedKey() makes it.
    for await (const { key } of listAll(this.#database, stagedKey())) ids.add(key[2] as string);
    for (const id of ids) await this.#discard(id);
  }

  async #commitAtOnce(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): Promise<Outcome> {
    const empty = this.#empty === undefined
      ? await this.check()
      : { key: journalKey, versionstamp: this.#empty };
    if (await this.#database.commit([empty, ...checks], writes) !== undefined) return "held";
    return await this.holds(empty) ? "refused" : "again";
  }

  async #commitStaged(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): Promise<Outcome> {
    const empty = await this.check();
    const id = crypto.randomUUID();
    const packs = packWrites(writes);
    const staged = await this.#stage(id, packs);
    if (staged === undefined) return "again";
    const outcome = this.fits([], checks)
      ? await this.#mark(staged, empty, checks)
      : await this.#lockAndMark(staged, empty, checks);
    if (typeof outcome === "string") await this.#remove(staged);
    else await this.#finish(outcome, packs);
    return typeof outcome === "string" ? outcome : "held";
  }

  /** Stages the pieces; `undefined` if another process has discarded them. */
  async #stage(id: string, packs: readonly KvWrite[][]): Promise<Staged | undefined> {
    const key = stagedKey(id);
    const versionstamp = await this.#database.commit([], [{ key, record: new Uint8Array() }]);
    if (versionstamp === undefined) return undefined; // can't be, without checks
    const header = { key, versionstamp };
    let pieces = 0;
    for (const some of groupsOf(packs)) {
      const records = cutBytes(encodeWrites(some.flat()));
      const commits = packWrites(records.map((record) => ({ key: stagedKey(id, pieces++), record })));
      if (!await this.#commitAll(header, commits)) return undefined;
    }
    return { id, pieces, header };
  }

  /** Makes commits with the same check, some at a time; returns whether it held for all. */
  async #commitAll(check: Deno.AtomicCheck, packs: readonly KvWrite[][]): Promise<boolean> {
    for (const some of groupsOf(packs)) {
      const made = await Promise.all(some.map((writes) => this.#database.commit([check], writes)));
      if (made.includes(undefined)) return false;
    }
    return true;
  }

  /** Makes the journal count. */
  async #mark(
    { id, pieces, header }: Staged,
    empty: Deno.AtomicCheck,
    checks: readonly Deno.AtomicCheck[],
  ): Promise<Pending | "refused" | "again"> {
    const marker = { id, pieces, locked: false };
    const versionstamp = await this.#database.commit([empty, header, ...checks], [markerWrite(marker)]);
    if (versionstamp !== undefined) return { ...marker, versionstamp };
    const [now, staged] = await this.#database.getMany([empty.key, header.key]);
    if (now?.versionstamp !== empty.versionstamp) this.#empty = undefined;
    const alone = now?.versionstamp === empty.versionstamp && staged?.versionstamp === header.versionstamp;
    return alone ? "refused" : "again";
  }

  /**
   * The same for more checks than fit into one commit: no other process may write while they are
   * read.
   */
  async #lockAndMark(
    staged: Staged,
    empty: Deno.AtomicCheck,
    checks: readonly Deno.AtomicCheck[],
  ): Promise<Pending | "refused" | "again"> {
    this.#empty = undefined;
    const { id, pieces, header } = staged;
    const marker = markerWrite({ id, pieces, locked: true });
    const versionstamp = await this.#database.commit([empty, header], [marker]);
    if (versionstamp === undefined) return "again";
    const locked = { key: journalKey, versionstamp };
    if (await this.#hold(checks)) return await this.#mark(staged, locked, []);
    return await this.#database.commit([locked], [markerWrite(null)]) === undefined ? "again" : "refused";
  }

  async #hold(checks: readonly Deno.AtomicCheck[]): Promise<boolean> {
    const entries = await readMany(this.#database, checks.map(({ key }) => key));
    return checks.every(({ versionstamp }, index) => entries[index]?.versionstamp === versionstamp);
  }

  async #marker(): Promise<KvRecord> {
    const [marker] = await this.#database.getMany([journalKey]);
    if (marker === undefined) {
      throw new StoreError("Cannot read the store: the database gave no answer; open it again");
    }
    return marker;
  }

  async #look(): Promise<void> {
    const marker = await this.#marker();
    const pending = pendingIn(marker);
    if (pending === undefined) this.#empty = marker.versionstamp;
    else if (pending.locked) await this.#unlock(pending);
    else await this.#finish(pending);
  }

  /**
   * Unlocks after a process that has ended, or is slow, while it read checks: its journal does not
   * count yet, and it tries again.
   */
  async #unlock({ versionstamp }: Pending): Promise<void> {
    await this.#database.commit([{ key: journalKey, versionstamp }], [markerWrite(null)]);
  }

  /**
   * Carries a journal out, once for all that ask at a time.
   *
   * @param packs Its writes, if this process made it; else they are read.
   */
  #finish(pending: Pending, packs?: readonly KvWrite[][]): Promise<void> {
    if (this.#finishing?.versionstamp !== pending.versionstamp) {
      const done = this.#carryOut(pending, packs).finally(() => this.#finishing = undefined);
      this.#finishing = { versionstamp: pending.versionstamp, done };
    }
    return this.#finishing.done;
  }

  async #carryOut(pending: Pending, known?: readonly KvWrite[][]): Promise<void> {
    this.#empty = undefined;
    const counts = { key: journalKey, versionstamp: pending.versionstamp };
    const packs = known ?? await this.#read(pending);
    if (packs === undefined) return await this.#miss(counts);
    // If the check fails, another process has carried out all of it.
    if (!await this.#commitAll(counts, packs)) return;
    const emptied = await this.#database.commit([counts], [markerWrite(null)]);
    if (emptied === undefined) return;
    this.#empty = emptied;
    await this.#remove(pending);
  }

  /** Reads the writes of a journal; `undefined` if pieces are missing. */
  async #read({ id, pieces }: Marker): Promise<KvWrite[][] | undefined> {
    const keys = Array.from({ length: pieces }, (_, index) => stagedKey(id, index));
    const found = (await readMany(this.#database, keys)).map(({ value }) => value as Uint8Array | null);
    if (!found.every((piece) => piece !== null)) return undefined;
    return packWrites(decodeWrites(concat(found)));
  }

  /**
   * Pieces are removed only when all is carried out. If the marker still names them, the database
   * is damaged.
   */
  async #miss(counts: Deno.AtomicCheck): Promise<void> {
    if (!await this.holds(counts)) return;
    throw new StoreFormatError(
      "Cannot read the store: a part of a commit is missing; restore the database from a copy",
    );
  }

  async #discard(id: string): Promise<void> {
    const empty = await this.check();
    // The header first: without it, the process that is staging can't make its journal count.
    if (await this.#database.commit([empty], [{ key: stagedKey(id), record: undefined }]) === undefined) {
      return;
    }
    const keys: Deno.KvKey[] = [];
    for await (const { key } of listAll(this.#database, stagedKey(id))) keys.push(key);
    await this.#delete(keys);
  }

  async #remove({ id, pieces }: Marker): Promise<void> {
    await this.#delete([
      stagedKey(id),
      ...Array.from({ length: pieces }, (_, index) => stagedKey(id, index)),
    ]);
  }

  async #delete(keys: readonly Deno.KvKey[]): Promise<void> {
    const writes = keys.map((key): KvWrite => ({ key, record: undefined }));
    for (const pack of packWrites(writes)) await this.#database.commit([], pack);
  }
}
