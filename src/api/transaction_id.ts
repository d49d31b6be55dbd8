/**
 * Transaction IDs: what makes a repeated send one send.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#transaction-identifiers | Transaction identifiers}
 * @module
 */

import type { TransactionID } from "../types/ids.ts";

/**
 * Makes transaction IDs that no other maker makes, in this process, another, or one before a restart: 96 random bits once,
 * then a count.
 */
export function transactionIds(): () => TransactionID {
  const random = crypto.getRandomValues(new Uint8Array(12)).toHex();
  let count = 0;
  return () => `gr-${random}-${(count++).toString(36)}`;
}
