/**
 * How the engine receives a sync response, and each message to this device in it: one step, durable before
 * anything of it goes on.
 *
 * If a message fails the step in an unforeseen way, the response is received without that message: it would
 * come again and again.
 *
 * Over 300 lines because a message to the device is received in the order of the response.
 *
 * @module
 */

import type { Logger } from "../../base/log.ts";
import { culprits } from "../../base/runs.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import { VERIFICATION_PREFIX } from "../../types/content/encryption_content.ts";
import { EncryptionAlgorithm, Membership } from "../../types/enums.ts";
import {
  type MessageEvent,
  type StateEvent,
  SyncStream,
  type ToDeviceEvent,
} from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { DamagedAccountError } from "../account/account.ts";
import { accepts, type Decryption, senderTrustOf, type ToDeviceMessage } from "../megolm/mod.ts";
import { BUNDLE_TYPES, type OlmDecryption } from "../olm/olm.ts";
import type { Transaction } from "../records/mod.ts";
import type { RoomDescription, RoomStateInput } from "../sharing/mod.ts";
import type { CryptoInput, CryptoOutput, EngineParts, MemberChange } from "./engine_parts.ts";
import { recoverFromRollback, tellsOfRollback } from "./rollback.ts";

/** A sync response to receive. */
export interface SyncStepInput {
  /** What of a sync response concerns encryption. */
  readonly input: CryptoInput;
  /** The indices of messages to this device that are skipped: they failed the step. */
  readonly skip: ReadonlySet<number>;
}

/** A message to this device that failed a step in an unforeseen way. */
export class MessageAtFault extends EncryptionError {
  /** The place of the message in the response. */
  readonly index: number;

  /**
   * @param index The place of the message in the response.
   * @param cause What happened.
   */
  constructor(index: number, cause: unknown) {
    super(`Cannot take in message ${index} to this device: it had the engine fail`, { cause });
    this.index = index;
  }
}

/** Receives a sync response: keys first, then the events that need them. */
export async function receiveSync(
  tx: Transaction,
  parts: EngineParts,
  { input, skip }: SyncStepInput,
): Promise<CryptoOutput> {
  const { ownKeys, inbound, undecryptable, keyRequests, backup, devices, rooms } = parts;
  tx.onCommit(() => parts.context.server.answers++);
  const { oneTimeKeyCounts: counts, unusedFallbackTypes } = input;
  const found = counts && ownKeys.receiveCounts(tx, counts, unusedFallbackTypes);
  if (found === "lost") devices.tracked.changed(tx, [parts.context.own.userId]);
  takeDeviceLists(tx, parts, input);
  const encryptedRooms = new Set<RoomID>();
  for (const { roomId } of input.state) if (rooms.isEncrypted(roomId)) encryptedRooms.add(roomId);
  for (const room of input.state) await receiveRoomState(tx, parts, room);
  // If the room was encrypted after they came, nothing else has shown them before something is sent there.
  const speakers = new Set<UserID>();
  for (const { room_id, sender } of input.encrypted) if (rooms.isEncrypted(room_id)) speakers.add(sender);
  devices.tracked.track(tx, speakers);
  const { toDevice, newKeys } = await takeToDevice(tx, parts, { input, skip });
  const again = new Set<number>();
  const { handledBefore } = input;
  const decrypted = await inbound.decryption.decryptAll(tx, input.encrypted, { handledBefore, again });
  const underway: number[] = [];
  const distrusted = new Set<UserID>();
  for (const [index, event] of input.encrypted.entries()) {
    const result = decrypted[index] as Decryption;
    if ("event" in result) {
      if (again.has(index) || !undecryptable.delivered(tx, event)) underway.push(index);
    } else if (input.isIgnored !== true) {
      if (result.code === "UNTRUSTED") distrusted.add(event.sender);
      if (undecryptable.add(tx, event, result)) {
        await keyRequests.want(tx, event);
        tx.leadsToRequest ||= backup.used !== undefined; // which may have the key
      }
    }
  }
  // An application service is not shown that a room is encrypted which its own user joins: nothing else
  // has their senders looked up, so that their devices stay unknown.
  devices.tracked.track(tx, distrusted);
  const { userId } = parts.context.own;
  // Only own events can show a rollback.
  const hasOwn = input.encrypted.some(({ sender }) => sender === userId);
  if (hasOwn && await tellsOfRollback(tx, parts, { encrypted: input.encrypted, decrypted })) {
    await recoverFromRollback(tx, parts);
  }
  // An earlier process may have stored a key and ended before it tried the events.
  const tried = undecryptable.isUntried ? "all" : newKeys;
  const recovered = tried.length === 0 ? [] : await undecryptable.retry(tx, tried);
  return { toDevice, decrypted, underway, recovered, encryptedRooms };
}

function takeDeviceLists(
  tx: Transaction,
  { devices, rooms }: EngineParts,
  { initial, deviceLists }: CryptoInput,
): void {
  if (initial) {
    rooms.forgetMembers(tx);
    devices.tracked.invalidateAll(tx);
  }
  if (deviceLists.changed.length > 0) devices.tracked.changed(tx, deviceLists.changed);
  if (deviceLists.left.length > 0) devices.left(tx, deviceLists.left);
}

