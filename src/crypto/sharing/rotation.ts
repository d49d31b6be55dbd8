/**
 * When a group session has been used for long enough.
 *
 * @module
 */

import type { OutboundRecord, RotationCause } from "./outbound_record.ts";
import type { SendPolicy } from "../engine/policy.ts";
import { MIN_ROTATION_PERIOD_MS, type RoomSettings } from "./room_settings.ts";

/** What a session is held against. */
export interface RotationTerms {
  /** What the room goes by now. */
  readonly settings: RoomSettings;
  /** Which devices are to get keys now. */
  readonly policy: SendPolicy;
  /** Now, in milliseconds since the epoch. */
  readonly now: number;
}

/** Why a session must not encrypt another message; undefined if it may. */
export function rotationCause(
  record: OutboundRecord,
  { settings, policy, now }: RotationTerms,
): RotationCause | undefined {
  if (record.invalid !== undefined) return record.invalid;
  if (record.policy !== policy) return "policy-changed";
  if (record.messages >= settings.rotationPeriodMsgs) return "messages";
  const age = now - record.createdAt;
  // A session of the future would never grow old: the clock was wrong then, or is now.
  if (age >= settings.rotationPeriodMs || age <= -MIN_ROTATION_PERIOD_MS) return "age";
  return undefined;
}
