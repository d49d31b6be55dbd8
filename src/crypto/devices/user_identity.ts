/**
 * The identities of users: the cross-signing keys with which they sign their devices.
 *
 * Over 300 lines because all that changes an identity is in one place.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { IdentityChangedError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import { sameKey } from "../../types/base64.ts";
import type { OwnDevice } from "../context/context.ts";
import { isJsonObject } from "../../types/json.ts";
import { verifySignedJson } from "../encoding/encoding.ts";
import { type KeyUsage, readCrossSigningKey } from "./device_keys_check.ts";

/** How many self-signing keys of a user are kept: only the user can make more. */
const MAX_SELF_SIGNING_KEYS = 32;
/** How many identities of a user that were replaced are kept: only one that was accepted adds one. */
const MAX_REPLACED = 32;

/** The identity with which a user signs devices. */
export interface UserIdentity {
  /** Whose identity it is. */
  readonly userId: UserID;
  /**
   * The master key that counts, in unpadded base64: the one that was seen first; then, of a user who was
   * never verified, the one that took its place, or that the application has accepted since. Of the own user
   * only an accepted one, since the server may have made the first.
   */
  readonly pinned?: string;
  /** The master key that was seen last; users compare it. */
  readonly master: string;
  /** The self-signing key that {@link master} has signed. */
  readonly selfSigning?: string;
  /**
   * Whether the master key is another than {@link pinned}: the user is the own one or was verified, or it is
   * one that was replaced before, and was not accepted since.
   */
  readonly hasChanged: boolean;
  /**
   * Whether it has taken the place of another, and nobody has accepted or verified it since: the user may
   * have reset it, or the server.
   */
  readonly wasReset: boolean;
  /**
   * Whether it is verified: the own identity, whose private keys have proven it, has signed it; or it
   * is the own one itself.
   */
  readonly isVerified: boolean;
  /**
   * Whether it was verified at any time. If it is not any more, its devices are in `violation` until
   * it is verified again, or `withdrawVerification()` says that it need not be.
   */
  readonly wasVerified: boolean;
}

/** A user's cross-signing keys, as far as their signatures have been checked. */
export interface StoredIdentity extends Pick<UserIdentity, "pinned" | "master" | "selfSigning"> {
  /**
   * The self-signing keys that {@link pinned} has signed, in the order in which they came: only the
   * last counts.
   */
  readonly selfSigningKeys?: readonly string[];
  /** The own user-signing key, which {@link master} has signed; absent for other users. */
  readonly userSigning?: string;
  /** Whether the private master key has proven that the own identity is the user's. */
  readonly proven?: true;
  /** The accepted master keys that another one has replaced. */
  readonly replaced?: readonly string[];
  /** The own user-signing key whose signature {@link master} carries; absent for the own user. */
  readonly userSignedBy?: string;
  /** Whether it was verified at any time. */
  readonly wasVerified?: true;
  /** Whether it has taken the place of another, and was not accepted since. */
  readonly reset?: true;
}

/** An identity that the application has compared: its user and its master key. */
export type ComparedIdentity = Pick<UserIdentity, "userId" | "master">;

/** The cross-signing keys of a user as the server shows them, unchecked. */
export interface ShownIdentity {
  readonly userId: UserID;
  /** The master key. */
  readonly master: unknown;
  /** The self-signing key. */
  readonly selfSigning: unknown;
  /** The user-signing key; only the user's own devices see it. */
  readonly userSigning: unknown;
}

/**
 * The own user-signing key that verifies other users: none before the private keys have proven the
 * own identity, nor once the server shows another.
 */
export function verifierOf(own: StoredIdentity | undefined): string | undefined {
  // A proof goes when another identity is shown, so that it would do:
  // an error in that must not verify anybody.
  return own?.proven === true && isPinned(own) ? own.userSigning : undefined;
}

/**
 * Returns whether an identity is the one that was seen first or accepted. One that was replaced is not any
 * more, even if the server shows it again: its private keys may be in other hands by now.
 */
