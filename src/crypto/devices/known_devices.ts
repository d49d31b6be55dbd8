/**
 * Where devices are found.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import type { Device } from "./device.ts";
import type { Transaction } from "../records/transaction.ts";

/** Finds devices whose keys have been checked. */
export interface KnownDevices {
  /** A device by its name. */
  device(tx: Transaction, userId: UserID, deviceId: DeviceID): Promise<Device | undefined>;
  /** A user's device by its identity key. */
  byIdentityKey(tx: Transaction, userId: UserID, curve25519: string): Promise<Device | undefined>;
}
