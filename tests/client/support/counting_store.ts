/**
 * A store that counts what is written to it.
 *
 * @module
 */

import { type KvKey, type KvMutation, type KvStore, MemoryStore } from "@greenroom/matrix";
import { encodeValue } from "../../../src/store/value_codec.ts";

/** A commit. */
export interface CountedCommit {
  /** The kinds of records that it changes, in order. */
  readonly kinds: readonly string[];
  /** How many bytes of keys and values it writes. */
  readonly bytes: number;
}

/** Keeps everything in memory, and counts. */
export class CountingStore implements KvStore {
  readonly #inner = new MemoryStore();
  #commits: CountedCommit[] = [];

  getMany(keys: readonly KvKey[]) {
    return this.#inner.getMany(keys);
  }

  list(prefix: KvKey) {
    return this.#inner.list(prefix);
  }

  commit(...args: Parameters<KvStore["commit"]>): Promise<boolean> {
    this.#commits.push(counted(args[0]));
    return this.#inner.commit(...args);
  }

  close(): void {}

  /** The commits since this was asked for last. */
  take(): CountedCommit[] {
    const commits = this.#commits;
    this.#commits = [];
    return commits;
  }

  /** How many records there are of each kind. */
  async records(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for await (const { key } of this.#inner.list([])) {
      const kind = kindOf(key);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
  }
}

function counted(mutations: readonly KvMutation[]): CountedCommit {
  const kinds = [...new Set(mutations.map(({ key }) => kindOf(key)))].sort();
  return { kinds, bytes: mutations.reduce((sum, mutation) => sum + bytesOf(mutation), 0) };
}

function bytesOf(mutation: KvMutation): number {
  const key = mutation.key.reduce((sum, part) => sum + part.length, 0);
  return key + (mutation.type === "set" ? encodeValue(mutation.value).length : 0);
}

/** What a record is, whoever's it is: a client's key begins with the user and the device. */
function kindOf(key: KvKey): string {
  const path = key[0]?.startsWith("@") ? key.slice(2) : key;
  return path[0] === "crypto" ? `crypto/${path[1]}` : path[0] ?? "";
}
