/**
 * A store that lives and dies with the process.
 *
 * @module
 */

import { compareParts } from "./key_order.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "./kv_store.ts";

interface Node {
  entry?: KvEntry;
  children?: Map<string, Node>;
}

/**
 * Keeps everything in memory: the default, for bots that may forget when they end.
 *
 * Values are kept as they are and not copied.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "@greenroom/matrix";
 *
 * const store = new MemoryStore();
 * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
 * const [entry] = await store.getMany([["greeting", "en"]]);
 * console.assert(entry?.value === "hello");
 * ```
 */
export class MemoryStore implements KvStore {
  readonly #root: Node = {};
  #version = 0;

  /** Reads several values at once; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return Promise.resolve(keys.map((key) => this.#find(key)?.entry));
  }

  /** Reads what lies below a prefix, not at it, in the order of the keys, as it was when the reading began. */
  async *list(prefix: KvKey): AsyncGenerator<KvEntry> {
    const found = this.#find(prefix);
    if (found !== undefined) yield* [...below(found)];
  }

  /** Applies all changes, or none if a check does not hold. */
  commit(mutations: readonly KvMutation[], checks: readonly KvCheck[] = []): Promise<boolean> {
    const holds = ({ key, versionstamp }: KvCheck) =>
      (this.#find(key)?.entry?.versionstamp ?? null) === versionstamp;
    const held = checks.every(holds);
    if (held) this.#apply(mutations);
    return Promise.resolve(held);
  }

  /** Does nothing: what is kept goes with the last reference to the store. */
  close(): void {}

  #apply(mutations: readonly KvMutation[]): void {
    const versionstamp = String(++this.#version);
    for (const mutation of mutations) {
      if (mutation.type === "delete") this.#delete(mutation.key);
      else this.#place(mutation.key).entry = { key: mutation.key, value: mutation.value, versionstamp };
    }
  }

  #find(key: KvKey): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of key) node = node?.children?.get(part);
    return node;
  }

  #place(key: KvKey): Node {
    let node = this.#root;
    for (const part of key) {
      node.children ??= new Map();
      let child = node.children.get(part);
      if (child === undefined) node.children.set(part, child = {});
      node = child;
    }
    return node;
  }

  /** Removes an entry, and the branch that it leaves bare. */
  #delete(key: KvKey): void {
    const path: Node[] = [this.#root];
    for (const part of key) {
      const child = path[path.length - 1]?.children?.get(part);
      if (child === undefined) return;
      path.push(child);
    }
    const leaf = path.pop();
    if (leaf !== undefined) delete leaf.entry;
    for (let depth = key.length - 1, node = leaf; depth >= 0; depth--) {
      if (node?.entry !== undefined || (node?.children?.size ?? 0) > 0) return;
      node = path.pop();
      node?.children?.delete(key[depth] as string);
    }
  }
}

function* below(node: Node): Generator<KvEntry> {
  if (node.children === undefined) return;
  for (const [, child] of [...node.children].sort(byPart)) {
    if (child.entry !== undefined) yield child.entry;
    yield* below(child);
  }
}

function byPart([first]: [string, Node], [second]: [string, Node]): number {
  return compareParts(first, second);
}
