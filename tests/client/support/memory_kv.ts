/**
 * A database of Deno KV in this thread, so that its operations always run in the same order.
 *
 * @module
 */

import { KvStore } from "@greenroom/matrix/store/kv";
import type { TestProcess } from "./crash.ts";
import type { DayStore } from "./scripted_day.ts";

interface Entry {
  readonly key: Deno.KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
}

/**
 * The kinds of records that the store writes for a commit that is too large for one:
 * only these are hit by faults.
 */
const PIECES: ReadonlySet<unknown> = new Set(["staged", "journal", "part", "parts"]);

/** Entries, and the part of Deno KV that the store uses. */
export class MemoryKv {
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  /** The database as a process sees it. As after a crash, nothing is closed. */
  of(process: TestProcess): Deno.Kv {
    const kv = {
      getMany: (keys: Deno.KvKey[]) => process.run(() => keys.map((key) => this.#get(key))),
      list: (selector: { prefix: Deno.KvKey; start?: Deno.KvKey }, { limit }: { limit: number }) =>
        this.#list(selector, limit),
      atomic: () => this.#atomic(process),
      close: () => {},
    };
    return kv as unknown as Deno.Kv; // it has what the store uses
  }

  #get(key: Deno.KvKey) {
    return this.#entries.get(JSON.stringify(key)) ?? { key, value: null, versionstamp: null };
  }

  async *#list({ prefix, start = prefix }: { prefix: Deno.KvKey; start?: Deno.KvKey }, limit: number) {
    const found = [...this.#entries.values()]
      .filter(({ key }) => key.length > prefix.length && prefix.every((part, at) => part === key[at]))
      .filter(({ key }) => compare(key, start) >= 0)
      .sort((one, other) => compare(one.key, other.key));
    for (const entry of found.slice(0, limit)) yield await Promise.resolve(entry);
  }

  #atomic(process: TestProcess) {
    const checks: Deno.AtomicCheck[] = [];
    const writes: { readonly key: Deno.KvKey; readonly value?: unknown }[] = [];
    const operation = {
      check: (...more: Deno.AtomicCheck[]) => (checks.push(...more), operation),
      set: (key: Deno.KvKey, value: unknown) => (writes.push({ key, value }), operation),
      delete: (key: Deno.KvKey) => (writes.push({ key }), operation),
      commit: () => {
        const work = () => Promise.resolve(this.#commit(checks, writes));
        const kinds = new Set(writes.map(({ key }) => String(key[1])));
        const isPiece = [...kinds].some((kind) => PIECES.has(kind));
        return isPiece
          ? process.perform("commit", () => [...kinds].sort().join(" "), work)
          : process.run(work);
      },
    };
    return operation;
  }

  #commit(
    checks: readonly Deno.AtomicCheck[],
    writes: readonly { readonly key: Deno.KvKey; readonly value?: unknown }[],
  ): Deno.KvCommitResult | Deno.KvCommitError {
    if (checks.some(({ key, versionstamp }) => this.#get(key).versionstamp !== versionstamp)) {
      return { ok: false };
    }
    const versionstamp = (++this.#version).toString(16).padStart(20, "0");
    for (const { key, value } of writes) {
      if (value === undefined) this.#entries.delete(JSON.stringify(key));
      else this.#entries.set(JSON.stringify(key), { key, value, versionstamp });
    }
    return { ok: true, versionstamp };
  }
}

/** A store for the bot of a day. Faults hit the parts of its large commits. */
export function tornStore(): DayStore {
  const kv = new MemoryKv();
  return {
    open: (process) => KvStore.over(kv.of(process)),
    read: (process) => KvStore.over(kv.of(process)),
  };
}

/** Compares keys. Parts at the same index have the same type, but for bytes, which come first. */
function compare(one: Deno.KvKey, other: Deno.KvKey): number {
  for (const [at, part] of one.entries()) {
    const [mine, theirs] = [part, other[at]] as [string | number, string | number | Uint8Array | undefined];
    if (theirs === undefined || theirs instanceof Uint8Array) return 1;
    if (mine !== theirs) return mine < theirs ? -1 : 1;
  }
  return one.length - other.length;
}
