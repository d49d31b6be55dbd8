/**
 * The actors of a client and what stands around them, in one piece that can be replaced.
 *
 * What actors know of a store's records holds as long as no other process has them, and no commit
 * has failed. A client that hands its device back makes a new core when that is over; all that
 * applications hold of the client goes on with the new one.
 *
 * @module
 */

import { FEED } from "./options/client_internals.ts";
import { IS_TOKEN_DEAD, type Session } from "../api/http/mod.ts";
import type { Actor, ActorRef } from "../actors/kernel/actor.ts";
import { supervise, type Supervisor } from "../actors/kernel/supervisor.ts";
import type { Deliverer } from "../actors/dispatcher/deliver.ts";
import type { SendIds } from "../actors/dispatcher/delivery_scope.ts";
import type { DispatcherHandlers } from "../actors/dispatcher/dispatcher.ts";
import type { HandlerSessions } from "../actors/dispatcher/handler_sessions.ts";
import type { HandlerRegistry } from "../actors/dispatcher/handler_registry.ts";
import type { OpenStore } from "../actors/store/opener.ts";
import { StateStore } from "../actors/store/state_store.ts";
import type { StoreHandlers } from "../actors/store/store_actor.ts";
import type { ClearRooms } from "../actors/syncer/clear_rooms.ts";
import { spawnSyncer, type SyncerHandlers } from "../actors/syncer/syncer.ts";
import type { CryptoHolder } from "../actors/crypto/sync_crypto.ts";
import type { CryptoMachine } from "../encryption/crypto.ts";
import type { ClientAPI } from "../api/api.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Holding } from "../store/device/mod.ts";
import type { PresenceState } from "../types/enums.ts";
import { clientDispatcher } from "./client_dispatcher.ts";
import { Encryption } from "../encryption/encryption.ts";
import { syncRequests } from "./client_operations.ts";
import { acceptClear, type ClientOptions, CLOSE_DEADLINE, encryptionOptions } from "./client_options.ts";
import { clientStore } from "./client_store.ts";
import { Housekeeping } from "./housekeeping.ts";

/** What of a client its core is made of. */
export interface ClientCoreParts {
  /** How the client is made. */
  readonly options: ClientOptions;
  /** Who acts. */
  readonly session: Session;
  /** The operations. */
  readonly api: ClientAPI;
  /** The handlers. */
  readonly registry: HandlerRegistry;
  /** Has the encryption of the client. */
  readonly encryption: CryptoHolder<CryptoMachine>;
  /** Is told which syncs follow one another. */
  readonly clearRooms: ClearRooms;
  /** Types of event that are never encrypted. */
  readonly blacklist: ReadonlySet<string>;
  /** How the device is held. */
  readonly holding: Holding;
  /** The user's presence as others see it. */
  readonly presence: () => PresenceState;
  /** Is called when the handlers of a first response have settled. */
  readonly afterFirst: () => void;
  /** Logs what goes on. */
  readonly log: Logger;
  /** Logs what goes on with encryption. */
  readonly cryptoLog: Logger;
}

/** The actors of a client, wired together. */
export interface ClientCore {
  /** Stores the device's records. */
  readonly store: Actor<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Delivers events to handlers. */
  readonly dispatcher: Actor<DispatcherHandlers>;
  /** Delivers single events. */
  readonly deliverer: Deliverer;
  /** Runs handlers with their sessions. */
  readonly sessions: HandlerSessions;
  /** Makes the transaction IDs of what handlers send. */
  readonly sendIds: SendIds;
  /** Asks for what is new. */
  readonly syncer: ActorRef<SyncerHandlers>;
  /** End-to-end encryption; undefined: there is none of its own. */
  readonly own: Encryption | undefined;
  /** Prunes records. */
  readonly housekeeping: Housekeeping;
  /** Stops all of it. */
  readonly supervisor: Supervisor;
}

/** Makes the core of a client. */
export function clientCore(parts: ClientCoreParts): ClientCore {
  const { options, session, api, registry, encryption: holder, blacklist, holding, log, cryptoLog } = parts;
  const { http } = session;
  const { clock }: { readonly clock: Clock } = http;
  const { store, ready } = clientStore(options, session, holding);
  const isOver = (): boolean => http[IS_TOKEN_DEAD] || supervisor.isStopping;
  let hasStore = true;
  const gone = (): void => void (hasStore = false);
  store.done.then(gone, gone);
  const records = (): boolean => hasStore;
  const handling = { encryption: holder, clock, store, ready, isOver, records, registry };
  const { deliverer, sessions, sendIds, dispatcher } = clientDispatcher(options, handling);
  const encryption = encryptionOptions(options);
  const isDurable = options.store !== undefined;
  const stateStore = new StateStore({ store, ready });
  const own = encryption && Encryption.of({
    session,
    api,
    store,
    ready,
    stateStore,
    dispatcher,
    isDurable,
    hasToken: options.token !== undefined,
    showsRooms: options[FEED]?.showsRooms ?? true,
    log: cryptoLog,
  }, encryption);
  const housekeeping = new Housekeeping({ store, ready, pruneCrypto: own?.prune, clock, log });
  const feed = options[FEED];
  const requests = syncRequests(session, api);
  const syncer = spawnSyncer({
    requests: feed === undefined ? requests : { ...requests, sync: feed.sync },
    feed,
    session,
    encryption: holder,
    clearRooms: parts.clearRooms,
    acceptClear: acceptClear(encryption, blacklist),
    store,
    ready,
    dispatcher,
    afterSync: async () => void await Promise.all([housekeeping.pruneIfDue(), own?.renew()]),
    afterFirst: parts.afterFirst,
    presence: parts.presence,
    waits: () => registry.waits,
    wantsHistory: () => registry.wantsHistory,
    wants: (type) => deliverer.wantsInternal(type),
    isDurable,
    resume: options.deliver === "at-most-once" ? "committed" : "handled",
    clock,
    log,
  });
  const actors = [syncer, dispatcher, ...(own === undefined ? [] : [own]), store];
  const { closeDeadline: deadline = CLOSE_DEADLINE } = options;
  const supervisor: Supervisor = supervise(actors, { clock, deadline, log });
  if (feed !== undefined) feed.fails = (cause) => void supervisor.fail("store", cause);
  return { store, ready, dispatcher, deliverer, sessions, sendIds, syncer, own, housekeeping, supervisor };
}
