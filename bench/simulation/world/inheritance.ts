/**
 * Users who lose all of their devices, and have a dehydrated one.
 *
 * @module
 */

import type { Account } from "./account.ts";
import type { Device } from "./device.ts";

/** A dehydrated device that the homeserver has. */
export interface Dehydrated {
  readonly deviceId: string;
  /** Since when. */
  readonly at: number;
  /** Whether the server has given keys for it that it does not have, or refused what was sent to it. */
  isHurt?: boolean;
}

/** Excuses dehydrated devices to which something is lost. */
export function hurtDehydrated(
  accounts: readonly Account[],
  isMeant: (deviceId: string) => boolean,
): void {
  for (const { dehydrated } of accounts) {
    if (dehydrated !== undefined && isMeant(dehydrated.deviceId)) dehydrated.isHurt = true;
  }
}

/** A user who has lost all devices, and has a new one that takes what the dehydrated one has received. */
export interface Bereavement {
  readonly account: Account;
  readonly at: number;
  readonly dehydrated: Dehydrated;
  readonly heir: Device;
}
