/**
 * A device with Greenroom's whole encryption: the Store, the Crypto actor, its outgoing requests
 * and what a client calls.
 *
 * @module
 */

import { RESTART_DELAY } from "../../src/api/http/mod.ts";
import { type EncryptedClient, EngineRunner, spawnCrypto } from "../../src/actors/crypto/crypto.ts";
import { Encryption } from "../../src/encryption/encryption.ts";
import { spawnStore } from "../../src/actors/store/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { CryptoOutput, EngineRequest } from "../../src/crypto/engine/engine.ts";
import type { RoomDescription } from "../../src/crypto/sharing/mod.ts";
import { DEFAULT_POLICY } from "../../src/crypto/context/context.ts";
import { loggerOf } from "../../src/base/log.ts";
import { KvStore } from "../../src/store/deno_kv/deno_kv.ts";
import { MemoryStore, type Store } from "../../src/store/base/mod.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { MessageEvent, ToDeviceEvent } from "../../src/types/events/event.ts";
import type { DeviceID, RoomID, UserID } from "../../src/types/ids.ts";
import type { JsonObject } from "../../src/types/json.ts";
import { ENCRYPTION } from "./message.ts";
import type { Switchboard } from "./switchboard.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** Where a device keeps its records. */
export type StoreKind = "memory" | "kv" | "sqlite";

/** What a device is made of. */
export interface DeviceOptions {
  readonly userId: UserID;
  readonly switchboard: Switchboard;
  /** Who is in a room. */
  readonly members: (roomId: RoomID) => readonly UserID[];
  readonly store: StoreKind;
}

const DEVICE_ID = "BENCH" as DeviceID;

async function openStore(kind: StoreKind): Promise<Store> {
  if (kind === "memory") return new MemoryStore();
  // The bench's own folder goes when it ends, and these files with it.
  const path = await Deno.makeTempFile({ suffix: `.${kind}` });
  return kind === "kv" ? await KvStore.open(path) : await SqliteStore.open(path);
}

/** One device. */
export class BenchDevice implements AsyncDisposable {
  readonly crypto: Encryption;
  readonly userId: UserID;
  readonly #switchboard: Switchboard;
  readonly #store: ReturnType<typeof spawnStore>;
  readonly #stop: () => Promise<void>;
  #syncs = 0;

  private constructor(
    { userId, switchboard, members }: DeviceOptions,
    store: ReturnType<typeof spawnStore>,
  ) {
    const log = loggerOf(undefined, systemClock, "bench");
    const actor = spawnCrypto(store, { ...DEFAULT_POLICY, ...EVERYBODY }, systemClock, log);
    this.userId = userId;
    this.#switchboard = switchboard;
    this.#store = store;
    const engine = new EngineRunner({
      actor,
      session: {
        account: () => Promise.resolve([userId, DEVICE_ID]),
        http: { clock: systemClock, [RESTART_DELAY]: () => undefined }, // nothing fails here
      },
      ready: () => Promise.resolve(),
      dispatcher: {} as never, // nobody listens
      send: (request) => Promise.resolve(this.#answer(request)),
      describe: (roomId) => Promise.resolve(description(roomId, members(roomId))),
      onNewRecipient: undefined,
      log,
    });
    const client = { api: {}, isDurable: true, hasToken: false, showsRooms: true } as EncryptedClient;
    this.crypto = new Encryption(engine, client); // which asks the server for nothing here
    this.#stop = async () => {
      await this.crypto.stop();
      await store.stop();
    };
  }

  /** Makes a device, which publishes its keys. */
  static async make(options: DeviceOptions): Promise<BenchDevice> {
    const log = loggerOf(undefined, systemClock, "bench");
    const closesStore = { close: true };
    const store = spawnStore({ kv: await openStore(options.store), ...closesStore, log });
    await store.open([options.userId, DEVICE_ID]);
    const device = new BenchDevice(options, store);
    await device.crypto.start(new AbortController().signal); // as a client that syncs
    await device.sync();
    return device;
  }

  /** Receives what was sent to the device, with events of timelines. */
  async sync(encrypted: readonly MessageEvent[] = []): Promise<CryptoOutput> {
    const messages = this.#switchboard.collect(this.userId, DEVICE_ID);
    const nextBatch = `s${this.#syncs++}`;
    const output = await this.crypto.receiveSync({
      nextBatch,
      initial: false,
      handledBefore: true,
      toDevice: messages as unknown as ToDeviceEvent[], // they are, as a server passes them on
      deviceLists: { changed: [], left: [] },
      oneTimeKeyCounts: { signed_curve25519: this.#switchboard.count(this.userId, DEVICE_ID) },
      unusedFallbackTypes: ["signed_curve25519"],
      state: [],
      encrypted,
    });
    // What the sync has changed becomes durable with its token, as it does in a client.
    await this.#store.commitSync({ nextBatch, repeated: false, rooms: [] });
    await this.#store.handled(nextBatch);
    return output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** What is sent and answered is text, as it is on the wire. */
  #answer(request: EngineRequest): JsonObject {
    return throughJson(this.#respond(throughJson(request)));
  }

  #respond(request: EngineRequest): JsonObject {
    switch (request.kind) {
      case "keysUpload":
        return this.#switchboard.upload(this.userId, DEVICE_ID, request.body as unknown as JsonObject);
      case "keysQuery":
        return this.#switchboard.query(request.users);
      case "keysClaim":
        return this.#switchboard.claim(request.oneTimeKeys);
      case "toDevice":
        return this.#switchboard.send(this.userId, request.eventType, request.messages);
      case "signaturesUpload":
      case "backupUpload":
      case "backupVersion":
      case "backupDownload":
      case "historyBundle":
      case "roomEvent":
        return {};
    }
  }
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}

function description(roomId: RoomID, members: readonly UserID[]): RoomDescription {
  return {
    roomId,
    encryption: ENCRYPTION,
    historyVisibility: { history_visibility: "shared" },
    members: members.map((userId) => ({ userId, membership: "join" })),
  };
}
