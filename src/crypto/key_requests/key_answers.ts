/**
 * Answers to own devices that ask for keys; and the own devices that this one asks:
 * they are verified, and only those that were asked may answer.
 *
 * @module
 */

import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isOpaqueId, isReceivedRoomId, type MegolmSessionRef } from "../../types/identifiers.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { CryptoDevice, DeviceLists } from "../devices/mod.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import type { ExportedSession, InboundSessions } from "../megolm/mod.ts";
import type { OlmChannels, OlmClaims } from "../olm/olm.ts";
import { FairRecords, type Transaction } from "../records/mod.ts";
import type { OutboundSessions } from "../sharing/mod.ts";
import { type Outbox, SharedRateLimit } from "../requests/requests.ts";

/** The parts that it needs. */
export interface KeyAnswersOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** Other devices. */
  readonly devices: Pick<DeviceLists, "device">;
  readonly olm: Pick<OlmChannels, "encrypt"> & { readonly claims: Pick<OlmClaims, "want"> };
  /** What is on its way to the server. */
  readonly outbox: Pick<Outbox, "add">;
  /** Sessions that decrypt. */
  readonly inbound: Pick<InboundSessions, "exportSession">;
  /** Who got the keys of own sessions. */
  readonly outbound: Pick<OutboundSessions, "sharedAt">;
}

/** Who asks, and how the request is called. */
interface Asker {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  readonly requestId: string;
}

/** A request that has to wait for an Olm session. */
interface PendingAnswer extends Asker, MegolmSessionRef {}

const MAX_PENDING = 200;
const PER_DEVICE = { times: 100, periodMs: 60 * 60 * 1_000 };
const MAX_IN_ALL = 1_000;

/**
 * Answers key requests of devices: own verified devices get any key that this device has, unless only a
 * backup or an inviter says whose it is, and devices that have had a key get it again from the same index.
 * All others get nothing; only own devices get a reply.
 */
export class KeyAnswers {
  readonly #options: KeyAnswersOptions;
  readonly #pending = new FairRecords<PendingAnswer, Asker>(
    "keyAnswer",
    MAX_PENDING,
    ({ userId, deviceId, requestId }) => [userId, deviceId, requestId],
    ({ deviceId }) => deviceId,
  );
  readonly #limit: SharedRateLimit;

  /** @param options The parts that it needs. */
  constructor(options: KeyAnswersOptions) {
    this.#options = options;
    this.#limit = new SharedRateLimit(options.context.clock, PER_DEVICE, MAX_IN_ALL);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    await this.#pending.load(tx);
  }

  /** Receives an `m.room_key_request`. */
  async receive(tx: Transaction, { sender, content }: ToDeviceEvent): Promise<void> {
    const { context } = this.#options;
    if (!context.policy.answerKeyRequests) return;
    const { action, requesting_device_id: deviceId, request_id: requestId, body } = content;
    if (!isOpaqueId(deviceId) || !isOpaqueId(requestId)) return;
    if (sender === context.own.userId && deviceId === context.own.deviceId) return;
    const asker = { userId: sender, deviceId, requestId };
    if (action === "request_cancellation") return this.#pending.delete(tx, asker);
    if (action !== "request" || !isJsonObject(body) || body.algorithm !== EncryptionAlgorithm.MEGOLM_V1) {
      return;
    }
    const { room_id, session_id: sessionId } = body;
    if (!isReceivedRoomId(room_id) || !isOpaqueId(sessionId)) return;
    await this.#answer(tx, { ...asker, roomId: room_id, sessionId });
  }

  /** Answers the requests that had to wait for an Olm session. */
  async retry(tx: Transaction): Promise<void> {
    for (const pending of this.#pending.values) {
      this.#pending.delete(tx, pending);
      await this.#answer(tx, pending);
    }
  }

  async #answer(tx: Transaction, asked: PendingAnswer): Promise<void> {
    const { context: { own, log }, devices, inbound, outbound } = this.#options;
    const { userId, deviceId, roomId, sessionId } = asked;
    const device = await devices.device(tx, userId, deviceId);
    if (device === undefined || device.trust === "blacklisted" || device.isDehydrated) return;
    const isOwn = userId === own.userId;
    const trusted = isOwn && device.trust === "verified";
    const from = trusted ? 0 : await outbound.sharedAt(tx, roomId, sessionId, device);
    // Only legitimate requests count: others must not use up the limits.
    if (from === undefined) {
      log.debug("Refused a request for a key", { userId, deviceId, roomId, sessionId });
      if (isOwn && this.#isAllowed(asked)) this.#refuse(tx, asked, "m.unauthorised");
      return;
    }
    if (!this.#isAllowed(asked)) return log.warn("A device asks for too many keys", { userId, deviceId });
    const exported = await inbound.exportSession(tx, { roomId, sessionId }, from);
    // A forwarded key is this device's word for whose it is,
    // which counts more than a backup's or an inviter's.
    const isKnown = exported !== undefined && exported.source !== "backup" && exported.source !== "bundle";
    if (isKnown) return await this.#forward(tx, { asked, device, exported });
    if (isOwn) this.#refuse(tx, asked, "m.unavailable");
  }

  async #forward(
    tx: Transaction,
    { asked, device, exported }: { asked: PendingAnswer; device: CryptoDevice; exported: ExportedSession },
  ): Promise<void> {
    const { olm } = this.#options;
    const content = {
      ...exported.content,
      sender_claimed_ed25519_key: exported.senderEd25519,
      forwarding_curve25519_key_chain: [],
    };
    const encrypted = await olm.encrypt(tx, device, "m.forwarded_room_key", content);
    if (encrypted !== undefined) return this.#send(tx, asked, "m.room.encrypted", encrypted);
    this.#pending.set(tx, asked);
    await olm.claims.want(tx, [device]);
  }

  #refuse(tx: Transaction, asked: PendingAnswer, code: "m.unauthorised" | "m.unavailable"): void {
    const { roomId: room_id, sessionId: session_id } = asked;
    const reason = code === "m.unavailable" ? "The key is not here" : "The device is not verified here";
    const sender_key = this.#options.context.own.curve25519;
    this.#send(tx, asked, "m.room_key.withheld", {
      algorithm: EncryptionAlgorithm.MEGOLM_V1,
      room_id,
      session_id,
      sender_key,
      code,
      reason,
    });
  }

  #send(tx: Transaction, { userId, deviceId }: PendingAnswer, eventType: string, content: JsonObject): void {
    const { context, outbox } = this.#options;
    const messages = { [userId]: { [deviceId]: content } };
    outbox.add(tx, { kind: "toDevice", eventType, messages }, newTxn(context));
  }

  #isAllowed({ userId, deviceId }: PendingAnswer): boolean {
    return this.#limit.take(JSON.stringify([userId, deviceId]), "", userId);
  }
}

