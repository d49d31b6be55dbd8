/** What is in a store. */

import type { OlmDecryption } from "../../../src/crypto/olm/olm.ts";
import type { MemoryStore, StoreKey } from "@greenroom/matrix";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** How many records of the engine there are, by their kind. */
export async function recordsByKind(store: MemoryStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const { key: [, kind = ""] } of store.list(["crypto"])) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The keys of the records that belong to Olm, but for the account's, below which something is said. */
export async function keysWith(store: MemoryStore, part: string): Promise<StoreKey[]> {
  const keys: StoreKey[] = [];
  for await (const { key } of store.list(["crypto"])) if (key.includes(part)) keys.push(key);
  return keys;
}

/** Whether a message to the device was decrypted. */
export function isRead(result: OlmDecryption): boolean {
  return result.kind === "decrypted";
}
