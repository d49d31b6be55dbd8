/**
 * What may be an attack.
 *
 * @module
 */

import type { DeviceID, UserID } from "../ids.ts";

/**
 * What the server shows, be it once, and should not be possible. None of it is used, but another identity of a user who was
 * never verified.
 *
 * - `keys-changed`: a device that is known, or was, has other keys now; the known keys stay;
 * - `key-reused`: a new device has the Curve25519 key of another device of its user; it is left
 *   out;
 * - `device-id-is-key`: a device is called like a cross-signing key; the user's devices are all
 *   left out;
 * - `too-many-devices`: a user has more devices than any user has; those that are not known are
 *   left out;
 * - `replaced-key`: a self-signing key is shown again that its user had replaced; the newest stays;
 * - `identity-changed`: a user's master key is not the one that was seen before: the user, or the server, has
 *   reset the identity. If nobody has verified the user it counts from now on, as in Element, and is
 *   `accepted`; else devices that it vouches for are in `violation` until the application accepts it.
 */
export type DeviceAlarm =
  | {
    /** What it is. */
    readonly kind: "keys-changed" | "key-reused" | "device-id-is-key";
    /** Whose device it is. */
    readonly userId: UserID;
    readonly deviceId: DeviceID;
  }
  | {
    readonly kind: "too-many-devices";
    readonly userId: UserID;
    /** How many devices the server shows. */
    readonly count: number;
  }
  | {
    readonly kind: "replaced-key";
    readonly userId: UserID;
    /** The self-signing key, in unpadded base64. */
    readonly key: string;
  }
  | {
    readonly kind: "identity-changed";
    readonly userId: UserID;
    /** The master key that was there before, in unpadded base64. */
    readonly previous: string;
    /** The master key that is there now. */
    readonly current: string;
    /** Whether it counts in place of the one before. */
    readonly accepted: boolean;
  };
