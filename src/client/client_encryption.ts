/**
 * A client's own end-to-end encryption: the Crypto actor, and what stands between it and the rest.
 *
 * @module
 */

import type { ActorRef, Lifecycle } from "../actors/kernel/actor.ts";
import type { Crypto } from "../actors/crypto/crypto.ts";
import { spawnCrypto } from "../actors/crypto/crypto_actor.ts";
import type { DispatcherProtocol } from "../actors/dispatcher/dispatcher_protocol.ts";
import { Encryption } from "../actors/crypto/encryption.ts";
import type { EncryptionOptions } from "../actors/crypto/encryption_options.ts";
import { engineRequests, roomDescriber } from "../actors/crypto/engine_requests.ts";
import { pruneCrypto } from "../actors/crypto/prune_crypto.ts";
import type { StateStore } from "../actors/store/state_store.ts";
import type { StoreProtocol } from "../actors/store/store_protocol.ts";
import type { ClientAPI } from "../api/client_api.ts";
import { coreAPI } from "../api/core_api.ts";
import type { Session } from "../api/session.ts";
import type { Courier } from "./client_life.ts";
import { policyOf } from "./client_options.ts";
import type { Logger } from "../base/log.ts";
import { InternalEventType } from "../types/events/internal_event_type.ts";

/** What of a client encryption needs. */
export interface ClientEncryptionParts {
  /** Who acts. */
  readonly session: Session;
  /** The operations. */
  readonly api: ClientAPI;
  /** Keeps what the engine keeps. */
  readonly store: ActorRef<StoreProtocol>;
  /** Opens the store, the first time. */
  readonly ready: (signal?: AbortSignal) => Promise<void>;
  /** Knows which rooms are encrypted. */
  readonly stateStore: StateStore;
  /** Brings events to handlers whose key came late. */
  readonly dispatcher: ActorRef<DispatcherProtocol>;
  /** Where it is told what goes on. */
  readonly log: Logger;
}

/** A client's end-to-end encryption. */
export interface ClientEncryption {
  /** Starts with the client and ends with it. */
  readonly lifecycle: Lifecycle;
  /** What the client calls. */
  readonly crypto: Crypto;
  /** Makes its requests. */
  readonly courier: Courier;
  /** Lets go of what need not be kept; says how many records of which kind that was. */
  readonly prune: () => Promise<Readonly<Record<string, number>>>;
}

/** Makes a client's end-to-end encryption. */
export function clientEncryption(
  options: EncryptionOptions,
  { session, api, store, ready, stateStore, dispatcher, log }: ClientEncryptionParts,
): ClientEncryption {
  const { clock } = session.http;
  const stopping = new AbortController();
  const actor = spawnCrypto({ store, clock, log, policy: policyOf(options) });
  const crypto = new Encryption({
    actor,
    async account() {
      await ready(stopping.signal);
      const [userId, deviceId] = await session.account({ signal: stopping.signal });
      return { userId, deviceId };
    },
    send: engineRequests(api, clock),
    describe: roomDescriber({ core: coreAPI(session), stateStore }),
    deliver: (events) => dispatcher.ask("recover", events),
    alarm(alarm) {
      const event = { type: InternalEventType.DEVICE_ALARM, data: { alarm } };
      dispatcher.ask("announce", event).catch(() => {}); // whoever was closed needs no alarm
    },
    onNewRecipient: options.onNewRecipient,
    clock,
    log,
  });
  const lifecycle: Lifecycle = {
    name: actor.name,
    done: actor.done,
    // Handlers that are still at work when the client is closed may want to send: until here they can.
    async stop() {
      stopping.abort();
      await crypto.stop();
      await actor.stop();
    },
    abandon: () => actor.abandon(),
  };
  const prune = async () => {
    await crypto.identity(); // opened, at the least
    return (await pruneCrypto(actor, { force: true })).removed;
  };
  return { lifecycle, crypto, courier: crypto, prune };
}
