/**
 * A client's own end-to-end encryption: the Crypto actor, and what stands between it and the rest.
 *
 * @module
 */

import { RESTART_DELAY, type Session } from "../api/http/mod.ts";
import type { ActorRef, Lifecycle } from "../actors/kernel/actor.ts";
import { pruneCrypto, spawnCrypto } from "../actors/crypto/crypto_actor.ts";
import type { DispatcherHandlers } from "../actors/dispatcher/dispatcher.ts";
import { EngineCrypto } from "./engine_crypto.ts";
import type { EncryptionOptions } from "./encryption_options.ts";
import { requestSender } from "../actors/crypto/request_sender.ts";
import { roomDescriber } from "../actors/crypto/room_preparer.ts";
import type { StateStore } from "../actors/store/state_store.ts";
import type { StoreHandlers } from "../actors/store/store_actor.ts";
import { type ClientAPI, coreAPI } from "../api/api.ts";
import { lazyKeyBackup } from "./backup/lazy_key_backup.ts";
import { lazyDehydration } from "./dehydration/lazy_dehydration.ts";
import { EarlyReads } from "./identity/early_reads.ts";
import { policyOf, verificationOptions } from "./chosen.ts";
import type { Logger } from "../base/log.ts";
import { InternalEventType } from "../types/events/internal_event_type.ts";

/** What encryption needs of a client. */
export interface ClientEncryptionParts {
  /** Whose device it is. */
  readonly session: Session;
  /** The operations. */
  readonly api: ClientAPI;
  /** Stores the engine's records. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: (signal?: AbortSignal) => Promise<void>;
  /** Says which rooms are encrypted. */
  readonly stateStore: StateStore;
  /** Delivers events whose key came late. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
  /** Whether the store outlives the process. */
  readonly isDurable: boolean;
  /** Whether the access token was given, and outlives the process. */
  readonly hasToken: boolean;
  /** Whether syncs show what happens in rooms. */
  readonly showsRooms: boolean;
  /** Where encryption logs. */
  readonly log: Logger;
}

/** A client's end-to-end encryption. */
export interface ClientEncryption {
  /** Starts with the client and ends with it. */
  readonly lifecycle: Lifecycle;
  /** What the client calls. */
  readonly crypto: EngineCrypto;
  /** Removes what need not be kept; returns how many records of each kind that was. */
  readonly prune: () => Promise<Readonly<Record<string, number>>>;
}

/** Makes a client's end-to-end encryption. */
export function clientEncryption(
  options: EncryptionOptions,
  parts: ClientEncryptionParts,
): ClientEncryption {
  const { session, api, store, ready, stateStore, dispatcher, isDurable, hasToken, showsRooms, log } = parts;
  const { clock } = session.http;
  const stopping = new AbortController();
  const actor = spawnCrypto({ store, clock, log, policy: policyOf(options) });
  const early = new EarlyReads(api);
  const machines = () => ({ backup: crypto.backup, dehydration: crypto.dehydration });
  const crypto: EngineCrypto = new EngineCrypto({
    actor,
    async account() {
      await ready(stopping.signal);
      const [userId, deviceId] = await session.account({ signal: stopping.signal });
      return { userId, deviceId };
    },
    send: requestSender(api, clock),
    sendToRoom: ({ roomId, type, content, txnId, isClear: disableEncryption }) =>
      api.sendMessageEvent(roomId, type, content, { txnId, disableEncryption, signal: stopping.signal }),
    backup: (parts) => lazyKeyBackup({ ...parts, api: early.api }, { clock, log, http: session.http }),
    async shareHistory(parts, roomId, userId) {
      const { shareHistory } = await import("./history/share_history.ts");
      const waits = { http: session.http, clock, signal: stopping.signal };
      return await shareHistory({ ...parts, ...waits, api, stateStore, log }, { roomId, userId });
    },
    sharesHistory: options.shareHistory === true,
    dehydration: (parts) => lazyDehydration({ ...parts, api, signal: stopping.signal, clock, log }),
    describe: roomDescriber({ core: coreAPI(session), stateStore }),
    deliver: (events) => dispatcher.recover(events),
    alarm(alarm) {
      const event = { type: InternalEventType.DEVICE_ALARM, data: { alarm } };
      dispatcher.announce(event).catch(() => {}); // the client is closed
    },
    onNewRecipient: options.onNewRecipient,
    http: session.http,
    identity: {
      async prepare(identity, using) {
        const { shown, keys } = await identity.known();
        const isDone = shown?.verified === true && keys?.missing?.includes("selfSigning") !== true;
        if (keys?.phase === "created") return;
        const { firstReads, laterReads } = await import("./identity/start_reads.ts");
        early.begin(keys !== undefined && isDone ? laterReads(using) : firstReads(using.backup !== false));
      },
      async verify(identity, using, { isAsked = false } = {}) {
        const { ensureVerified } = await import("./identity/ensure_verified.ts");
        const onNew = () => early.end();
        const parts = { identity, api: early.api, clock, log, ...machines(), isAsked, onNew };
        for (let restarts = 0;; restarts++) {
          try {
            return await ensureVerified(parts, using);
          } catch (error) {
            const delay = session.http[RESTART_DELAY](error, restarts);
            if (delay === undefined) throw error;
            log.warn("Could not be verified, trying again", {
              delay: Math.round(delay),
              error: String(error),
            });
            await clock.delay(delay, { signal: stopping.signal });
          } finally {
            early.end();
          }
        }
      },
      async reset(identity, using) {
        const { resetIdentity } = await import("./identity/reset_identity.ts");
        return await resetIdentity({ identity, api, clock, log, ...machines() }, using);
      },
      async renew(identity, using) {
        const { renewDehydrated } = await import("./dehydration/renew_dehydrated.ts");
        await renewDehydrated({ identity, api, dehydration: crypto.dehydration }, using);
      },
      async request(identity) {
        const { requestSecrets } = await import("./identity/request_secrets.ts");
        return await requestSecrets({ identity, api });
      },
      async examine(identity, using) {
        const { examined } = await import("./identity/doctor.ts");
        return await examined({ identity, api, backup: crypto.backup, session, store, isDurable }, using);
      },
    },
    secrets: verificationOptions(options),
    keysAreLost: hasToken && !isDurable,
    showsRooms,
    clock,
    log,
  });
  const lifecycle: Lifecycle = {
    name: actor.name,
    done: actor.done,
    // Handlers that are still running when the client is closed can send until here.
    async stop() {
      stopping.abort();
      await crypto.stop();
      await actor.stop();
    },
    abandon: () => actor.abandon(),
  };
  const prune = async () => {
    await crypto.identity(); // opens the engine
    return (await pruneCrypto(actor)).removed;
  };
  return { lifecycle, crypto, prune };
}
