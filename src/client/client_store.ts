/**
 * A client's Store: the actor, and the function that opens it.
 *
 * @module
 */

import type { Actor } from "../actors/kernel/actor.ts";
import { spawnStore, type StoreHandlers } from "../actors/store/store_actor.ts";
import { type OpenStore, storeOpener } from "../actors/store/opener.ts";
import type { Session } from "../api/http/mod.ts";
import { type ClientOptions, leaseOptions } from "./client_options.ts";
import type { Holding } from "../store/device/mod.ts";
import { loggerOf } from "../base/log.ts";

/** A client's Store. */
export interface ClientStore {
  /** The actor. */
  readonly store: Actor<StoreHandlers>;
  /** Opens it, the first time. */
  readonly ready: OpenStore;
}

/**
 * Makes a client's Store, over the given one or one of its own.
 *
 * @param options How the client is made.
 * @param session Who acts.
 * @param holding How the client holds the device.
 */
export function clientStore(options: ClientOptions, session: Session, holding: Holding): ClientStore {
  const { store: given } = options;
  const { clock } = session.http;
  const log = loggerOf(options.log, clock, "store");
  const lease = leaseOptions(options);
  const store = spawnStore({ kv: given, lease: lease && { ...lease, holding }, clock, log });
  return { store, ready: storeOpener({ store, session, shared: given !== undefined }) };
}