/** What was asked, and whom. */
export interface AskedDevices {
  readonly requestId: string;
  /** The devices that were asked: only they may answer. */
  readonly devices: readonly { readonly deviceId: DeviceID; readonly curve25519: string }[];
}

/** A message that came encrypted with Olm, and may be an answer. */
export interface OlmAnswer {
  readonly sender: UserID;
  /** The device that sent it, if it is known. */
  readonly device: CryptoDevice | undefined;
  readonly content: JsonObject;
}

/** The own devices that may be asked. */
export async function devicesToAsk(
  tx: Transaction,
  { context: { own: { userId } }, devices }: {
    readonly context: CryptoContext;
    readonly devices: Pick<DeviceLists, "devicesOf">;
  },
): Promise<CryptoDevice[]> {
  return ((await devices.devicesOf(tx, [userId])).get(userId) ?? []).filter(mayAnswer);
}

/** Returns what is remembered of devices that are asked. */
export function asked(devices: readonly CryptoDevice[]): AskedDevices["devices"] {
  return devices.map(({ deviceId, curve25519 }) => ({ deviceId, curve25519 }));
}

/** Tells all devices that were asked the same: the request, or that it is cancelled. */
export function tellAsked(
  tx: Transaction,
  { context, outbox }: { readonly context: CryptoContext; readonly outbox: Pick<Outbox, "add"> },
  { eventType, request: { requestId, devices }, what }: {
    readonly eventType: string;
    readonly request: AskedDevices;
    readonly what: JsonObject;
  },
): void {
  const { own } = context;
  const content = { ...what, requesting_device_id: own.deviceId, request_id: requestId };
  const messages = { [own.userId]: Object.fromEntries(devices.map(({ deviceId }) => [deviceId, content])) };
  outbox.add(tx, { kind: "toDevice", eventType, messages }, newTxn(context));
}

/**
 * Checks who answers.
 *
 * @param own The own user.
 * @returns The device and the request that it answers, or why the answer does not count.
 */
export function checkedAnswer<Request extends AskedDevices>(
  own: UserID,
  { sender, device }: Omit<OlmAnswer, "content">,
  request: Request | undefined,
): { readonly device: CryptoDevice; readonly request: Request } | string {
  if (sender !== own || device?.userId !== own) return "it came from another user";
  if (!mayAnswer(device)) return "it came from a device that is not verified";
  if (request === undefined) return "it was not requested";
  const { deviceId, curve25519 } = device;
  if (!request.devices.some((each) => each.deviceId === deviceId && each.curve25519 === curve25519)) {
    return "it came from a device that had not been asked";
  }
  return { device, request };
}

function mayAnswer({ trust, isDehydrated }: CryptoDevice): boolean {
  return trust === "verified" && !isDehydrated;
}
