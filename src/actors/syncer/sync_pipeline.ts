/**
 * The way of one sync response: in through Crypto to the Store, and out through the Dispatcher.
 *
 * @module
 */

import type { CryptoInput, CryptoOutput } from "../../crypto/engine/engine_protocol.ts";
import { DecryptionError } from "../../errors/crypto_error.ts";
import type { Logger } from "../../base/log.ts";
import { noteEncryption } from "../../types/events/encryption_of.ts";
import type { MatrixEvent, MessageEvent } from "../../types/events/event.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { Crypto } from "../crypto/crypto.ts";
import type { DispatcherProtocol } from "../dispatcher/dispatcher_protocol.ts";
import type { CommittedSync, StoreProtocol } from "../store/store_protocol.ts";
import { cryptoInput, syncBatch, syncChange, type SyncContext } from "./sync_batch.ts";
import { type SyncParts, takeApart, type Undecryptable } from "./sync_parts.ts";

/** Who a sync response passes on its way in. */
export interface SyncIntake {
  /** Takes keys and decrypts; absent: there is no encryption. */
  readonly crypto: Pick<Crypto, "receiveSync"> | undefined;
  /** Keeps room state and the token. */
  readonly store: ActorRef<StoreProtocol>;
  /** Joins its rooms to what came before: reads what is missing, if that is wanted. */
  readonly connect: (parts: SyncParts) => Promise<void> | undefined;
  /** Asks for the next response already, if nothing speaks against it: it comes while this one is kept and handled. */
  readonly readAhead: (parts: SyncParts) => Promise<void> | undefined;
  /** Where a server's faults are told. */
  readonly log: Logger;
}

/** A sync response that was taken in: all that is left is to keep it, and to bring it to handlers. */
export interface TakenSync {
  /** What it is made of. */
  readonly parts: SyncParts;
  /** What is known of it beside. */
  readonly context: SyncContext;
  /** Earlier events that can be read now. */
  readonly recovered: CryptoOutput["recovered"];
  /** Settles when it has been committed. */
  readonly committed: Promise<CommittedSync>;
}

/**
 * Takes a sync response in: keys are known, events are decrypted, and the Store has been asked to commit. Responses have to come in
 * order, one after the other; the next one need not wait for the commit.
 */
export async function takeSync(
  response: JsonObject,
  context: SyncContext,
  { crypto, store, connect, readAhead, log }: SyncIntake,
): Promise<TakenSync> {
  const parts = takeApart(response, context.own);
  if (parts.malformed > 0) {
    log.warn("Left out malformed parts of a sync response", { parts: parts.malformed });
  }
  await connect(parts);
  await readAhead(parts);
  const recovered = crypto === undefined ? [] : await decryptParts(parts, context, crypto);
  const committed = store.ask("commitSync", syncChange(parts, context));
  committed.catch(() => {}); // told by `deliverSync()`
  return { parts, context, recovered, committed };
}

/**
 * Brings a sync response to handlers, once it is committed.
 *
 * When it returns, handlers have been started: `waitSync` ones have settled.
 *
 * @returns The number of the batch of handlers.
 */
export async function deliverSync(
  { parts, context, recovered, committed }: TakenSync,
  dispatcher: ActorRef<DispatcherProtocol>,
): Promise<number> {
  const known = await committed;
  if (recovered.length > 0) await dispatcher.ask("recover", recovered);
  return await dispatcher.ask("dispatch", syncBatch(parts, context, known));
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
  parts.toDevice = toDevice.map((message) => noteEncryption(message.event, message));
  const plain = new Map<MatrixEvent, MessageEvent>();
  const undecryptable = new Map<MatrixEvent, Undecryptable>();
  for (const [index, event] of input.encrypted.entries()) {
    const result = decrypted[index];
    if (result === undefined) continue;
    if ("event" in result) plain.set(event, noteEncryption(result.event, result));
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
