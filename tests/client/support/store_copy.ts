/**
 * Copies of stores, as backups are.
 *
 * @module
 */

import { MemoryStore, type StoreMutation } from "@greenroom/matrix";

/** A copy of a store as it is now. */
export async function copyOf(store: MemoryStore): Promise<MemoryStore> {
  const copy = new MemoryStore();
  const mutations: StoreMutation[] = [];
  for await (const { key, value } of store.list([])) mutations.push({ type: "set", key, value });
  await copy.commit(mutations);
  return copy;
}
