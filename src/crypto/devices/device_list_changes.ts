/**
 * What the answer to a query of keys has changed.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Device } from "./device.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import { devicesIn } from "./device_trust.ts";
import type { UserRecord } from "./user_record.ts";

/** What the answer to a query has changed. */
export class DeviceListChanges {
  /** Users of whom anything has changed: devices, trust, or the identity. */
  readonly changed: UserID[] = [];
  /** Devices that are new, or there again. */
  readonly added: Device[] = [];
  /** Devices that are not there any more: sessions whose keys they have must not be used any longer. */
  readonly removed: Device[] = [];
  /** What may be an attack; the same is told again with each answer that shows it. */
  readonly alarms: DeviceAlarm[] = [];
  /** What the server shows as the own device's keys, unchecked; undefined if it was not asked, or has not told. */
  own: JsonObject | "missing" | undefined;
  /** Whether there is more in the answer than was looked at. */
  more = false;

  /** Notes how a user's record has changed. */
  note(userId: UserID, { before, after }: { before: UserRecord; after: UserRecord }): void {
    this.changed.push(userId);
    this.added.push(...missingFrom(before, devicesIn(after, userId)));
    this.removed.push(...missingFrom(after, devicesIn(before, userId)));
  }
}

function missingFrom({ devices }: UserRecord, candidates: readonly Device[]): Device[] {
  const there = new Set(devices.map(({ deviceId }) => deviceId));
  return candidates.filter(({ deviceId }) => !there.has(deviceId));
}
