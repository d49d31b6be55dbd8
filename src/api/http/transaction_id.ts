/**
 * Transaction IDs: what makes a repeated send one send.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#transaction-identifiers | Transaction identifiers}
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { currentHandler } from "../../base/handler_call.ts";
import type { Outgoing } from "../../base/handler_scope.ts";
import type { TransactionID, UserID } from "../../types/ids.ts";
import type { RequestOptions } from "./request_options.ts";

/** What makes a repeated send one send, if the caller says. */
export interface TransactionOptions extends RequestOptions {
  /**
   * The transaction ID: the server takes two sends with the same one, from the same device, for
   * one. Default: made of `key`, or of what is sent, in a handler of an event that a crash lets
   * come again; elsewhere a new one. All tries of a call share it.
   */
  txnId?: TransactionID;
  /**
   * Names this send among those of the handler that makes it, whatever it says: should a crash have
   * the handler run again, it is sent once, though it says something else then (the time, a random
   * number, what a model made up). Of two sends with one key the server keeps the first, and both
   * resolve with its ID. Not empty. It has no effect where nothing comes again: outside of
   * handlers, in those of events that are not of a room's timeline, and without a `store`. Default:
   * the content names it, and how often the handler has sent the same.
   */
  key?: string;
}

/**
 * Makes transaction IDs that no other maker makes, in this process, another, or one before a
 * restart: 96 random bits once, then a count.
 */
export function transactionIds(): () => TransactionID {
  const random = crypto.getRandomValues(new Uint8Array(12)).toHex();
  let count = 0;
  return () => `gr-${random}-${(count++).toString(36)}`;
}

/** Who sends. */
export interface SendingUser {
  /** Makes a new transaction ID. */
  readonly nextTransactionId: () => TransactionID;
  /** As whom, if that is not the token's own user and the request does not say. */
  readonly asUserId?: UserID;
}

/** Options of a send that has its transaction ID. */
export type Identified<Options extends TransactionOptions> = Omit<Options, "key"> & {
  readonly txnId: TransactionID;
};

/** Whether it depends on what is sent which transaction ID it gets. */
export function isToldByContent({ txnId, key }: TransactionOptions): boolean {
  return txnId === undefined && key === undefined && currentHandler() !== undefined;
}

/**
 * Gives a send its transaction ID: the one that the caller says; one that is the same when a crash
 * has the handler run again; or a new one.
 *
 * @param outgoing What is about to be sent.
 * @param options What the caller says of it.
 * @param user Who sends.
 * @throws {ValueError} If `key` is empty, given beside `txnId`, or used for something else by the
 *   same run of the handler.
 */
export async function identified<Options extends TransactionOptions>(
  outgoing: Omit<Outgoing, "asUserId">,
  { key, ...options }: Options,
  { nextTransactionId, asUserId: user }: SendingUser,
): Promise<Identified<Options>> {
  const { txnId, asUserId = user } = options;
  if (key === "") throw new ValueError(`Cannot send ${outgoing.type}: its key is empty; leave it out`);
  if (key !== undefined && txnId !== undefined) {
    throw new ValueError(`Cannot send ${outgoing.type}: it has both a txnId and a key; give one of them`);
  }
  const made = txnId ?? await currentHandler()?.transactionId({ ...outgoing, asUserId }, key) ??
    nextTransactionId();
  return { ...options, txnId: made };
}
