/**
 * A store that lives and dies with the process.
 *
 * @module
 */

import { compareParts } from "./key_order.ts";
import type { KvCheck, KvEntry, KvKey, KvMutation, KvStore } from "./kv_store.ts";

/** One place in the tree of keys. There is one for each piece of state, so it holds no more than it must. */
class Place {
  value: unknown = undefined;
  /** The commit that the value came with; 0: there is none. */
  version = 0;
  /** The places below, by the next part of their keys. */
  children: Map<string, Place> | undefined = undefined;
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
  readonly #root = new Place();
  #version = 0;

  /** Reads several values at once; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return Promise.resolve(keys.map((key) => entryOf(key, this.#find(key))));
  }

  /** Reads what lies below a prefix, not at it, in the order of the keys, as it was when the reading began. */
  async *list(prefix: KvKey): AsyncGenerator<KvEntry> {
    const place = this.#find(prefix);
    if (place !== undefined) yield* [...below(prefix, place)];
  }

  /** Applies all changes, or none if a check does not hold. */
  commit(mutations: readonly KvMutation[], checks: readonly KvCheck[] = []): Promise<boolean> {
    const holds = ({ key, versionstamp }: KvCheck) =>
      (entryOf(key, this.#find(key))?.versionstamp ?? null) === versionstamp;
    const held = checks.every(holds);
    if (held) this.#apply(mutations);
    return Promise.resolve(held);
  }

  /** Does nothing: what is kept goes with the last reference to the store. */
  close(): void {}

  #apply(mutations: readonly KvMutation[]): void {
    const version = ++this.#version;
    let way = new Way(this.#root);
    for (const mutation of mutations) {
      if (mutation.type === "delete") {
        this.#delete(mutation.key);
        way = new Way(this.#root); // it may have led along what was removed
      } else {
        const place = way.to(mutation.key);
        place.value = mutation.value;
        place.version = version;
      }
    }
  }

  #find(key: KvKey): Place | undefined {
    let place: Place | undefined = this.#root;
    for (const part of key) place = place?.children?.get(part);
    return place;
  }

  /** Removes a value, and the branch that it leaves bare. */
  #delete(key: KvKey): void {
    const path: Place[] = [this.#root];
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
    for (let depth = key.length - 1, place = leaf; depth >= 0; depth--) {
      if (place?.version !== 0 || (place.children?.size ?? 0) > 0) return;
      place = path.pop();
      place?.children?.delete(key[depth] as string);
    }
  }
}

/** The way to places: of keys that follow one another, most have all parts but the last in common. */
class Way {
  #key: KvKey = [];
  /** The places on the way to the last key, of as many parts as their index says. */
  readonly #places: Place[];

  constructor(root: Place) {
    this.#places = [root];
  }

  /** The place of a key, which is made if there is none. */
  to(key: KvKey): Place {
    const last = this.#key;
    let depth = 0;
    while (depth < key.length && depth < last.length && key[depth] === last[depth]) depth++;
    let place = this.#places[depth] as Place; // there is one for each part that both have
    for (; depth < key.length; depth++) {
      place = childOf(place, key[depth] as string);
      this.#places[depth + 1] = place;
    }
    this.#key = key;
    return place;
  }
}

function childOf(place: Place, part: string): Place {
  place.children ??= new Map();
  let child = place.children.get(part);
  if (child === undefined) place.children.set(part, child = new Place());
  return child;
}

function entryOf(key: KvKey, place: Place | undefined): KvEntry | undefined {
  if (place === undefined || place.version === 0) return undefined;
  return { key, value: place.value, versionstamp: String(place.version) };
}

function* below(key: KvKey, { children }: Place): Generator<KvEntry> {
  if (children === undefined) return;
  for (const [part, child] of [...children].sort(byPart)) {
    const childKey = [...key, part];
    const entry = entryOf(childKey, child);
    if (entry !== undefined) yield entry;
    yield* below(childKey, child);
  }
}

function byPart(first: [string, Place], second: [string, Place]): number {
  return compareParts(first[0], second[0]); // not taken apart in the head, which goes by way of iterators
}