export function isPinned({ pinned, master, replaced }: StoredIdentity): boolean {
  return pinned === master && replaced?.includes(master) !== true;
}

/** Returns whether an identity is verified: the own one that was proven, or one that it has signed. */
export function isVerified(identity: StoredIdentity, verifier: string | undefined): boolean {
  const { proven, userSignedBy } = identity;
  if (!isPinned(identity)) return false;
  return proven === true || (verifier !== undefined && userSignedBy === verifier);
}

/**
 * The identity with which a user signs devices; undefined if there never was one.
 *
 * @param verifier The own user-signing key: {@link verifierOf}.
 */
export function userIdentity(
  identity: StoredIdentity | undefined,
  userId: UserID,
  verifier?: string,
): UserIdentity | undefined {
  if (identity === undefined) return undefined;
  const { pinned, master, selfSigning } = identity;
  const verified = isVerified(identity, verifier);
  const wasVerified = verified || identity.wasVerified === true;
  return {
    ...{ userId, pinned, master, selfSigning, isVerified: verified, wasVerified },
    hasChanged: pinned !== undefined && !isPinned(identity),
    wasReset: identity.reset === true && !verified,
  };
}

/** What judging identities needs. */
export interface IdentityJudge {
  /** Verifies signatures. */
  readonly vodozemac: Vodozemac;
  readonly own: OwnDevice;
  /** The own user-signing key: {@link verifierOf}; undefined: none. */
  readonly verifier?: string;
}

/**
 * A user's identity after an answer of the server. A key that is missing or bad changes nothing. Another
 * master key of a user who was never verified is pinned in place of the one before, as Element does: who has
 * compared nothing knew no more of the first. That of one who was verified is only if the own user has
 * verified it too. Only an own identity that nothing has accepted is forgotten
 * when it is not shown any more: the server may have made it up, and it would be in the way of the
 * one that the account is still to get.
 *
 * @param judge Verifies, for the own device.
 * @param before The stored identity.
 * @param answer.shown The keys that the server shows.
 * @param answer.alarms Receives possible attacks.
 */
export function nextIdentity(
  judge: IdentityJudge,
  before: StoredIdentity | undefined,
  { shown, alarms }: { readonly shown: ShownIdentity; readonly alarms: DeviceAlarm[] },
): StoredIdentity | undefined {
  const { vodozemac, own, verifier } = judge;
  const { userId } = shown;
  const shownMaster = readCrossSigningKey(vodozemac, shown.master, { userId, usage: "master" });
  const isOwn = userId === own.userId;
  const isGone = isOwn && before?.pinned === undefined && shown.master === undefined;
  const master = shownMaster ?? before?.master;
  if (master === undefined || isGone) return undefined;
  const signedBy = master;
  const read = (key: unknown, usage: KeyUsage) =>
    readCrossSigningKey(vodozemac, key, { userId, usage, signedBy });
  const same = master === before?.master ? before : undefined;
  const next: StoredIdentity = {
    pinned: before?.pinned ?? (isOwn ? undefined : master),
    master,
    selfSigning: read(shown.selfSigning, "self_signing") ?? same?.selfSigning,
    selfSigningKeys: before?.selfSigningKeys ?? [],
    ...(isOwn && { userSigning: read(shown.userSigning, "user_signing") ?? same?.userSigning }),
    ...(isOwn
      ? { proven: same?.proven }
      : { userSignedBy: isSignedByUs(judge, shown) ? verifier : same?.userSignedBy }),
    replaced: isOwn ? replacedBy(before, master) : before?.replaced,
    ...(before?.reset && { reset: true }),
  };
  const verified = (identity: StoredIdentity | undefined) =>
    !isOwn && identity !== undefined && isVerified(identity, verifier);
  const wasVerified = before?.wasVerified === true || verified(before);
  const isTaken = !isOwn && next.replaced?.includes(master) !== true &&
    (!wasVerified || (verifier !== undefined && next.userSignedBy === verifier));
  const taken: StoredIdentity = isTaken && next.pinned !== master
    ? { ...pinnedNow(next), reset: true }
    : next;
  const latched = wasVerified || verified(taken);
  return withLastKey({ ...taken, ...(latched && { wasVerified: true }) }, { userId, alarms });
}

