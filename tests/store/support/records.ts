/**
 * Records of a store: how they are set, and what is there.
 *
 * @module
 */

import type { Store, StoreKey, StoreMutation } from "@greenroom/matrix";

/** Sets a record. */
export const set = (key: StoreKey, value: unknown): StoreMutation => ({ type: "set", key, value });

/** Sets 1,100 records, more than one commit of Deno KV takes. */
export function many(value: unknown): StoreMutation[] {
  return Array.from({ length: 1_100 }, (_, index) => set(["many", String(index)], value));
}

/** A value of the same bytes, by default more than one of Deno KV may have. */
export const large = (fill: number, length = 100_000): Uint8Array => new Uint8Array(length).fill(fill);

/** What a record has. */
export async function valueOf(store: Store, key: StoreKey): Promise<unknown> {
  return (await store.getMany([key]))[0]?.value;
}
