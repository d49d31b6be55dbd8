/**
 * A process that sends into encrypted rooms, a server that tells it what it wants to know, and
 * devices that receive.
 */

import type { RecordCache, Vault } from "../../../src/crypto/records/mod.ts";
import type { InboundGroupSession } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import type {
  CryptoDevice,
  JsonObject,
  RoomID,
  ShareReport,
  StateEvent,
  UserID,
} from "@greenroom/matrix/types";
import type { NewRecipient } from "@greenroom/matrix";
import { EncryptedRooms, OutboundSessions, type RoomReadiness } from "../../../src/crypto/sharing/mod.ts";
import { Outbox, type OutboxEntry } from "../../../src/crypto/requests/requests.ts";
import type { CryptoPolicy } from "../../../src/crypto/context/context.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { testContext } from "../support/context.ts";
import { memoryVault, step, type Work } from "../support/vault.ts";
import { ALICE, BOB, ME, memberEvent, ROOM } from "./room.ts";
import { device, FakeCopies, FakeDevices, FakeOlm } from "./fakes.ts";

/** What a device was sent. */
export interface Received {
  readonly type: string;
  readonly content: JsonObject;
}

/** The room as the server knows it. */
export interface ServerRoom {
  encryption: JsonObject | undefined;
  visibility: string | undefined;
  readonly members: Map<UserID, "join" | "invite">;
}

/** What may be chosen. */
export interface StageOptions {
  readonly policy?: Partial<CryptoPolicy>;
  /** What has to be in between for commits to fail. */
  readonly vault?: Vault;
}

const receiver = testContext();

const PATIENT = { keysQuery: false, keysClaim: false };

/** One sending process after the other, on one store. */
export class Stage {
  readonly clock = new TestClock();
  readonly devices = new FakeDevices();
  readonly olm = new FakeOlm();
  readonly copies = new FakeCopies();
  readonly room: ServerRoom = {
    encryption: { algorithm: "m.megolm.v1.aes-sha2" },
    visibility: "shared",
    members: new Map([[ME, "join"]]),
  };
  /**
   * What devices were sent, by their Curve25519 keys, or by their names if it was not encrypted.
   */
  readonly received = new Map<string, Received[]>();
  /** How often the server has taken each transaction, and what was in it. */
  readonly taken = new Map<string, string>();
  /** Has commits fail while it says so: before they are durable, or after that. */
  failing: "before" | "after" | undefined;
  policy: Partial<CryptoPolicy>;
  readonly vault: Vault;
  rooms!: EncryptedRooms;
  outbox!: Outbox;
  outbound!: OutboundSessions;
  #cache!: RecordCache;
  #runs = 0;
  #keys: { curve25519: string; ed25519: string } | undefined;

  private constructor({ policy = {}, vault = memoryVault(new MemoryStore()) }: StageOptions) {
    this.policy = policy;
    this.vault = {
      ...vault,
      commit: async (mutations) => {
        if (this.failing === "before") throw new TypeError("The store has failed");
        await vault.commit(mutations);
        if (this.failing === "after") throw new TypeError("The process has ended");
      },
    };
  }

  /** A room with Alice and Bob, of one device each. */
  static async open(options: StageOptions = {}): Promise<Stage> {
    const stage = new Stage(options);
    for (const userId of [ALICE, BOB]) {
      stage.room.members.set(userId, "join");
      stage.devices.put(device(userId, userId === ALICE ? "ALICE1" : "BOB1"));
    }
    await stage.restart();
    return stage;
  }

