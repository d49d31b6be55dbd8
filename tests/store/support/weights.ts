/** How much is written to a store, and how many records of which kind there are. */

import type { Store, StoreKey, StoreMutation } from "@greenroom/matrix";
import { encodeValue } from "../../../src/store/base/mod.ts";

/** How many bytes of a key and a value a change writes. */
export function bytesOf(mutation: StoreMutation): number {
  const key = mutation.key.reduce((sum, part) => sum + part.length, 0);
  return key + (mutation.type === "set" ? encodeValue(mutation.value).length : 0);
}

/** The kind of a record: a client's key begins with the user and the device. */
export function recordKind(key: StoreKey): string {
  const [first = "", second] = key[0]?.startsWith("@") ? key.slice(2) : key;
  return first === "crypto" ? `crypto/${second}` : first;
}

/** How many records there are of each kind. */
export async function kindsIn(store: Store): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { key } of store.list([])) {
    const kind = recordKind(key);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
