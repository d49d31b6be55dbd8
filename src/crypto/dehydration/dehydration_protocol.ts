/**
 * What goes into the engine about dehydrated devices, and what comes out: plain data.
 *
 * @module
 */

import type { DehydratedDevice } from "../../types/api/dehydrated_device.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { RecoveredEvent } from "../megolm/mod.ts";

/** A dehydrated device that this device has made. */
export interface MadeDevice {
  readonly deviceId: DeviceID;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether the server has said that it has it. */
  readonly isUploaded: boolean;
}

/** A dehydrated device whose messages are being read. */
export interface ReadingState {
  readonly deviceId: DeviceID;
  /** Where the next page begins; undefined: with the first message. */
  readonly from?: string;
  /** Whether all was read. */
  readonly isRead: boolean;
  /** How many messages were read so far. */
  readonly messages: number;
  /** How many keys were in them that were not here before. */
  readonly keys: number;
}

/** How it is with dehydrated devices. */
export interface DehydrationState {
  /** Whether the key that encrypts them is here. */
  readonly hasKey: boolean;
  /** Whether another key is to take its place before the next device is made. */
  readonly isKeyOld: boolean;
  /** Whether this device can sign one. */
  readonly canSign: boolean;
  /** The one that was made last; undefined: none was. */
  readonly made: MadeDevice | undefined;
  /** The one that is being read; undefined: none is. */
  readonly reading: ReadingState | undefined;
}

/**
 * What becomes of a device that is to be read: `reading`: its messages are to be received, from where
 * they were left; `unreadable`: its private keys can't be decrypted with the key that is here;
 * `busy`: what is left of another one has to be cleared first.
 */
export type ReadingOutcome = "reading" | "unreadable" | "busy";

/** Messages to a dehydrated device, in the order in which they came. */
export interface RehydratedPage {
  readonly deviceId: DehydratedDevice["device_id"];
  /** Some messages, unchecked. */
  readonly events: readonly unknown[];
  /**
   * Where the next page begins; undefined: there is none. Absent: more of this page follows.
   */
  readonly next?: { readonly from: string | undefined };
}

/** What has come of a page. */
export interface RehydratedOutput {
  /** How far it is now; undefined: the device is not being read. */
  readonly reading: ReadingState | undefined;
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
}
