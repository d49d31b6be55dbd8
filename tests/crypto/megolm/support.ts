/** Devices that send, and the parts of the engine that receive. */

import type { OutboundGroupSession } from "@greenroom/vodozemac-wasm";
import { assert } from "@std/assert";
import type { CryptoContext } from "../../../src/crypto/context/context.ts";
import {
  type CryptoDevice,
  type Decryption,
  type DeviceID,
  type DeviceTrust,
  type EventID,
  type JsonObject,
  type MessageEvent,
  type RoomID,
  SyncStream,
  type ToDeviceEvent,
  type UserID,
} from "@greenroom/matrix/types";
import { type AddedKey, InboundSessions } from "../../../src/crypto/megolm/mod.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import type { RecordCache, Transaction, Vault } from "../../../src/crypto/records/mod.ts";
import type { UnusedLimits } from "../../../src/crypto/megolm/unused_sessions.ts";
import type { Undecryptable } from "../../../src/crypto/megolm/encrypted_event.ts";
import { testContext, type TestContextOptions } from "../support/context.ts";
import { memoryVault, step, type Work } from "../support/vault.ts";
import { noteEncryption } from "../../../src/types/events/encryption_info.ts";

export const ROOM: RoomID = "!room:example.org";
export const ALICE: UserID = "@alice:example.org";
export const MALLORY: UserID = "@mallory:example.org";
export const ME: UserID = "@me:example.org";
export const MEGOLM = "m.megolm.v1.aes-sha2";

/** What is known of devices: whatever the test says. */
export class KnownDevices {
  readonly #devices: CryptoDevice[] = [];
  readonly #gone: CryptoDevice[] = [];
  /** Also of devices that are gone. */
  readonly #owners = new Map<string, UserID>();
  /** Users whose devices were read at once. */
  readonly readTogether: (readonly UserID[])[] = [];

  /** Makes a device known, in place of the one of that ID. */
  put(device: CryptoDevice): CryptoDevice {
    this.remove(device);
    this.#devices.push(device);
    this.#owners.set(device.ed25519, device.userId);
    return device;
  }

  remove({ userId, deviceId }: CryptoDevice): void {
    const index = this.#devices.findIndex((known) => known.userId === userId && known.deviceId === deviceId);
    if (index >= 0) this.#gone.unshift(...this.#devices.splice(index, 1));
  }