/** The own master keys that were replaced, once the server shows this one. */
function replacedBy(before: StoredIdentity | undefined, master: string): readonly string[] | undefined {
  const { replaced = [] } = before ?? {};
  const isReplaced = before !== undefined && isPinned(before) && before.master !== master &&
    !replaced.includes(master);
  return isReplaced ? [...replaced, before.master].slice(-MAX_REPLACED) : before?.replaced;
}

/** Returns whether the master key that is shown carries a good signature of the own user-signing key. */
function isSignedByUs({ vodozemac, own, verifier }: IdentityJudge, { master }: ShownIdentity): boolean {
  if (verifier === undefined || !isJsonObject(master)) return false;
  const signer = { userId: own.userId, keyId: `ed25519:${verifier}`, publicKey: verifier };
  return verifySignedJson(vodozemac, master, signer);
}

/** Notes a new self-signing key of the pinned identity, and refuses one that was replaced. */
function withLastKey(
  next: StoredIdentity,
  { userId, alarms }: { readonly userId: UserID; readonly alarms: DeviceAlarm[] },
): StoredIdentity {
  const { pinned, master, selfSigning, selfSigningKeys: keys = [] } = next;
  if (master !== pinned || selfSigning === undefined || selfSigning === keys.at(-1)) return next;
  // A signature never expires: only this record shows that a key was replaced, which may have been
  // stolen.
  if (keys.includes(selfSigning)) {
    alarms.push({ kind: "replaced-key", userId, key: selfSigning });
    return { ...next, selfSigning: keys.at(-1) };
  }
  return { ...next, selfSigningKeys: [...keys, selfSigning].slice(-MAX_SELF_SIGNING_KEYS) };
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
  return isPinned(identity) && identity.reset !== true ? identity : pinnedNow(identity);
}

/**
 * The identity of a user who need not be verified any more; the present one is accepted.
 *
 * @throws {ValueError} If the user has none, or it is verified.
 * @throws {IdentityChangedError} If the user has another one by now.
 */
export function withdrawnIdentity(
  identity: StoredIdentity | undefined,
  { userId, master }: ComparedIdentity,
  verifier: string | undefined,
): StoredIdentity {
  const { wasVerified: _, ...accepted } = acceptedIdentity(identity, { userId, master });
  if (!isVerified(accepted, verifier)) return accepted;
  throw new ValueError(
    `Cannot withdraw the verification of ${userId}: the identity is verified, and signatures can't be taken back`,
  );
}

/**
 * The identity of a user after the own one has signed it.
 *
 * @param verifier The own user-signing key that has.
 * @throws {ValueError} If the user has none.
 * @throws {IdentityChangedError} If the user has another one by now.
 */
export function signedIdentity(
  identity: StoredIdentity | undefined,
  compared: ComparedIdentity,
  verifier: string,
): StoredIdentity {
  return { ...acceptedIdentity(identity, compared), userSignedBy: verifier, wasVerified: true };
}

/** The own identity after its private keys have proven that it is the user's. */
export function provenIdentity(identity: StoredIdentity): StoredIdentity {
  return { ...pinnedNow(identity), proven: true };
}

/** The identity with its master key pinned, in place of the one before. */
function pinnedNow(identity: StoredIdentity): StoredIdentity {
  const { pinned: before, master: pinned, selfSigning, selfSigningKeys, replaced = [] } = identity;
  const others = new Set(before === undefined ? replaced : [...replaced, before]);
  others.delete(pinned);
  return {
    ...identity,
    pinned,
    selfSigningKeys: before === pinned ? selfSigningKeys : selfSigning === undefined ? [] : [selfSigning],
    replaced: [...others].slice(-MAX_REPLACED),
    reset: undefined,
  };
}
