/**
 * The application's decisions about devices and identities. Each names the key that was compared: a
 * name alone may stand for another key by now.
 *
 * @module
 */

import { IdentityChangedError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import { sameKey } from "../encoding/base64.ts";
import type { ComparedDevice, LocalTrust } from "./device.ts";
import type { ComparedIdentity, KnownDevice, UserRecord } from "./user_record.ts";

/**
 * A user's record with a decision about a device, which may be a former one.
 *
 * @throws {ValueError} If no such device was ever there, or if it has other keys.
 */
export function withLocalTrust(
  record: UserRecord,
  device: ComparedDevice,
  trust: LocalTrust | undefined,
): UserRecord {
  const { userId, deviceId, ed25519 } = device;
  const named = `device ${JSON.stringify(deviceId)} of ${JSON.stringify(userId)}`;
  const known = [...record.devices, ...record.gone].find((each) => each.deviceId === deviceId);
  if (known === undefined) {
    throw new ValueError(`Cannot set the trust of ${named}: no such device is known; look it up first`);
  }
  if (!sameKey(known.ed25519, ed25519)) {
    throw new ValueError(
      `Cannot set the trust of ${named}: it has other keys than the ones that were compared; compare them again`,
    );
  }
  const say = <Known extends KnownDevice>(each: Known): Known =>
    each.deviceId === deviceId ? { ...each, local: trust } : each;
  return { ...record, devices: record.devices.map(say), gone: record.gone.map(say) };
}

/**
 * A user's record with the identity that the application has accepted.
 *
 * @throws {ValueError} If the user has none.
 * @throws {IdentityChangedError} If the user has another one by now.
 */
export function withAccepted(
  record: UserRecord | undefined,
  { userId, master }: ComparedIdentity,
): UserRecord {
  if (record?.identity === undefined) {
    throw new ValueError(
      `Cannot accept the identity of ${JSON.stringify(userId)}: none is known; look it up first`,
    );
  }
  const { identity } = record;
  if (!sameKey(identity.master, master)) {
    throw new IdentityChangedError(
      `Cannot accept the identity of ${userId}: it is another one by now than the one that was compared; look it up and ` +
        "compare it again",
      { users: [userId] },
    );
  }
  const { master: pinned, selfSigning } = identity;
  if (identity.pinned === pinned) return record;
  const selfSigningKeys = selfSigning === undefined ? [] : [selfSigning];
  return { ...record, identity: { ...identity, pinned, selfSigningKeys } };
}
