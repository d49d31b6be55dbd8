import type { StoreKey } from "@greenroom/matrix";
import { compareParts } from "../../../src/store/base/mod.ts";

/**
 * Compares keys part by part; a key comes before those that lie below it.
 *
 * @returns Negative if the first comes first, positive if the second does, 0 if they are equal.
 */
export function compareKeys(first: StoreKey, second: StoreKey): number {
  for (const [index, part] of first.entries()) {
    const other = second[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return first.length - second.length;
}
