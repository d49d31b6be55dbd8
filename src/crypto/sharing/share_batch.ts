/**
 * Keys and notices for as many devices as fit into a request.
 *
 * @module
 */

import { withPauses } from "../../base/runs.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import { OTHER_SHARED } from "../megolm/mod.ts";
import { DEVICES_A_TURN, type Transaction } from "../records/mod.ts";
import type { DeviceMessages } from "../requests/requests.ts";
import type { OutboundRecord, WithheldDevice } from "./outbound_record.ts";
import type { SharePlan, SharingParts } from "./share_plan.ts";
import { type DeviceShare, pruneShares, writeShares } from "./share_records.ts";

/** A session on its way to devices. */
export interface BatchInput {
  readonly roomId: RoomID;
  /** The session. */
  readonly record: OutboundRecord;
  /** Its key from an index on; undefined if the earlier ratchet is lost. */
  readonly keyAt: (index: number) => Promise<string | undefined>;
  readonly plan: SharePlan;
}

export interface BatchOutcome {
  /** The session's record, not written yet. */
  readonly record: OutboundRecord;
  /** The rest of the plan. */
  readonly plan: SharePlan;
  /** Whether anything is to be sent. */
  readonly sent: boolean;
}

/** For how many devices a request is. */
const DEVICES_A_REQUEST = 250;

const REASONS: Readonly<Record<WithheldDevice["code"], string>> = {
  "m.blacklisted": "The sender has blocked this device",
  "m.unverified":
    "The sender sends keys to devices only that their user has verified: verify this one with another of your devices",
  "m.unauthorised": "This device may not read the message",
  "m.unavailable": "The key could not be delivered",
  "m.no_olm": "No secure channel to this device could be opened",
};

const UNAVAILABLE = { code: "m.unavailable", silent: false } as const;

/** Contents for devices, while they are being gathered. */
class Messages {
  // Names come off the wire.
  readonly #messages: Record<string, Record<string, JsonObject>> = Object.create(null);
  #empty = true;

  /** Adds a content for a device, which has none yet. */
  add({ userId, deviceId }: CryptoDevice, content: JsonObject): void {
    const devices = this.#messages[userId] ??= Object.create(null) as Record<DeviceID, JsonObject>;
    devices[deviceId] = content;
    this.#empty = false;
  }

  /** Puts them into the outbox, if there are any. */
  post(
    tx: Transaction,
    parts: SharingParts,
    { eventType, sessionId }: { eventType: string; sessionId: string },
  ) {
    if (this.#empty) return false;
    const messages: DeviceMessages = this.#messages;
    parts.outbox.add(tx, { kind: "toDevice", eventType, messages, sessionId }, newTxn(parts.context));
    return true;
  }
}

/** Encrypts the key for the next devices, sends withheld notices to others, and records both. */
export async function shareBatch(
  tx: Transaction,
  parts: SharingParts,
  input: BatchInput,
): Promise<BatchOutcome> {
  const { context, olm } = parts;
  const { roomId, record, plan } = input;
  const { sessionId } = record;
  const batch = plan.tasks.slice(0, DEVICES_A_REQUEST);
  const keys = new Messages();
  const notices = new Messages();
  const written: { device: CryptoDevice; share: DeviceShare }[] = [];
  const shared: CryptoDevice[] = [];
  const withheld: WithheldDevice[] = [];
  await olm.sessions.prefetch(
    tx,
    batch.filter(({ withhold }) => withhold === undefined).map(({ device }) => device),
  );

  for await (const task of withPauses(batch, DEVICES_A_TURN)) {
    const { device, before, withhold } = task;
    const isFirst = before === undefined || before.kind === "withheld";
    // A device that gets the key again can decrypt from the same index as before.
    const index = isFirst ? record.messages : before.index;
    const sessionKey = withhold === undefined ? await input.keyAt(index) : undefined;
    const content = sessionKey && await olm.encrypt(tx, device, "m.room_key", roomKey(input, sessionKey));
    if (content) {
      keys.add(device, content);
      shared.push(device);
      written.push({ device, share: await keyShare(tx, parts, { device, index }) });
      continue;
    }
    const { code, silent } = withhold ?? (sessionKey ? await noOlm(tx, parts, device) : UNAVAILABLE);
    if (!silent) notices.add(device, notice(context, { roomId, sessionId, code }));
    withheld.push({ device, code });
    // Devices that may have had the key before stay recorded.
    if (isFirst) written.push({ device, share: { deviceId: device.deviceId, kind: "withheld", code } });
  }

  const sentKeys = keys.post(tx, parts, { eventType: "m.room.encrypted", sessionId });
  const sentNotices = notices.post(tx, parts, { eventType: "m.room_key.withheld", sessionId });
  return {
    record: await pruneShares(tx, roomId, await writeShares(tx, { roomId, record }, written)),
    plan: {
      ...plan,
      tasks: plan.tasks.slice(batch.length),
      shared: [...plan.shared, ...shared],
      withheld: [...plan.withheld, ...withheld],
    },
    sent: sentKeys || sentNotices,
  };
}

function roomKey({ roomId, record }: BatchInput, sessionKey: string): JsonObject {
  return {
    algorithm: EncryptionAlgorithm.MEGOLM_V1,
    room_id: roomId,
    session_id: record.sessionId,
    session_key: sessionKey,
    shared_history: record.sharedHistory,
    [OTHER_SHARED]: record.sharedHistory,
  };
}

async function keyShare(
  tx: Transaction,
  { context, olm }: SharingParts,
  { device, index }: { device: CryptoDevice; index: number },
): Promise<DeviceShare> {
  return {
    deviceId: device.deviceId,
    kind: "key",
    curve25519: device.curve25519,
    index,
    wedging: await olm.sessions.wedgingIndex(tx, device),
    at: context.clock.now(),
  };
}

async function noOlm(tx: Transaction, { olm }: SharingParts, device: CryptoDevice) {
  const silent = !await olm.sessions.shouldTellNoOlm(tx, device);
  if (!silent) await olm.sessions.note(tx, device, { toldNoOlm: true });
  return { code: "m.no_olm", silent } as const;
}

function notice(
  { own }: CryptoContext,
  { roomId, sessionId, code }: { roomId: RoomID; sessionId: string; code: WithheldDevice["code"] },
): JsonObject {
  const about = code === "m.no_olm" ? {} : { room_id: roomId, session_id: sessionId };
  return {
    algorithm: EncryptionAlgorithm.MEGOLM_V1,
    ...about,
    sender_key: own.curve25519,
    code,
    reason: REASONS[code],
    from_device: own.deviceId,
  };
}

/** Returns those devices to get the key that have no Olm session yet. */
export async function withoutOlm(
  tx: Transaction,
  { olm }: Pick<SharingParts, "olm">,
  { tasks }: SharePlan,
): Promise<ReadonlySet<CryptoDevice>> {
  const candidates = tasks.filter(({ withhold }) => withhold === undefined).map(({ device }) => device);
  return new Set(candidates.length === 0 ? [] : await olm.sessions.withoutSession(tx, candidates));
}

/** The users with a device that is to get the key of a session. */
export function usersToGetKey({ tasks }: SharePlan): UserID[] {
  return [...new Set(tasks.filter(({ withhold }) => !withhold).map(({ device }) => device.userId))];
}
