/**
 * The plan for a session's key: which devices of a room have it, which are to get it, and which
 * must not.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { withPauses } from "../../base/runs.ts";
import { IdentityChangedError } from "../../errors/encryption_error.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { type CryptoDevice, type DeviceLists, isVouchedFor } from "../devices/mod.ts";
import type { CryptoContext, SendPolicy } from "../context/context.ts";
import type { OutboundRecord, RotationCause, ShareReport, WithheldDevice } from "./outbound_record.ts";
import { DEVICES_A_TURN, type Transaction } from "../records/mod.ts";
import {
  type DeviceShare,
  mayHaveKey,
  readRecipients,
  readShares,
  shareOf,
  type ShareRecord,
} from "./share_records.ts";
import type { InboundSessions } from "../megolm/mod.ts";
import type { OlmChannels } from "../olm/olm.ts";
import type { Outbox } from "../requests/requests.ts";
import type { EncryptedRooms } from "./encrypted_rooms.ts";

/** A task for a device: it gets the key, or a withheld notice. */
export interface ShareTask {
  readonly device: CryptoDevice;
  /** What it got before. */
  readonly before: DeviceShare | undefined;
  /** Why it does not get the key; absent: it does. */
  readonly withhold?: { readonly code: WithheldDevice["code"]; readonly silent: boolean };
}

/** A plan for all devices. */
export interface SharePlan extends Omit<ShareReport, "sessionId"> {
  /** The tasks that are left. */
  readonly tasks: readonly ShareTask[];
  /** In how many milliseconds a key is offered again that the server did not take; infinity: none is. */
  readonly retryIn: number;
}

/** The devices of a room, and the session that is meant for them. */
export interface PlanInput {
  readonly roomId: RoomID;
  /** The session. */
  readonly record: OutboundRecord;
  /** The recipients. */
  readonly users: readonly UserID[];
  /** Their devices. */
  readonly devices: ReadonlyMap<UserID, readonly CryptoDevice[]>;
}

/** The parts that planning needs. */
type PlanParts = Pick<SharingParts, "context" | "olm" | "devices">;

/** How long to wait until a key that the server did not take is offered again, in milliseconds. */
const RETRY_AFTER_MS = 3_600_000;

/**
 * Looks at all devices.
 *
 * @returns The plan, or why the session must not be used any more.
 * @throws {IdentityChangedError} If the policy requires that a user's identity is acknowledged
 *   first.
 */
export async function planShares(
  tx: Transaction,
  parts: PlanParts,
  input: PlanInput,
): Promise<SharePlan | RotationCause> {
  const { roomId, record, users } = input;
  const { own, policy: { sendTo } } = parts.context;
  const session = { roomId, sessionId: record.sessionId };
  const shares = await readShares(tx, session, users);
  const gone = await findGone(tx, input, shares);
  if (gone !== undefined) return gone;
  const plan = {
    tasks: [] as ShareTask[],
    shared: [] as CryptoDevice[],
    withheld: [] as WithheldDevice[],
    retryIn: Infinity,
  };
  const refused = new Set<UserID>();
  let unentitled = false;
  for await (const userId of withPauses(users, DEVICES_A_TURN)) {
    for (const device of input.devices.get(userId) ?? []) {
      if (userId === own.userId && device.deviceId === own.deviceId) continue;
      const decision = shareDecision(sendTo, device, {
        isSpared: userId === own.userId && await parts.devices.isSpared(tx, device),
        wasVerified: device.trust === "violation" && userId !== own.userId &&
          (await parts.devices.identityOf(tx, userId))?.wasVerified === true,
      });
      const before = shareOf(shares.get(userId), device.deviceId);
      if (decision === "refuse") refused.add(userId);
      else if (decision !== "share") {
        const { code } = decision;
        if (before !== undefined && mayHaveKey(before)) unentitled = true;
        if (before?.kind === "withheld" && before.code === code) plan.withheld.push({ device, code });
        else plan.tasks.push({ device, before, withhold: decision });
      } else {
        const state = before && await stateOf(tx, parts, { device, before });
        if (before === undefined || state === undefined) plan.tasks.push({ device, before });
        else if (state === "key") plan.shared.push(device);
        else {
          plan.withheld.push({ device, code: state });
          if (before.kind === "failed") plan.retryIn = Math.min(plan.retryIn, retryIn(parts.context, before));
        }
      }
    }
  }
  if (unentitled) return "device-gone";
  if (refused.size > 0) {
    const isOwn = (await parts.devices.identityOf(tx, own.userId))?.hasChanged === true;
    throw identityChanged(roomId, [...refused], isOwn ? OWN_CHANGED : COMPARE);
  }
  return plan;
}

