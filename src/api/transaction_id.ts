/**
 * Transaction IDs: what makes a repeated send one send.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#transaction-identifiers | Transaction identifiers}
 * @module
 */

import { currentHandler } from "../handler_scope.ts";
import type { TransactionID } from "../types/ids.ts";

/**
 * Makes transaction IDs that no other maker makes, in this process, another, or one before a restart: 96 random bits once,
 * then a count.
 *
 * But inside a handler of a timeline event they are made of the event, the handler and the number of the send: should a
 * crash have the handler run again, the server knows what it sent the first time.
 */
export function transactionIds(): () => TransactionID {
  const random = crypto.getRandomValues(new Uint8Array(12)).toHex();
  let count = 0;
  return () => {
    const handler = currentHandler();
    return handler === undefined
      ? `gr-${random}-${(count++).toString(36)}`
      : `gr-${handler.name}-${(handler.sends++).toString(36)}`;
  };
}
