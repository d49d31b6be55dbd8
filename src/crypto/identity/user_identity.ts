/**
 * The identities of users: the cross-signing keys with which they sign their devices.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { IdentityChangedError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { UserID } from "../../types/ids.ts";
import { sameKey } from "../encoding/base64.ts";
import type { OwnDevice } from "../engine/context.ts";
import { readCrossSigningKey } from "./cross_signing_key.ts";

/** How many self-signing keys of a user are kept: only the user can make more. */
const MAX_SELF_SIGNING_KEYS = 32;

/** The identity with which a user signs devices. */
export interface UserIdentity {
  /** The user. */
  readonly userId: UserID;
  /**
   * The master key that was seen first, or that the application has accepted since, in unpadded
   * base64; of the own user only an accepted one, since the server may have made the first.
   */
  readonly pinned?: string;
  /** The master key that was seen last; users compare it. */
  readonly master: string;
  /** The self-signing key that {@link master} has signed. */
  readonly selfSigning?: string;
  /** Whether the master key is another than {@link pinned}. */
  readonly changed: boolean;
}

/** A user's cross-signing keys, as far as they have been verified. */
export interface StoredIdentity extends Omit<UserIdentity, "userId" | "changed"> {
  /**
   * The self-signing keys that {@link pinned} has signed, in the order in which they came: only the
   * last counts.
   */
  readonly selfSigningKeys?: readonly string[];
}

/** An identity that the application has compared: its user and its master key. */
export type ComparedIdentity = Pick<UserIdentity, "userId" | "master">;

/** The cross-signing keys of a user as the server shows them, unchecked. */
export interface ShownIdentity {
  /** The user. */
  readonly userId: UserID;
  /** The master key. */
  readonly master: unknown;
  /** The self-signing key. */
  readonly selfSigning: unknown;
  /** The user-signing key; only the user's own devices see it. */
  readonly userSigning: unknown;
}

/** The identity with which a user signs devices; undefined if there never was one. */
export function userIdentity(
  identity: StoredIdentity | undefined,
  userId: UserID,
): UserIdentity | undefined {
  if (identity === undefined) return undefined;
  const { pinned, master, selfSigning } = identity;
  return { userId, pinned, master, selfSigning, changed: pinned !== undefined && pinned !== master };
}

/**
 * A user's identity after an answer of the server. The first master key stays pinned, and a key
 * that is missing or bad changes nothing.
 *
 * @param judge Verifies, for the own device.
 * @param before The stored identity.
 * @param answer.shown The keys that the server shows.
 * @param answer.alarms Receives possible attacks.
 */
export function nextIdentity(
  { vodozemac, own }: { readonly vodozemac: Vodozemac; readonly own: OwnDevice },
  before: StoredIdentity | undefined,
  { shown, alarms }: { readonly shown: ShownIdentity; readonly alarms: DeviceAlarm[] },
): StoredIdentity | undefined {
  const { userId } = shown;
  const master = readCrossSigningKey(vodozemac, shown.master, { userId, usage: "master" }) ?? before?.master;
  if (master === undefined) return undefined;
  const signed = readCrossSigningKey(vodozemac, shown.selfSigning, {
    userId,
    usage: "self_signing",
    signedBy: master,
  });
  const pinned = before?.pinned ?? (userId === own.userId ? undefined : master);
  const selfSigning = signed ?? (master === before?.master ? before.selfSigning : undefined);
  const keys = before?.selfSigningKeys ?? [];
  if (master !== pinned || selfSigning === undefined || selfSigning === keys.at(-1)) {
    return { pinned, master, selfSigning, selfSigningKeys: keys };
  }
  // A signature never expires: only this record shows that a key was replaced, which may have been
  // stolen.
  if (keys.includes(selfSigning)) {
    alarms.push({ kind: "replaced-key", userId, key: selfSigning });
    return { pinned, master, selfSigning: keys.at(-1), selfSigningKeys: keys };
  }
  return {
    pinned,
    master,
    selfSigning,
    selfSigningKeys: [...keys, selfSigning].slice(-MAX_SELF_SIGNING_KEYS),
  };
}

/**
 * The identity of a user that the application has accepted.
 *
 * @throws {ValueError} If the user has none.
 * @throws {IdentityChangedError} If the user has another one by now.
 */
export function acceptedIdentity(
  identity: StoredIdentity | undefined,
  { userId, master }: ComparedIdentity,
): StoredIdentity {
  if (identity === undefined) {
    throw new ValueError(
      `Cannot accept the identity of ${JSON.stringify(userId)}: none is known; look it up first`,
    );
  }
  if (!sameKey(identity.master, master)) {
    throw new IdentityChangedError(
      `Cannot accept the identity of ${userId}: it is another one by now than the one that was compared; look it up and ` +
        "compare it again",
      { users: [userId] },
    );
  }
  const { master: pinned, selfSigning } = identity;
  if (identity.pinned === pinned) return identity;
  return { ...identity, pinned, selfSigningKeys: selfSigning === undefined ? [] : [selfSigning] };
}