/** The state of a device that may have the key; undefined: it is to get it, or to get it again. */
async function stateOf(
  tx: Transaction,
  { context, olm }: PlanParts,
  { device, before }: { readonly device: CryptoDevice; readonly before: DeviceShare },
): Promise<"key" | WithheldDevice["code"] | undefined> {
  if (before.kind === "withheld") return undefined;
  // Another device has taken over the name.
  if (before.curve25519 !== device.curve25519) return "m.unauthorised";
  if (await olm.sessions.wedgingIndex(tx, device) > before.wedging) return undefined;
  if (before.kind === "key") return "key";
  return retryIn(context, before) <= 0 ? undefined : "m.unavailable";
}

/** In how many milliseconds a key is offered again that the server did not take. */
function retryIn({ clock }: Pick<CryptoContext, "clock">, { at }: { readonly at: number }): number {
  return RETRY_AFTER_MS - elapsed(clock.now(), at);
}

/**
 * Finds users or devices that have the key and are not in the room any more, or not at all; or that this
 * is not known, since records were removed.
 */
async function findGone(
  tx: Transaction,
  { roomId, record, users, devices }: PlanInput,
  shares: ReadonlyMap<UserID, ShareRecord>,
): Promise<RotationCause | undefined> {
  for (const [userId, share] of shares) {
    const present = new Set(devices.get(userId)?.map(({ deviceId }) => deviceId));
    if (share.devices.some((device) => mayHaveKey(device) && !present.has(device.deviceId))) {
      return "device-gone";
    }
  }
  const recipients = await readRecipients(tx, record, roomId);
  if (recipients === undefined) return "records-missing";
  const members = new Set(users);
  const former = recipients.filter((userId) => !members.has(userId));
  const theirs = await readShares(tx, { roomId, sessionId: record.sessionId }, former);
  if (!recipients.every((userId) => shares.has(userId) || theirs.has(userId))) return "records-missing";
  return [...theirs.values()].some((share) => share.devices.some(mayHaveKey)) ? "member-left" : undefined;
}

const COMPARE =
  "compare keys with them and call verifyUser(), call withdrawVerification(), or block their devices";
const OWN_CHANGED =
  "the own identity, which has verified them, was replaced: call ensureVerified() with the new " +
  "recovery key, then verifyUser() or withdrawVerification()";

function identityChanged(roomId: RoomID, users: readonly UserID[], mend: string): IdentityChangedError {
  return new IdentityChangedError(
    `Cannot encrypt for room ${roomId}: ${users.join(", ")} are not verified any more; ${mend}`,
    { users },
  );
}

/** What a device gets. */
export type ShareDecision =
  /** The key. */
  | "share"
  /** Nothing, and neither do the others: its user's identity is not the one that was verified. */
  | "refuse"
  /** Not the key, but the reason; nothing at all if it is silent. */
  | { readonly code: WithheldDevice["code"]; readonly silent: boolean };

/** What is known of a device's user. */
export interface DeviceUser {
  /** Whether the device counts as one that its user has signed, although it is not. */
  readonly isSpared: boolean;
  /** Whether the user, who is not the own one, was verified at any time. */
  readonly wasVerified: boolean;
}

const UNVERIFIED: ShareDecision = { code: "m.unverified", silent: false };

/** Decides about a device, which is not the own one. */
export function shareDecision(
  policy: SendPolicy,
  device: CryptoDevice,
  { isSpared, wasVerified }: DeviceUser,
): ShareDecision {
  const { trust, isDehydrated } = device;
  if (trust === "blacklisted") return { code: "m.blacklisted", silent: false };
  const vouchedFor = isVouchedFor(device);
  if (isDehydrated && !vouchedFor) return { code: "m.unverified", silent: true };
  if (policy === "all") return "share";
  // Anybody can replace their own identity, and who has a password that of the bot: only somebody whom it has
  // verified must not go missing unnoticed.
  if (trust === "violation" && wasVerified) return "refuse";
  const isEntitled = policy === "verified" ? trust === "verified" : vouchedFor || isSpared;
  return isEntitled ? "share" : UNVERIFIED;
}

/** What own group sessions need of the other parts. */
export interface SharingParts {
  /** What the parts share. */
  readonly context: CryptoContext;
  readonly rooms: EncryptedRooms;
  /** Other users' devices. */
  readonly devices: DeviceLists;
  readonly olm: OlmChannels;
  /** What is on its way to the server. */
  readonly outbox: Outbox;
  /** Sessions that decrypt. */
  readonly inbound: InboundSessions;
}
