/**
 * What all stores have in common: the port, the order of keys, and how values become bytes; and the store in
 * memory.
 *
 * @module
 */

import {
  compareParts,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreMutation,
} from "./store.ts";

export {
  compareParts,
  decodeKey,
  encodeKey,
  endOfRange,
  type Store,
  type StoreCheck,
  type StoreEntry,
  type StoreKey,
  type StoreListOptions,
  type StoreLock,
  type StoreMutation,
} from "./store.ts";
export { decodeValue, encodeValue, isEncodable } from "./value_codec.ts";

/**
 * A node of the tree of keys. There is one for each value, so it has no more members than it must.
 */
class Node {
  value: unknown = undefined;
  /** The number of the commit that set the value; 0: there is no value. */
  version = 0;
  /** The nodes below, by the next part of their keys. */
  children: Children | undefined = undefined;
}

/** Nodes by a part of their keys, which are put in order when they are listed. */
class Children extends Map<string, Node> {
  isOrdered = false;
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
export class MemoryStore implements Store {
  readonly #root = new Node();
  #version = 0;

  /** Reads several values at once; `undefined` where there is none. */
  getMany(keys: readonly StoreKey[]): Promise<(StoreEntry | undefined)[]> {
    return Promise.resolve(keys.map((key) => entryOf(key, this.#find(key))));
  }

  /**
   * Reads the values below a prefix, without the one at it, in the order of the keys, as they were
   * when the reading began.
   */
  async *list(
    prefix: StoreKey,
    { after, limit = Infinity }: StoreListOptions = {},
  ): AsyncGenerator<StoreEntry> {
    const node = this.#find(prefix);
    if (node !== undefined) yield* [...below(prefix, node, after?.slice(prefix.length)).take(limit)];
  }

  /** Applies all changes, or none if a check does not hold. */
  commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    const holds = ({ key, versionstamp }: StoreCheck) =>
      (entryOf(key, this.#find(key))?.versionstamp ?? null) === versionstamp;
    const held = checks.every(holds);
    if (held) this.#apply(mutations);
    return Promise.resolve(held);
  }

  /** Does nothing: the values are released with the last reference to the store. */
  close(): void {}

  #apply(mutations: readonly StoreMutation[]): void {
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

  #find(key: StoreKey): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of key) node = node?.children?.get(part);
    return node;
  }

  /** Removes a value, and the branch that is empty then. */
  #delete(key: StoreKey): void {
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
  const children = node.children ??= new Children();
  let child = children.get(part);
  if (child === undefined) {
    children.set(part, child = new Node());
    children.isOrdered = false;
  }
  return child;
}

function entryOf(key: StoreKey, node: Node | undefined): StoreEntry | undefined {
  if (node === undefined || node.version === 0) return undefined;
  return { key, value: node.value, versionstamp: String(node.version) };
}

/**
 * The values below a node, in the order of their keys.
 *
 * @param after The parts behind the node's key of the key after which to begin; none: at the first.
 */
function* below(key: StoreKey, node: Node, [start, ...rest]: StoreKey = []): Generator<StoreEntry> {
  for (const [part, child] of ordered(node)) {
    const place = start === undefined ? 1 : compareParts(part, start);
    if (place < 0) continue;
    const childKey = [...key, part];
    const entry = place > 0 ? entryOf(childKey, child) : undefined;
    if (entry !== undefined) yield entry;
    yield* below(childKey, child, place > 0 ? [] : rest);
  }
}

/** The nodes below a node in order, which lasts until another comes. */
function ordered(node: Node): Children | [] {
  if (node.children === undefined || node.children.isOrdered) return node.children ?? [];
  node.children = new Children([...node.children].sort(byPart));
  node.children.isOrdered = true;
  return node.children;
}

function byPart(first: [string, Node], second: [string, Node]): number {
  return compareParts(first[0], second[0]);
}