async function takeToDevice(
  tx: Transaction,
  parts: EngineParts,
  { input, skip }: SyncStepInput,
): Promise<{ toDevice: ToDeviceMessage[]; newKeys: MegolmSessionRef[] }> {
  const toDevice: ToDeviceMessage[] = [];
  const newKeys: MegolmSessionRef[] = [];
  for (const [index, event] of input.toDevice.entries()) {
    if (skip.has(index)) continue;
    try {
      const { message, newKey } = await receiveToDevice(tx, parts, event);
      if (message !== undefined) toDevice.push(message);
      if (newKey !== undefined) newKeys.push(newKey);
    } catch (error) {
      if (error instanceof DamagedAccountError) throw error; // without its account no message can be taken in
      throw new MessageAtFault(index, error);
    }
  }
  return { toDevice, newKeys };
}

/** How many messages of each kind may be skipped: a store that fails has all of them fail. */
const MAX_SKIPPED = 10;

/** Receives a sync response. */
export interface SyncStep {
  /** One step, which changes nothing if it fails. */
  take(intake: SyncStepInput): Promise<CryptoOutput>;
  /** Returns whether the step would succeed. Nothing is changed. */
  works(intake: SyncStepInput): Promise<boolean>;
}

/**
 * Receives a sync response, if need be without messages to this device that fail the step, and with
 * failing encrypted events emptied, which makes them malformed.
 */
export async function receiveDespiteFaults(
  input: CryptoInput,
  { step, log }: { readonly step: SyncStep; readonly log: Logger },
): Promise<CryptoOutput> {
  const skip = new Set<number>();
  let { encrypted } = input;
  for (;;) {
    try {
      return await step.take({ input: { ...input, encrypted }, skip });
    } catch (error) {
      if (error instanceof MessageAtFault) {
        if (skip.size === MAX_SKIPPED) throw error;
        log.error("Skipped a message to this device", { error: String(error.cause) });
        skip.add(error.index);
        continue;
      }
      const works = (events: readonly MessageEvent[]) =>
        step.works({ input: { ...input, encrypted: events }, skip });
      const found = encrypted === input.encrypted ? await withoutThoseAtFault(encrypted, works) : undefined;
      if (found === undefined) throw error;
      log.error("Skipped encrypted events", { count: found.atFault, error: String(error) });
      encrypted = found.events;
    }
  }
}

/** The events, with those at fault emptied; undefined if others are at fault, or too many. */
async function withoutThoseAtFault(
  events: readonly MessageEvent[],
  works: (events: readonly MessageEvent[]) => Promise<boolean>,
): Promise<{ readonly events: MessageEvent[]; readonly atFault: number } | undefined> {
  const empty = events.map(emptied);
  if (events.length === 0 || !await works(empty)) return undefined;
  const found = await culprits(
    events.length,
    MAX_SKIPPED,
    (start, end) => works([...empty.slice(0, start), ...events.slice(start, end), ...empty.slice(end)]),
  );
  // Where none is at fault it is the commit that fails.
  if (found === undefined || found.length === 0) return undefined;
  const left = [...events];
  for (const place of found) left[place] = empty[place] as MessageEvent; // one for each event
  return { events: left, atFault: found.length };
}

function emptied({ type, sender, room_id, event_id, origin_server_ts, source }: MessageEvent): MessageEvent {
  return { type, sender, room_id, event_id, origin_server_ts, source, content: {} };
}

/** Receives the state of a room. */
async function receiveRoomState(
  tx: Transaction,
  { rooms, devices, outbound, history }: EngineParts,
  room: RoomStateInput,
): Promise<void> {
  for (const event of room.events) {
    if (event.type === "m.room.member") history.memberEvent(tx, room.roomId, event);
  }
  const changes = rooms.receiveState(tx, room);
  if (changes.track.length > 0) devices.tracked.track(tx, changes.track);
  // Synapse announces no devices of a user who joined one room and was banned from another meanwhile.
  if (changes.joined.length > 0) devices.tracked.changed(tx, changes.joined);
  if (changes.left.length > 0 || changes.settingsChanged) await outbound.roomChanged(tx, changes);
}

/**
 * Receives a change of a member before the sync shows it. Of who was invited it may have shown by now that
 * they have joined, when the answer to the invitation was slower.
 */
export async function receiveMemberChange(
  tx: Transaction,
  parts: EngineParts,
  { roomId, userId, membership }: MemberChange,
): Promise<void> {
  if (membership === Membership.INVITE && parts.rooms.members.hasJoined(roomId, userId)) return;
  const event: StateEvent = {
    type: "m.room.member",
    state_key: userId,
    content: { membership },
    room_id: roomId,
    sender: parts.context.own.userId,
    event_id: "$",
    origin_server_ts: 0,
    source: SyncStream.INTERNAL,
  };
  await receiveRoomState(tx, parts, { roomId, events: [event], limited: false, lossy: false });
}

