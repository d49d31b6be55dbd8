/**
 * A client's Dispatcher: the actor, and the objects that it calls.
 *
 * @module
 */

import type { Actor } from "../actors/kernel/actor.ts";
import { Deliverer, type DelivererOptions } from "../actors/dispatcher/deliver.ts";
import type { CryptoHolder } from "../actors/crypto/sync_crypto.ts";
import type { CryptoMachine } from "../encryption/crypto.ts";
import { type DispatcherHandlers, spawnDispatcher } from "../actors/dispatcher/dispatcher.ts";
import type { HandlerRegistry } from "../actors/dispatcher/handler_registry.ts";
import { HandlerSessions, type HandlerSessionsOptions } from "../actors/dispatcher/handler_sessions.ts";
import { SendIds } from "../actors/dispatcher/delivery_scope.ts";
import { unreadRooms } from "../actors/dispatcher/unread_rooms.ts";
import type { ClientOptions } from "./client_options.ts";
import type { Clock } from "../base/clock.ts";
import { loggerOf } from "../base/log.ts";

/** What of a client its Dispatcher needs. */
export interface ClientDispatcherParts
  extends HandlerSessionsOptions, Pick<DelivererOptions, "isOver" | "records"> {
  /** The handlers. */
  readonly registry: HandlerRegistry;
  /** Has what decrypts. */
  readonly encryption: CryptoHolder<Pick<CryptoMachine, "settle" | "wasRecovered">>;
  /** Measures waits. */
  readonly clock: Clock;
}

/** A client's Dispatcher. */
export interface ClientDispatcher {
  /** Starts handlers. */
  readonly deliverer: Deliverer;
  /** Runs handlers with their sessions. */
  readonly sessions: HandlerSessions;
  /** Makes the transaction IDs of what handlers send. */
  readonly sendIds: SendIds;
  /** Starts handlers, response by response. */
  readonly dispatcher: Actor<DispatcherHandlers>;
}

/** How many handlers may be at work before the next response waits for them, by default. */
const MAX_PENDING = 10_000;

/** Makes a client's Dispatcher. */
export function clientDispatcher(
  { log: wanted, maxPendingHandlers: maxPending = MAX_PENDING, store: given, deliver }: ClientOptions,
  { registry, encryption, clock, store, ready, isOver: hasEnded, records: hasStore }: ClientDispatcherParts,
): ClientDispatcher {
  const log = loggerOf(wanted, clock, "client");
  const kept = { store, ready };
  const comesAgain = given !== undefined; // the client's own store ends with it
  const isAgain = comesAgain && deliver !== "at-most-once";
  const [isOver, records] = [() => isAgain && hasEnded(), () => !isAgain || hasStore()];
  const [sessions, sendIds] = [new HandlerSessions(kept), new SendIds(kept)];
  const deliverer = new Deliverer(registry, log, { sessions, sendIds, isOver, records });
  const dispatcher = spawnDispatcher({
    deliverer,
    store,
    note: unreadRooms({ registry, crypto: () => encryption.crypto, clock, log }),
    settle: async (events) => await encryption.crypto?.settle(events),
    comesAgain,
    maxPending,
    isOver,
    clock,
    log,
  });
  return { deliverer, sessions, sendIds, dispatcher };
}
