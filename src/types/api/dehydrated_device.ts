/**
 * A dehydrated device: one that is nowhere but on the server, and receives keys while no other
 * device of the user is there.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import type { DeviceKeys, OneTimeKeys } from "./device_keys.ts";
import type { DeviceID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** The private keys of a dehydrated device, encrypted. */
export type DehydratedDeviceData = JsonObject & {
  /** How they are encrypted. */
  algorithm: string;
};

/** A dehydrated device as the server keeps it. */
export interface DehydratedDevice {
  /** Identifies it among the devices of its user. */
  device_id: DeviceID;
  /** Its private keys, encrypted. */
  device_data: DehydratedDeviceData;
}

/** What a client sends to leave a dehydrated device behind. */
export interface DehydratedDeviceUpload extends DehydratedDevice {
  /** Its identity keys, signed. */
  device_keys: DeviceKeys;
  /** The name of the device; Synapse refuses an upload without the member. */
  initial_device_display_name: string | null;
  /** Keys that others can claim once each, by their IDs. */
  one_time_keys?: OneTimeKeys;
  /** Its fallback keys, one for each algorithm: it has to serve when the others are used up. */
  fallback_keys?: OneTimeKeys;
}

/** A page of the messages to a dehydrated device. */
export interface DehydratedDeviceEvents {
  /** The messages, in the order in which they came; unchecked. */
  events: unknown[];
  /** Where the next page begins; absent, or with no messages: this is the last one. */
  next_batch?: string;
}
