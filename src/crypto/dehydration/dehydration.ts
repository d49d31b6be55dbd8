/**
 * Dehydrated devices: makes them, and reads what was sent to one while no device of the user was
 * there.
 *
 * What a page has brought is durable together with where the next one begins; the device on the
 * server is replaced after the last one only. So whatever a crash leaves, nothing has to be read
 * twice, and nothing is lost. Of the messages only room keys count: who has made such a device can't be
 * asked, and answers nothing.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import type { DehydratedDevice, DehydratedDeviceUpload } from "../../types/api/device_keys.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isReceivedUserId, type MegolmSessionRef } from "../../types/identifiers.ts";
import type { DeviceID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { type KnownDevices, SenderDeviceKeys } from "../devices/mod.ts";
import { encodeBase64 } from "../../types/base64.ts";
import type { CryptoContext } from "../context/context.ts";
import { DAY_MS, type RecordKey, recordKey, RECORDS_A_STEP, type Transaction } from "../records/mod.ts";
import type { OwnIdentity } from "../identity/identity.ts";
import type { InboundSessions, UndecryptableEvents } from "../megolm/mod.ts";
import { readOlmPayload, senderRefusal } from "../olm/olm.ts";
import type { KeyRequests } from "../key_requests/key_requests.ts";
import { RateLimit } from "../requests/requests.ts";
import {
  type DehydrationState,
  type MadeDevice,
  newDehydratedDevice,
  newPickleKey,
  readDeviceData,
  type ReadingOutcome,
  type ReadingState,
  RehydratedDevice,
  type RehydratedOutput,
  type RehydratedPage,
  SESSION_KIND,
} from "./new_device.ts";
import { readKeySecret } from "../secrets/secrets.ts";

export { PICKLE_KEY_SECRETS } from "./new_device.ts";
export type * from "./new_device.ts";

/** How many messages are read of one device: a year of a busy user's. */
const MAX_MESSAGES = 100_000;
/** How many sessions a user may begin with it: each takes a record until all is read. */
const NEW_SESSIONS = { times: 1_000, periodMs: DAY_MS, names: 10_000 };
/** Longer tokens of a server are not kept. */
const MAX_TOKEN = 4_096;

/** A device that is being read. */
interface ReadingRecord extends ReadingState {
  /** Its signing key, in unpadded base64. */
  readonly ed25519: string;
  /** The state of its account; secret. Absent: all was read. */
  readonly account?: Uint8Array;
}

/** What is stored. */
interface DehydrationRecord {
  /** The key that encrypts dehydrated devices; secret. */
  readonly key?: Uint8Array;
  /** Whether that key, and the one in secret storage, may be known to others. */
  readonly isKeyOld?: true;
  /** The device that was made last. */
  readonly made?: MadeDevice;
  /** The one that is being read. */
  readonly reading?: ReadingRecord;
}

/** Neither in the cache nor in memory after a step: what is not there can't leak. */
const RECORD: RecordKey<DehydrationRecord> = { ...recordKey("dehydration"), held: true, passing: true };

