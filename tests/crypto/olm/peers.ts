/** Devices with an account and channels, over vaults in memory. */

import type { RecordCache, Vault } from "../../../src/crypto/records/mod.ts";
import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertRejects } from "@std/assert";
import type { CryptoContext } from "../../../src/crypto/context/context.ts";
import type {
  CryptoDevice,
  DeviceID,
  JsonObject,
  KeysUploadRequest,
  ToDeviceEvent,
  UserID,
} from "@greenroom/matrix/types";
import { OlmChannels, type OlmDecryption } from "../../../src/crypto/olm/olm.ts";
import { Outbox } from "../../../src/crypto/requests/requests.ts";
import { OwnKeys } from "../../../src/crypto/account/account.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { testContext } from "../support/context.ts";
import { memoryVault, step, type Work } from "../support/vault.ts";
import { KeyServer, toDevice } from "./key_server.ts";

export interface PeerOptions {
  readonly userId: UserID;
  readonly deviceId?: DeviceID;
  readonly server?: KeyServer;
  readonly clock?: TestClock;
  readonly store?: MemoryStore;
  readonly vodozemac?: Vodozemac;
}

/** A device of ours, with what it takes to restart it, and to have its commits fail. */
export class Peer {
  readonly server: KeyServer;
  readonly clock: TestClock;
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  store: MemoryStore;
  /** Whether the next commit fails. */
  failing = false;
  /** The keys that were written by the last step. */
  written: string[] = [];
  cache: RecordCache = new RecentMap(10_000);
  context!: CryptoContext;
  keys!: OwnKeys;
  olm!: OlmChannels;
  outbox!: Outbox;
  readonly #vodozemac: Vodozemac | undefined;
  readonly #vault: Vault;