  /** A device that is gone is remembered as it was last. */
  everByIdentityKey(_tx: Transaction, userId: UserID, curve25519: string): Promise<CryptoDevice | undefined> {
    return Promise.resolve(
      [...this.#devices, ...this.#gone].find((d) => d.userId === userId && d.curve25519 === curve25519),
    );
  }

  byIdentityKey(_tx: Transaction, userId: UserID, curve25519: string): Promise<CryptoDevice | undefined> {
    return Promise.resolve(this.#devices.find((d) => d.userId === userId && d.curve25519 === curve25519));
  }

  /** Own devices that count as signed. */
  readonly spared = new Set<UserID>();

  isSpared(_tx: Transaction, { userId, trust }: Pick<CryptoDevice, "userId" | "trust">): Promise<boolean> {
    return Promise.resolve(trust === "unsigned" && this.spared.has(userId));
  }

  ownerOf(_tx: Transaction, ed25519: string): Promise<UserID | undefined> {
    return Promise.resolve(this.#owners.get(ed25519));
  }

  device(_tx: Transaction, userId: UserID, deviceId: DeviceID): Promise<CryptoDevice | undefined> {
    return Promise.resolve(this.#devices.find((d) => d.userId === userId && d.deviceId === deviceId));
  }

  devicesOf(
    _tx: Transaction,
    users: readonly UserID[],
  ): Promise<ReadonlyMap<UserID, readonly CryptoDevice[]>> {
    this.readTogether.push(users);
    const found = users.map((userId) => [userId, this.#devices.filter((d) => d.userId === userId)] as const);
    return Promise.resolve(new Map(found.filter(([, devices]) => devices.length > 0)));
  }
}

/** The receiving side. */
export class Receiver {
  readonly context: CryptoContext;
  readonly vault: Vault;
  readonly devices = new KnownDevices();
  cache: RecordCache = new RecentMap(10_000);
  inbound: InboundSessions;

  readonly #unused: UnusedLimits | undefined;

  constructor(
    options: TestContextOptions & { readonly vault?: Vault; readonly unused?: UnusedLimits } = {},
  ) {
    this.#unused = options.unused;
    this.context = testContext({ userId: ME, ...options });
    this.vault = options.vault ?? memoryVault();
    this.inbound = this.#make();
  }

  /** Runs a step. */
  step<Result>(work: Work<Result>): Promise<Result> {
    return step(this.vault, this.cache, work);
  }

  /** Forgets all but what is durable. */
  restart(): void {
    this.inbound.clear();
    this.cache = new RecentMap(10_000);
    this.inbound = this.#make();
  }

  #make(): InboundSessions {
    const { context, devices } = this;
    return new InboundSessions(context, devices, devices, undefined, this.#unused);
  }

  /** Receives the room key of a sender. */
  key(sender: Sender, change: JsonObject = {}): Promise<AddedKey> {
    const { userId, curve25519, ed25519 } = sender.device;
    return this.step(async (tx) =>
      await this.inbound.addRoomKey(tx, {
        sender: userId,
        senderKey: curve25519,
        senderEd25519: ed25519,
        device: await this.devices.byIdentityKey(tx, userId, curve25519),
        content: { ...sender.roomKey, ...change },
      })
    );
  }

  /** Decrypts events in one step. */
  decrypt(...events: MessageEvent[]): Promise<Decryption[]> {
    return this.step((tx) => this.inbound.decryption.decryptAll(tx, events));
  }

  /** Decrypts one event. */
  async one(event: MessageEvent): Promise<Decryption> {
    const [decryption] = await this.decrypt(event);
    assert(decryption);
    return decryption;
  }
}

/** A device with new keys. */
export function newDevice(
  { context }: Receiver,
  userId: UserID,
  { deviceId = "DEVICE", trust = "cross-signed" }: { deviceId?: DeviceID; trust?: DeviceTrust } = {},
): CryptoDevice {
  using account = context.vodozemac.olm.createAccount();
  const { curve25519Key: curve25519, ed25519Key: ed25519 } = account;
  const algorithms = ["m.olm.v1.curve25519-aes-sha2", MEGOLM];
  return { userId, deviceId, curve25519, ed25519, algorithms, isDehydrated: false, trust };
}

/** A device with a group session for a room. */
export class Sender {
  readonly device: CryptoDevice;
  readonly roomId: RoomID;
  readonly session: OutboundGroupSession;
  readonly roomKey: JsonObject & { session_key: string };
  #events = 0;

  constructor({ context }: Receiver, device: CryptoDevice, roomId = ROOM) {
    this.device = device;
    this.roomId = roomId;
    this.session = context.vodozemac.megolm.createOutbound();
    this.roomKey = this.laterKey();
  }

  get sessionId(): string {
    return this.session.sessionId;
  }

  /** The room key as a device gets it now. */
  laterKey(): JsonObject & { session_key: string } {
    const { roomId: room_id, session } = this;
    return { algorithm: MEGOLM, room_id, session_id: session.sessionId, session_key: session.sessionKey() };
  }

  /** An encrypted event with a message in it. */
  say(body: string, change: Partial<Record<keyof MessageEvent, unknown>> = {}): MessageEvent {
    return this.wrap({ type: "m.room.message", content: { msgtype: "m.text", body } }, change);
  }

  /** An encrypted event with a payload in it; the room goes by itself. */
  wrap(payload: JsonObject, change: Partial<Record<keyof MessageEvent, unknown>> = {}): MessageEvent {
    return this.seal(JSON.stringify({ room_id: this.roomId, ...payload }), change);
  }

  /** An encrypted event with anything in it. */
  seal(
    plaintext: string | Uint8Array,
    change: Partial<Record<keyof MessageEvent, unknown>> = {},
  ): MessageEvent {
    const { device: { userId, deviceId, curve25519 }, session, roomId } = this;
    const count = ++this.#events;
    return {
      type: "m.room.encrypted",
      event_id: `$${session.sessionId.slice(0, 8)}-${count}` as EventID,
      sender: userId,
      origin_server_ts: 1_700_000_000_000 + count,
      room_id: roomId,
      source: SyncStream.JOINED_ROOM | SyncStream.TIMELINE,
      content: {
        algorithm: MEGOLM,
        ciphertext: session.encrypt(plaintext),
        session_id: session.sessionId,
        sender_key: curve25519,
        device_id: deviceId,
      },
      ...change,
    } as MessageEvent; // a test may change it into what no event should be
  }
}

/** A sender whose device is known and whose key has come. */
export async function knownSender(
  receiver: Receiver,
  userId: UserID = ALICE,
  options: { deviceId?: DeviceID; trust?: DeviceTrust } = {},
): Promise<Sender> {
  const device = receiver.devices.put(newDevice(receiver, userId, options));
  const sender = new Sender(receiver, device);
  await receiver.key(sender);
  return sender;
}

/** A message to this device. */
export function toDevice(sender: UserID, type: string, content: JsonObject): ToDeviceEvent {
  return { type, sender, content, source: SyncStream.TO_DEVICE };
}

/** The text of a decrypted message; what it says instead if it could not be decrypted. */
export function told(decryption: Decryption | undefined): string {
  if (decryption === undefined) return "nothing";
  return "event" in decryption ? String(decryption.event.content.body) : decryption.code;
}

/** The event of a decryption that worked. */
export function read(decryption: Decryption | undefined): MessageEvent {
  assert(decryption !== undefined && "event" in decryption, JSON.stringify(decryption));
  return noteEncryption(decryption.event, decryption);
}

/** Why a decryption did not work. */
export function failure(decryption: Decryption | undefined): Undecryptable {
  assert(decryption !== undefined && "reason" in decryption, JSON.stringify(decryption));
  return decryption;
}