/** Makes dehydrated devices, and reads them. */
export class Dehydration {
  readonly #options;
  readonly #senderKeys: SenderDeviceKeys;
  readonly #newSessions: RateLimit;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** Signs new devices. */
    readonly ownIdentity: Pick<OwnIdentity, "known" | "signWith">;
    /** The devices of senders. */
    readonly devices: KnownDevices;
    /** Takes room keys. */
    readonly inbound: Pick<InboundSessions, "addRoomKey">;
    readonly keyRequests: Pick<KeyRequests, "received">;
    /** The events that wait for keys. */
    readonly undecryptable: Pick<UndecryptableEvents, "retry">;
  }) {
    this.#options = options;
    const { context } = options;
    this.#senderKeys = new SenderDeviceKeys(() => context.vodozemac);
    this.#newSessions = new RateLimit(context.clock, NEW_SESSIONS);
  }

  /** How it is. */
  async state(tx: Transaction): Promise<DehydrationState> {
    const { key, isKeyOld = false, made, reading } = await tx.get(RECORD) ?? {};
    const { phase, missing } = this.#options.ownIdentity.known ?? {};
    const canSign = phase === "published" && missing?.includes("selfSigning") !== true;
    return { hasKey: key !== undefined, isKeyOld, canSign, made, reading: reading && stateOf(reading) };
  }

  /** Keeps the key that secret storage has; returns whether it is one. */
  async keepKey(tx: Transaction, secret: string): Promise<boolean> {
    const key = readKeySecret(secret);
    if (key === undefined) return false;
    tx.set(RECORD, { ...await tx.get(RECORD), key });
    return true;
  }

  /** The key for secret storage, which has none: the one that is here, or a new one. */
  async keyToStore(tx: Transaction): Promise<string> {
    const record = await tx.get(RECORD);
    const key = record?.key ?? newPickleKey();
    tx.set(RECORD, { ...record, key });
    return encodeBase64(key);
  }

  /** Notes that the identity is replaced: what opened its private keys may have opened this key, too. */
  async outdate(tx: Transaction): Promise<void> {
    tx.set(RECORD, { ...await tx.get(RECORD), isKeyOld: true });
  }

  /** Makes another key in place of one that is {@link outdate outdated}, for secret storage. */
  async renewKey(tx: Transaction): Promise<string> {
    const key = newPickleKey();
    tx.set(RECORD, { ...await tx.get(RECORD), key });
    return encodeBase64(key);
  }

  /** Notes that secret storage has the other key. */
  async renewed(tx: Transaction): Promise<void> {
    const { isKeyOld: _, ...record } = await tx.get(RECORD) ?? {};
    tx.set(RECORD, record);
  }

  /**
   * Makes a device that is to take the place of the one on the server.
   *
   * @returns The device; undefined if there is no key to encrypt or to sign it with.
   */
  async create(tx: Transaction): Promise<DehydratedDeviceUpload | undefined> {
    const { context: { vodozemac, own: { userId }, clock }, ownIdentity } = this.#options;
    const record = await tx.get(RECORD);
    if (record?.key === undefined || ownIdentity.known?.phase !== "published") return undefined;
    const upload = await newDehydratedDevice(vodozemac, {
      userId,
      key: record.key,
      crossSign: (object) => ownIdentity.signWith(tx, "selfSigning", object),
    });
    if (upload === undefined) return undefined;
    const made = { deviceId: upload.device_id, at: clock.now(), isUploaded: false };
    tx.set(RECORD, { ...record, made });
    return upload;
  }

  /** Notes that the server has the device that was made. */
  async uploaded(tx: Transaction, deviceId: DeviceID): Promise<void> {
    const record = await tx.get(RECORD);
    if (record?.made?.deviceId !== deviceId) return;
    tx.set(RECORD, { ...record, made: { ...record.made, isUploaded: true } });
  }

  /** Begins to read a device, or goes on where it was left. */
  async begin(tx: Transaction, { device_id, device_data }: DehydratedDevice): Promise<ReadingOutcome> {
    const { vodozemac } = this.#options.context;
    const record = await tx.get(RECORD);
    if (record?.reading?.deviceId === device_id) return "reading";
    if (record?.reading !== undefined) return "busy";
    if (record?.key === undefined) return "unreadable";
    using account = readDeviceData(vodozemac, device_data, record.key);
    if (account?.curve25519Key !== device_id) return "unreadable";
    const reading = {
      deviceId: device_id,
      ed25519: account.ed25519Key,
      account: account.state(),
      isRead: false,
      messages: 0,
      keys: 0,
    };
    tx.set(RECORD, { ...record, reading });
    return "reading";
  }

  /** Receives messages to the device that is being read; those of another one are left out. */
  async receive(tx: Transaction, { deviceId, events, next }: RehydratedPage): Promise<RehydratedOutput> {
    const record = await tx.get(RECORD);
    const before = record?.reading;
    if (before?.deviceId !== deviceId || before.account === undefined) {
      return { reading: before && stateOf(before), recovered: [] };
    }
    const { sessions, account } = await this.#keysIn(tx, before, events);
    const messages = before.messages + events.length;
    const { ed25519 } = before;
    const read = { deviceId, ed25519, messages, keys: before.keys + sessions.length };
    const from = next === undefined ? before.from : next.from;
    const isRead = next !== undefined && !this.#goesOn(before, { messages, from });
    const reading: ReadingRecord = isRead ? { ...read, isRead } : { ...read, isRead, account, from };
    tx.set(RECORD, { ...record, reading });
    return { reading: stateOf(reading), recovered: await this.#options.undecryptable.retry(tx, sessions) };
  }

  /**
   * Clears some of what is left of a device that was read, or is not to be read any further.
   *
   * @returns Whether nothing is left.
   */
  async clear(tx: Transaction): Promise<boolean> {
    const left = await tx.page({ limit: RECORDS_A_STEP }, SESSION_KIND);
    for (const [parts] of left) tx.delete(recordKey(SESSION_KIND, ...parts));
    if (left.length === RECORDS_A_STEP) return false;
    const { reading: _reading, ...kept } = await tx.get(RECORD) ?? {};
    tx.set(RECORD, kept);
    return true;
  }

  /** Returns whether there is another page: a server may go on for ever. */
  #goesOn(
    before: ReadingRecord,
    { messages, from }: { readonly messages: number; readonly from: string | undefined },
  ): boolean {
    if (from === undefined) return false;
    if (messages < MAX_MESSAGES && from !== before.from && from.length <= MAX_TOKEN) return true;
    const problem = "Did not read all messages to a dehydrated device: the server has no end";
    this.#options.context.log.warn(problem, { messages });
    return false;
  }

  /** Takes the room keys out of messages; returns the sessions that can be read now, or further. */
  async #keysIn(
    tx: Transaction,
    { deviceId, ed25519, account: state }: ReadingRecord,
    events: readonly unknown[],
  ): Promise<{ readonly sessions: MegolmSessionRef[]; readonly account: Uint8Array }> {
    const { context } = this.#options;
    const own = { userId: context.own.userId, deviceId, curve25519: deviceId, ed25519 };
    const account = context.vodozemac.olm.restoreAccount(state ?? new Uint8Array());
    using device = new RehydratedDevice({ context, own, account, newSessions: this.#newSessions });
    const sessions: MegolmSessionRef[] = [];
    const reasons = new Map<string, number>();
    for (const event of events) {
      const taken = await this.#take(tx, device, { own, event });
      if (typeof taken === "string") reasons.set(taken, (reasons.get(taken) ?? 0) + 1);
      else for (const session of taken) sessions.push(session);
    }
    if (reasons.size > 0) {
      context.log.debug("Left out messages to a dehydrated device", Object.fromEntries(reasons));
    }
    return { sessions, account: device.state };
  }

  /** Takes one message; returns the reason if it is not used. */
  async #take(
    tx: Transaction,
    rehydrated: RehydratedDevice,
    { own, event }: { readonly own: CryptoContext["own"]; readonly event: unknown },
  ): Promise<readonly MegolmSessionRef[] | string> {
    if (!isToDevice(event)) return "it is no encrypted message";
    const opened = await rehydrated.open(tx, event);
    if (typeof opened === "string") return opened;
    const { peer, plaintext } = opened;
    const { devices, inbound, keyRequests } = this.#options;
    const device = await devices.byIdentityKey(tx, peer.userId, peer.curve25519);
    const read = readOlmPayload(plaintext, { peer, device, own, senderKeys: this.#senderKeys });
    if (typeof read === "string") return read;
    const { payload: { type, content }, senderEd25519, deviceKeys } = read;
    if (type !== "m.room_key") return "it is no room key";
    const from = { sender: peer.userId, device, deviceKeys };
    const refusal = await senderRefusal(tx, devices, { ...from, type });
    if (refusal !== undefined) return refusal;
    const key = { ...from, senderKey: peer.curve25519, senderEd25519, content };
    const added = await inbound.addRoomKey(tx, key);
    if (added.kind === "refused") return added.reason;
    keyRequests.received(tx, added);
    return added.kind === "known" ? [] : [added.session];
  }
}

function stateOf({ deviceId, from, isRead, messages, keys }: ReadingRecord): ReadingState {
  return { deviceId, from, isRead, messages, keys };
}

function isToDevice(event: unknown): event is ToDeviceEvent {
  return isJsonObject(event) && event.type === "m.room.encrypted" && isReceivedUserId(event.sender);
}