  private constructor(options: PeerOptions) {
    this.server = options.server ?? new KeyServer();
    this.clock = options.clock ?? new TestClock();
    this.userId = options.userId;
    this.deviceId = options.deviceId ?? "DEVICE";
    this.store = options.store ?? new MemoryStore();
    this.#vodozemac = options.vodozemac;
    const vault = () => memoryVault(this.store);
    this.#vault = {
      ...vault(),
      getMany: (keys) => vault().getMany(keys),
      list: (prefix, options) => vault().list(prefix, options),
      commit: async (mutations) => {
        if (this.failing) {
          this.failing = false;
          throw new TypeError("The disk is full");
        }
        this.written = mutations.map(({ key }) => key[1] ?? "");
        await vault().commit(mutations);
      },
    };
  }

  /** Opens a device, and uploads its keys. */
  static async open(options: PeerOptions): Promise<Peer> {
    const peer = new Peer(options);
    await peer.restart();
    await peer.upload();
    return peer;
  }

  /** Opens a device without uploading its keys. */
  static async unpublished(options: PeerOptions): Promise<Peer> {
    const peer = new Peer(options);
    await peer.restart();
    return peer;
  }

  /** Clears the memory, and restarts with the store. */
  async restart(): Promise<void> {
    const { userId, deviceId, clock } = this;
    const vodozemac = this.#vodozemac;
    this.keys?.clear();
    this.olm?.sessions.clear();
    this.cache = new RecentMap(10_000);
    await this.step(async (tx) => {
      const base = testContext({ userId, deviceId, clock, vodozemac });
      this.keys = await OwnKeys.open(tx, () => base.vodozemac, { userId, deviceId }, clock, base.log);
      this.context = { ...base, own: this.keys.own, uniqueId: () => crypto.randomUUID() };
      this.outbox = new Outbox();
      const { context, keys: ownKeys, server: devices, outbox } = this;
      this.olm = new OlmChannels({ context, ownKeys, devices, outbox });
      await this.outbox.load(tx);
      await this.olm.load(tx);
    });
  }

  /** A copy of what is in the store now. */
  async snapshot(): Promise<MemoryStore> {
    const copy = new MemoryStore();
    const entries = await Array.fromAsync(this.store.list([]));
    await copy.commit(entries.map(({ key, value }) => ({ type: "set", key, value: structuredClone(value) })));
    return copy;
  }

  /** Restarts with an earlier copy of the store. */
  async setBack(store: MemoryStore): Promise<void> {
    this.store = store;
    await this.restart();
  }

  /** Runs a step. */
  step<Result>(work: Work<Result>): Promise<Result> {
    return step(this.#vault, this.cache, work);
  }

  /** Runs a step whose commit fails, as in a crash; then restarts. */
  async crash(work: Work<unknown>): Promise<void> {
    this.failing = true;
    await assertRejects(
      () =>
        this.step(async (tx) => {
          await work(tx);
          // So that there is something to commit.
          tx.set({ path: ["crypto", "test-mark"], id: "test-mark" }, 1);
        }),
      TypeError,
      "The disk is full",
    );
    await this.restart();
  }

  /** Uploads what is to be uploaded. */
  async upload(): Promise<KeysUploadRequest | undefined> {
    const request = this.keys.nextUpload();
    if (request === undefined) return undefined;
    const response = this.server.upload(this.userId, this.deviceId, request);
    await this.step((tx) => this.keys.receiveUpload(tx, request, response));
    return request;
  }

  /** This device, as others know it. */
  get device(): CryptoDevice {
    return toDevice(this.keys.deviceKeys());
  }

  /** Has a session with another device made, if there is none. */
  async meet(other: Peer): Promise<void> {
    await this.step((tx) => this.olm.claims.want(tx, [other.device]));
    await this.claim();
  }

  /** Claims what is to be claimed; what the server says may be changed. */
  async claim(change: (response: JsonObject) => JsonObject = (response) => response) {
    const claim = this.olm.claims.next(this.clock.now());
    if (claim === undefined) return undefined;
    const response = change(this.server.claim(claim));
    return await this.step((tx) => this.olm.handshakes.receive(tx, claim, response));
  }

  /** Encrypts a message, durably. */
  async send(other: Peer, content: JsonObject = {}, type = "m.room_key"): Promise<ToDeviceEvent> {
    const encrypted = await this.step((tx) => this.olm.encrypt(tx, other.device, type, content));
    assert(encrypted !== undefined, "there is no session");
    return this.event(encrypted);
  }

  /** A message as the server brings it. */
  event(content: JsonObject, type = "m.room.encrypted"): ToDeviceEvent {
    const copy = JSON.parse(JSON.stringify(content));
    return { type, sender: this.userId, content: copy, source: "toDevice" } as unknown as ToDeviceEvent;
  }

  /** Decrypts a message, durably. */
  receive(event: ToDeviceEvent): Promise<OlmDecryption> {
    return this.step((tx) => this.olm.decrypt(tx, event));
  }

  /** Decrypts a message, which has to be possible; gives its content. */
  async read(event: ToDeviceEvent): Promise<JsonObject> {
    const result = await this.receive(event);
    assert(result.kind === "decrypted", "reason" in result ? result.reason : "");
    return result.payload.content;
  }

  /** Takes the messages out of the outbox, as the server brings them. */
  async sent(): Promise<ToDeviceEvent[]> {
    const entries = this.outbox.pending();
    await this.step((tx) => {
      for (const { id } of entries) this.outbox.remove(tx, id);
    });
    return entries.flatMap((entry) =>
      entry.kind !== "toDevice"
        ? []
        : Object.values(entry.messages).flatMap((devices) =>
          Object.values(devices).map((content) => this.event(content, entry.eventType))
        )
    );
  }
}

/** Alice and Bob, who know each other's devices. */
export async function aliceAndBob(): Promise<
  { alice: Peer; bob: Peer; server: KeyServer; clock: TestClock }
> {
  const server = new KeyServer();
  const clock = new TestClock();
  const alice = await Peer.open({ userId: "@alice:example.org", deviceId: "ALICE", server, clock });
  const bob = await Peer.open({ userId: "@bob:example.org", deviceId: "BOB", server, clock });
  return { alice, bob, server, clock };
}

/** The ciphertext that is in a message. */
export function ciphertextOf(event: ToDeviceEvent): { type: number; body: string } {
  const [part] = Object.values(event.content.ciphertext as Record<string, { type: number; body: string }>);
  assert(part !== undefined);
  return part;
}

/** A message with another ciphertext for the same device. */
export function withCiphertext(event: ToDeviceEvent, part: unknown): ToDeviceEvent {
  const [key = ""] = Object.keys(event.content.ciphertext as JsonObject);
  return { ...event, content: { ...event.content, ciphertext: { [key]: part } } };
}

/** A message whose MAC is wrong. */
export function garbled(event: ToDeviceEvent): ToDeviceEvent {
  const { type, body } = ciphertextOf(event);
  const bytes = Uint8Array.fromBase64(body);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return withCiphertext(event, { type, body: bytes.toBase64({ omitPadding: true }) });
}
