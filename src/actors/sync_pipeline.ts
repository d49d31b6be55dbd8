/**
 * The way of one sync response: Crypto, Store, Dispatcher.
 *
 * @module
 */

import type { CryptoInput, CryptoOutput } from "../crypto/engine_protocol.ts";
import { DecryptionError } from "../errors/crypto_error.ts";
import type { Logger } from "../log.ts";
import type { MatrixEvent, MessageEvent } from "../types/event.ts";
import type { JsonObject } from "../types/json.ts";
import type { ActorRef } from "./actor.ts";
import type { Crypto } from "./crypto.ts";
import type { DispatcherProtocol } from "./dispatcher_protocol.ts";
import type { StoreProtocol } from "./store_protocol.ts";
import { cryptoInput, syncBatch, syncChange, type SyncContext } from "./sync_batch.ts";
import { type SyncParts, takeApart, type Undecryptable } from "./sync_parts.ts";

/** Who a sync response passes. */
export interface SyncPipeline {
  /** Takes keys and decrypts; absent: there is no encryption. */
  readonly crypto: Pick<Crypto, "receiveSync"> | undefined;
  /** Keeps room state and the token. */
  readonly store: ActorRef<StoreProtocol>;
  /** Brings events to handlers. */
  readonly dispatcher: ActorRef<DispatcherProtocol>;
  /** Reads what a limited timeline left out, if that is wanted. */
  readonly fillGaps: (parts: SyncParts) => Promise<void>;
  /** Asks for the next response already, if nothing speaks against it: it comes while this one is kept and handled. */
  readonly readAhead: (parts: SyncParts) => void;
  /** Where a server's faults are told. */
  readonly log: Logger;
}

/**
 * Takes a sync response all its way.
 *
 * When it returns, keys, state and token are committed, and handlers have been started: `waitSync` ones have settled.
 *
 * @returns The number of the batch of handlers.
 */
export async function processSync(
  response: JsonObject,
  context: SyncContext,
  { crypto, store, dispatcher, fillGaps, readAhead, log }: SyncPipeline,
): Promise<number> {
  const parts = takeApart(response, context.own);
  if (parts.malformed > 0) {
    log.warn("Left out malformed parts of a sync response", { parts: parts.malformed });
  }
  await fillGaps(parts);
  readAhead(parts);
  const recovered = crypto && await decryptParts(parts, context, crypto);
  const committed = await store.ask("commitSync", syncChange(parts, context));
  if (recovered !== undefined && recovered.length > 0) await dispatcher.ask("recover", recovered);
  return await dispatcher.ask("dispatch", syncBatch(parts, context, committed));
}

/** @returns Earlier events that can be read now. */
async function decryptParts(
  parts: SyncParts,
  context: SyncContext,
  crypto: Pick<Crypto, "receiveSync">,
): Promise<CryptoOutput["recovered"]> {
  const input = cryptoInput(parts, context);
  const output = await crypto.receiveSync(input);
  applyCrypto(parts, input, output);
  return output.recovered;
}

/** Puts what Crypto could read in the place of what it was given. */
function applyCrypto(
  parts: SyncParts,
  input: CryptoInput,
  { toDevice, decrypted, underway }: CryptoOutput,
): void {
  parts.toDevice = toDevice;
  const plain = new Map<MatrixEvent, MessageEvent>();
  const undecryptable = new Map<MatrixEvent, Undecryptable>();
  for (const [index, event] of input.encrypted.entries()) {
    const result = decrypted[index];
    if (result === undefined) continue;
    if ("event" in result) plain.set(event, result.event);
    else {
      const { code, reason, withheld } = result;
      undecryptable.set(event, { code, withheld, reason: new DecryptionError(reason) });
    }
  }
  const handled = new Set<MatrixEvent | undefined>(underway.map((index) => input.encrypted[index]));
  const readable = <Event extends MatrixEvent>(events: readonly Event[]): (Event | MessageEvent)[] =>
    events.filter((event) => !handled.has(event)).map((event) => plain.get(event) ?? event);
  if (plain.size > 0) {
    for (const room of parts.rooms) {
      room.filled = readable(room.filled);
      room.timeline = readable(room.timeline);
    }
  }
  parts.undecryptable = undecryptable;
}
