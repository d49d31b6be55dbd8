/**
 * The user's devices.
 *
 * @module
 */

import type { DeviceID } from "../ids.ts";

/** A device of the user. */
export interface Device {
  /** The device. */
  device_id: DeviceID;
  /** The device's name; absent if it has none. */
  display_name?: string | null;
  /** The address that the device was last seen at; may be some minutes old. */
  last_seen_ip?: string | null;
  /** When the device was last seen, in milliseconds since the epoch; may be some minutes old. */
  last_seen_ts?: number | null;
}
