/**
 * A store in memory.
 *
 * @module
 */

import { compareParts } from "./key_order.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "./kv_store.ts";

/**
 * A node of the tree of keys. There is one for each value, so it has no more members than it must.
 */
class Node {
  value: unknown = undefined;
  /** The number of the commit that set the value; 0: there is no value. */
  version = 0;
  /** The nodes below, by the next part of their keys. */
  children: Map<string, Node> | undefined = undefined;
}

/**
 * Keeps everything in memory until the process ends: the default.
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
  readonly #root = new Node();
  #version = 0;

  /** Reads several values at once; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return Promise.resolve(keys.map((key) => entryOf(key, this.#find(key))));
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys, as they were
   * when the reading began.
   */
  async *list(prefix: KvKey): AsyncGenerator<KvEntry> {
    const node = this.#find(prefix);
    if (node !== undefined) yield* [...below(prefix, node)];
  }

  /** Applies all changes, or none if a check does not hold. */
  commit(mutations: readonly KvMutation[], checks: readonly KvCheck[] = []): Promise<boolean> {
    const holds = ({ key, versionstamp }: KvCheck) =>
      (entryOf(key, this.#find(key))?.versionstamp ?? null) === versionstamp;
    const held = checks.every(holds);
    if (held) this.#apply(mutations);
    return Promise.resolve(held);
  }

  /** Does nothing: the values are released with the last reference to the store. */
  close(): void {}

  #apply(mutations: readonly KvMutation[]): void {
    const version = ++this.#version;
    for (const mutation of mutations) {
      if (mutation.type === "delete") this.#delete(mutation.key);
      else {
        let node = this.#root;
        for (const part of mutation.key) node = childOf(node, part);
        node.value = mutation.value;
        node.version = version;
      }
    }
  }

  #find(key: KvKey): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of key) node = node?.children?.get(part);
    return node;
  }

  /** Removes a value, and the branch that is empty then. */
  #delete(key: KvKey): void {
    const path: Node[] = [this.#root];
    for (const part of key) {
      const child = path[path.length - 1]?.children?.get(part);
      if (child === undefined) return;
      path.push(child);
    }
    const leaf = path.pop();
    if (leaf !== undefined) {
      leaf.value = undefined;
      leaf.version = 0;
    }
    for (let depth = key.length - 1, node = leaf; depth >= 0; depth--) {
      if (node?.version !== 0 || (node.children?.size ?? 0) > 0) return;
      node = path.pop();
      node?.children?.delete(key[depth] as string);
    }
  }
}

function childOf(node: Node, part: string): Node {
  node.children ??= new Map();
  let child = node.children.get(part);
  if (child === undefined) node.children.set(part, child = new Node());
  return child;
}

function entryOf(key: KvKey, node: Node | undefined): KvEntry | undefined {
  if (node === undefined || node.version === 0) return undefined;
  return { key, value: node.value, versionstamp: String(node.version) };
}

function* below(key: KvKey, { children }: Node): Generator<KvEntry> {
  if (children === undefined) return;
  for (const [part, child] of [...children].sort(byPart)) {
    const childKey = [...key, part];
    const entry = entryOf(childKey, child);
    if (entry !== undefined) yield entry;
    yield* below(childKey, child);
  }
}

function byPart(first: [string, Node], second: [string, Node]): number {
  return compareParts(first[0], second[0]);
}