  /** The process ends, and another begins. */
  async restart(): Promise<void> {
    const context = testContext({ userId: ME, clock: this.clock, policy: this.policy, ...this.#keys });
    this.#keys = { curve25519: context.own.curve25519, ed25519: context.own.ed25519 };
    let names = 0;
    const run = this.#runs++;
    const named = { ...context, uniqueId: () => `unique-${run}-${++names}` };
    this.#cache = new RecentMap(10_000);
    this.rooms = new EncryptedRooms(named);
    this.outbox = new Outbox();
    const { rooms, devices, olm, outbox, copies: inbound } = this;
    const parts = { context: named, rooms, devices, olm, outbox, inbound };
    this.outbound = new OutboundSessions(
      parts as unknown as ConstructorParameters<typeof OutboundSessions>[0],
    );
    await this.step(async (tx) => {
      for (const part of [this.outbox, this.rooms, this.outbound]) await part.load(tx);
    });
  }

  /** One step. */
  step<Result>(work: Work<Result>): Promise<Result> {
    return step(this.vault, this.#cache, work);
  }

  /** One step towards the next event. */
  prepare(
    { tolerate = PATIENT, approved }: { tolerate?: typeof PATIENT; approved?: readonly NewRecipient[] } = {},
  ): Promise<RoomReadiness> {
    return this.step((tx) => this.outbound.prepare(tx, { roomId: ROOM, tolerate, approved }));
  }

  /** Tells what the room is. */
  describe(members: Iterable<[UserID, "join" | "invite"]> = this.room.members): Promise<void> {
    return this.step(async (tx) => {
      const changes = this.rooms.describe(tx, {
        roomId: ROOM,
        encryption: this.room.encryption,
        historyVisibility: this.room.visibility === undefined
          ? undefined
          : { history_visibility: this.room.visibility },
        members: [...members].map(([userId, membership]) => ({ userId, membership })),
      });
      await this.outbound.roomChanged(tx, changes);
    });
  }

  /** A sync response. */
  sync(
    events: readonly StateEvent[],
    { limited = false, lossy = false }: { limited?: boolean; lossy?: boolean } = {},
  ): Promise<void> {
    return this.step(async (tx) => {
      const changes = this.rooms.receiveState(tx, { roomId: ROOM, events, limited, lossy });
      await this.outbound.roomChanged(tx, changes);
    });
  }

  /** A member changes, on the server and in the next sync response. */
  async member(userId: UserID, membership: string, options: { limited?: boolean } = {}): Promise<void> {
    this.noteMember(userId, membership);
    await this.sync([memberEvent(userId, membership)], options);
  }

  /** A member changes on the server. */
  noteMember(userId: UserID, membership: string): void {
    if (membership === "join" || membership === "invite") this.room.members.set(userId, membership);
    else this.room.members.delete(userId);
  }

  /** A device is gone, and the engine receives that. */
  async removeDevice(userId: UserID, deviceId: string): Promise<void> {
    const removed = this.devices.remove(userId, deviceId);
    assert(removed !== undefined);
    await this.step((tx) => this.outbound.devicesChanged(tx, { removed: [removed] }));
  }

  /** The server takes the oldest entries; the answers may get lost. */
  async deliver({ count = Infinity, lost = false }: { count?: number; lost?: boolean } = {}): Promise<void> {
    for (const entry of this.outbox.pending().slice(0, count)) {
      this.#take(entry);
      if (!lost) await this.step((tx) => this.outbound.takeOut(tx, entry));
    }
  }

  /** Does all that a room needs. */
  async ready(roomId: RoomID = ROOM): Promise<ShareReport> {
    assertEquals(roomId, ROOM);
    for (let round = 0; round < 200; round++) {
      const readiness = await this.prepare();
      switch (readiness.needs) {
        case "nothing":
          return readiness.share;
        case "room":
          await this.describe();
          break;
        case "keysQuery":
          this.devices.dirty.clear();
          break;
        case "keysClaim":
          this.olm.claim();
          break;
        case "toDevice":
          await this.deliver();
          break;
        case "approval":
          throw new TypeError(`There is no approval of ${JSON.stringify(readiness.users)}`);
      }
    }
    throw new TypeError("The room never gets ready");
  }

  /** Encrypts if the room is ready. */
  async tryToSend(body = "hello", txnId?: string): Promise<JsonObject | undefined> {
    const content = JSON.stringify({ msgtype: "m.text", body });
    const input = { roomId: ROOM, eventType: "m.room.message", content, txnId };
    return (await this.step((tx) => this.outbound.encrypt(tx, input)))?.content;
  }

  /** Does all that is needed, and encrypts. */
  async send(body?: string, txnId?: string): Promise<JsonObject> {
    const content = await this.tryToSend(body, txnId) ??
      (await this.ready(), await this.tryToSend(body, txnId));
    assert(content !== undefined);
    return content;
  }

  /** The session of the next event, and whether it is another than before. */
  async session(): Promise<string> {
    return (await this.ready()).sessionId;
  }

  /** Everything that a device was sent. */
  inboxOf({ curve25519, deviceId }: CryptoDevice): Received[] {
    return [...this.received.get(curve25519) ?? [], ...this.received.get(deviceId) ?? []];
  }

  /** The keys that a device was sent. */
  keysOf(owner: CryptoDevice): JsonObject[] {
    return this.inboxOf(owner).filter(({ type }) => type === "m.room_key").map(({ content }) => content);
  }

  /** The notices to the device of keys that it does not get. */
  noticesOf(owner: CryptoDevice): JsonObject[] {
    return this.inboxOf(owner).filter(({ type }) => type === "m.room_key.withheld").map(({ content }) =>
      content
    );
  }

  /** Whether a device can decrypt an event with what it was sent. */
  canRead(owner: CryptoDevice, event: JsonObject): boolean {
    return this.read(owner, event) !== undefined;
  }

  /** What a device makes of an event. */
  read(owner: CryptoDevice, event: JsonObject): JsonObject | undefined {
    const { megolm } = receiver.vodozemac;
    for (const { session_id, session_key } of this.keysOf(owner)) {
      if (session_id !== event.session_id) continue;
      using session: InboundGroupSession = megolm.createInbound(String(session_key));
      if (indexOf(event) < session.firstKnownIndex) continue;
      return JSON.parse(new TextDecoder().decode(session.decrypt(String(event.ciphertext)).plaintext));
    }
    return undefined;
  }

  #take(entry: OutboxEntry): void {
    const bytes = JSON.stringify(entry);
    const before = this.taken.get(entry.txnId);
    assert(before === undefined || before === bytes, "a repetition sends other bytes");
    this.taken.set(entry.txnId, bytes);
    if (before !== undefined || entry.kind !== "toDevice") return;
    for (const devices of Object.values(entry.messages)) {
      for (const [deviceId, content] of Object.entries(devices)) {
        const encrypted = entry.eventType === "m.room.encrypted";
        const { to, type, content: inner } = content as { to: string; type: string; content: JsonObject };
        const inbox = this.received.get(encrypted ? to : deviceId) ?? [];
        inbox.push(encrypted ? { type, content: inner } : { type: entry.eventType, content });
        this.received.set(encrypted ? to : deviceId, inbox);
      }
    }
  }
}

/** Users who have no identity, and are to be approved. */
export function unknown(...users: UserID[]): NewRecipient[] {
  return users.map((userId) => ({ userId, master: undefined }));
}

/** The index that an event was encrypted at. */
export function indexOf(event: JsonObject): number {
  return receiver.vodozemac.megolm.messageIndex(String(event.ciphertext));
}