/** Receives the description of a room. */
export async function receiveDescription(
  tx: Transaction,
  { rooms, devices, outbound }: EngineParts,
  description: RoomDescription,
): Promise<void> {
  const changes = rooms.describe(tx, description);
  devices.tracked.track(tx, changes.track);
  await outbound.roomChanged(tx, changes);
}

/** Types that count only if they came encrypted: otherwise they could be forged. */
const ENCRYPTED_ONLY: ReadonlySet<string> = new Set([
  "m.room_key",
  "m.forwarded_room_key",
  "m.room_key_bundle",
  "m.secret.send",
  "m.secret.push",
  "io.element.msc4268.room_key_bundle",
  "io.element.msc4385.secret.push",
  "m.dummy",
]);

/**
 * Says how a message to this device is received.
 *
 * @returns `encrypted`: it is decrypted; `clear`: it may come in clear; `refused`: it must not come
 *   like this, as an event that is encrypted for a room.
 */
export function classifyToDevice({ type, content }: ToDeviceEvent): "encrypted" | "clear" | "refused" {
  if (type === "m.room.encrypted") {
    return isJsonObject(content) && content.algorithm === EncryptionAlgorithm.OLM_V1
      ? "encrypted"
      : "refused";
  }
  return ENCRYPTED_ONLY.has(type) ? "refused" : "clear";
}

/** The outcome of a message. */
interface TakenMessage {
  /** What handlers get; undefined: nothing, it was for the engine alone. */
  readonly message?: ToDeviceMessage;
  /** The group session of which there is a key now, or a better one. */
  readonly newKey?: MegolmSessionRef;
}

/** Receives a message. Invalid ones are dropped and logged. */
async function receiveToDevice(
  tx: Transaction,
  parts: EngineParts,
  event: ToDeviceEvent,
): Promise<TakenMessage> {
  const { olm, inbound, keyRequests, secretAnswers, context: { log } } = parts;
  switch (classifyToDevice(event)) {
    case "encrypted": {
      const decryption = await olm.decrypt(tx, event);
      if (decryption.kind === "decrypted") return await receiveDecrypted(tx, parts, { event, decryption });
      const { kind, reason } = decryption;
      log[kind === "failed" ? "warn" : "debug"]("A message to this device was not read", {
        sender: event.sender,
        reason,
      });
      return {};
    }
    case "refused":
      log.warn("Dropped a message in clear that has to come encrypted", {
        sender: event.sender,
        type: event.type,
      });
      return {};
    case "clear":
      if (event.type === "m.room_key_request") await keyRequests.answers.receive(tx, event);
      if (event.type === "m.secret.request") await secretAnswers.receive(tx, event);
      if (event.type === "m.room_key.withheld" || event.type === "org.matrix.room_key.withheld") {
        await inbound.withheld.receive(tx, event);
      }
      return { message: { event } };
  }
}

/** A message that was decrypted. */
interface Decrypted {
  readonly event: ToDeviceEvent;
  readonly decryption: Extract<OlmDecryption, { kind: "decrypted" }>;
}

async function receiveDecrypted(
  tx: Transaction,
  { inbound, devices, keyRequests, secretRequests, history, context: { log, policy } }: EngineParts,
  { event, decryption }: Decrypted,
): Promise<TakenMessage> {
  const { payload: { type, content }, senderKey, senderEd25519, device, deviceKeys } = decryption;
  const { sender, source } = event;
  switch (type) {
    case "m.room_key": {
      const added = await inbound.addRoomKey(tx, {
        sender,
        senderKey,
        senderEd25519,
        device,
        deviceKeys,
        content,
      });
      if (added.kind === "refused") {
        log.warn("Refused a room key", { sender, reason: added.reason });
        return {};
      }
      keyRequests.received(tx, added);
      return { newKey: added.session };
    }
    case "m.forwarded_room_key":
      return { newKey: await keyRequests.receiveForward(tx, { sender, device, content }) };
    case BUNDLE_TYPES[0]:
    case BUNDLE_TYPES[1]:
      history.announced(tx, { sender, device, deviceKeys, senderKey, senderEd25519, content });
      return {};
    case "m.secret.send":
      await secretRequests.receive(tx, { sender, device, content });
      return {};
    default: {
      // Secrets that were not requested must not reach handlers.
      if (ENCRYPTED_ONLY.has(type)) return {};
      const senderTrust = senderTrustOf(device);
      const isSpared = device !== undefined && await devices.isSpared(tx, device);
      // It need not be encrypted at all: with it a device comes to be trusted.
      const isVerifying = type.startsWith(VERIFICATION_PREFIX);
      if (!isVerifying && !accepts(policy.accept, { trust: senderTrust, source: "direct", isSpared })) {
        log.warn("Dropped a message of a device that is not trusted enough: see encryption.accept", {
          sender,
          type,
          device: device?.deviceId,
          trust: senderTrust,
        });
        return {};
      }
      const encryption = { senderKey, senderDevice: device?.deviceId, senderTrust };
      return { message: { event: { type, content, sender, source }, encryption } };
    }
  }
}
