/**
 * A database of Deno KV that lives in this thread, so that what it does is done in the same order each time.
 *
 * @module
 */

import { DenoKvStore } from "@greenroom/matrix/store/kv";
import type { Life } from "./crash.ts";
import type { DayStore } from "./scripted_day.ts";

interface Entry {
  readonly key: Deno.KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
}

/** What the store writes of a commit that is too large for one: it is these commits that go wrong. */
const PIECES: ReadonlySet<unknown> = new Set(["staged", "journal", "part", "parts"]);

/** Entries, and the part of Deno KV that the store uses. */
export class MemoryKv {
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  /** The database as a process sees it. Only commits of what is large go wrong; as a crash leaves a file, nothing is closed. */
  of(life: Life): Deno.Kv {
    const kv = {
      getMany: (keys: Deno.KvKey[]) => life.lives(() => keys.map((key) => this.#get(key))),
      list: (selector: { prefix: Deno.KvKey }, options: { limit: number; cursor?: string }) =>
        this.#list(selector.prefix, options),
      atomic: () => this.#atomic(life),
      close: () => {},
    };
    return kv as unknown as Deno.Kv; // it has what the store uses
  }

  #get(key: Deno.KvKey) {
    return this.#entries.get(JSON.stringify(key)) ?? { key, value: null, versionstamp: null };
  }

  #list(prefix: Deno.KvKey, { limit, cursor = "" }: { limit: number; cursor?: string }) {
    const found = [...this.#entries]
      .filter(([, { key }]) => key.length > prefix.length && prefix.every((part, at) => part === key[at]))
      .map(([, entry]) => entry)
      .sort((one, other) => compare(one.key, other.key));
    const from = Number(cursor);
    const page = found.slice(from, from + limit);
    return Object.assign(
      (async function* () {
        for (const entry of page) yield await Promise.resolve(entry);
      })(),
      { cursor: String(from + page.length) },
    );
  }

  #atomic(life: Life) {
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
        return isPiece ? life.does("commit", () => [...kinds].sort().join(" "), work) : life.lives(work);
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

/** A place for the bot of a day, of which commits of large records are torn. */
export function tornStore(): DayStore {
  const kv = new MemoryKv();
  return {
    open: (life) => DenoKvStore.over(kv.of(life)),
    look: (life) => DenoKvStore.over(kv.of(life)),
  };
}

/** Parts in the same place are of the same kind, and of two kinds at most. */
function compare(one: Deno.KvKey, other: Deno.KvKey): number {
  for (const [at, part] of one.entries()) {
    const [mine, theirs] = [part, other[at]] as [string | number, string | number | undefined];
    if (theirs === undefined) return 1;
    if (mine !== theirs) return mine < theirs ? -1 : 1;
  }
  return one.length - other.length;
}
