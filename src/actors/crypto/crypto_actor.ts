/**
 * The Crypto actor: the engine behind a mailbox.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../crypto/engine/engine.ts";
import type { CryptoPolicy } from "../../crypto/engine/policy.ts";
import type { Vault } from "../../crypto/records/vault.ts";
import { EncryptionError } from "../../errors/crypto_error.ts";
import type { Logger } from "../../base/log.ts";
import type { Actor, ActorRef } from "../kernel/actor.ts";
import type { CryptoProtocol } from "./crypto_protocol.ts";
import { spawn } from "../kernel/spawn.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";

/** What the Crypto actor is made of. */
export interface CryptoActorOptions {
  /** Keeps the engine's records. */
  readonly store: ActorRef<StoreProtocol>;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it is told what goes on. */
  readonly log: Logger;
  /** What the engine goes by. */
  readonly policy: CryptoPolicy;
}

/** Starts the Crypto actor. Its engine, and vodozemac with it, is loaded from now on, while the client finds out who acts. */
export function spawnCrypto({ store, clock, log, policy }: CryptoActorOptions): Actor<CryptoProtocol> {
  const vault = storeVault(store);
  import("../../crypto/engine/engine.ts").catch(() => {}); // whoever opens it is told
  let opened: Engine | undefined;
  const engine = (): Engine => {
    if (opened !== undefined) return opened;
    throw new EncryptionError("Cannot use encryption: it has not been opened for a device yet");
  };
  return spawn<CryptoProtocol>({
    name: "crypto",
    log,
    handlers: {
      open: async (account) => {
        if (opened === undefined) {
          const { Engine } = await import("../../crypto/engine/engine.ts");
          opened = await Engine.open({ account, vault, clock, log, policy });
        }
        return opened.identity();
      },
      receiveSync: (input) => engine().receiveSync(input),
      decrypt: (event) => engine().decrypt(event),
      requests: () => engine().requests(),
      answer: (answer) => engine().answer(answer),
      fail: (failure) => engine().fail(failure),
      prepare: (input) => engine().prepare(input),
      describeRoom: (description) => engine().describeRoom(description),
      memberChanged: (change) => engine().memberChanged(change),
      encrypt: (input) => engine().encrypt(input),
      roomEventSent: (event) => engine().roomEventSent(event),
      noteSent: () => opened?.noteSent(),
      settle: (events) => engine().settle(events),
      discardGroupSession: (roomId) => engine().discardGroupSession(roomId),
      devicesOf: (users) => engine().devicesOf(users),
      areDevicesStale: ({ users, since }) => engine().areDevicesStale(users, since),
      setDeviceTrust: (input) => engine().setDeviceTrust(input),
      identityOf: (userId) => engine().identityOf(userId),
      acknowledgeIdentity: (identity) => engine().acknowledgeIdentity(identity),
      prune: (options) => engine().prune(options),
    },
    onStop: () => opened?.close(),
  });
}

/** The Store, as the engine sees it. A commit that fails ends the Store, and everything with it. */
function storeVault(store: ActorRef<StoreProtocol>): Vault {
  return {
    getMany: (keys) => store.ask("readRecords", keys),
    list: (prefix, limit) => store.ask("listRecords", { prefix, limit }),
    commit: (mutations) => store.ask("commitRecords", mutations),
    defer: (mutations) => store.ask("deferRecords", mutations),
    flush: () => store.ask("flush", undefined),
  };
}
