/**
 * The response to a key query: its parts by user, how each changes the user's record, and what is left of
 * that record when no encrypted room is shared any more.
 *
 * Over 300 lines because an answer and the users in it are taken by one reading.
 *
 * @module
 */

import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import { isKey, unpadded } from "../../types/base64.ts";
import { serverOf } from "../../types/identifiers.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  DAY_MS,
  FORMER_DEVICES,
  schedulePruning,
  type Transaction,
  UNVOUCHED_USER_DAYS,
} from "../records/mod.ts";
import { checkDeviceKeys, claimedKeys, type KnownDevice, type StoredDevice } from "./device_keys_check.ts";
import type { DeviceQuery, TrackedUsers } from "./tracked_users.ts";
import {
  type IdentityJudge,
  isPinned,
  nextIdentity,
  type ShownIdentity,
  type StoredIdentity,
} from "./user_identity.ts";
import { type CryptoDevice, devicesIn, userKey, type UserRecord } from "./user_record.ts";

/** More devices than any user has; the same number of devices that are gone is remembered. */
export const MAX_DEVICES = 1_000;

/** The server's answer about a user, unchecked. */
interface UserAnswer extends ShownIdentity {
  /** Keys by device; missing devices are gone. */
  readonly devices: JsonObject;
}

/** The result. */
interface Judgement {
  readonly record: UserRecord;
  /** Possible attacks. */
  readonly alarms: readonly DeviceAlarm[];
}

/**
 * Judges the server's answer about a user.
 *
 * The keys of a device never change, even if it was gone in between. Cross-signing keys that are
 * missing or bad change nothing. Each bad device is left out by itself; a known device with
 * malformed keys stays as it was. At most {@link MAX_DEVICES} devices are kept, known ones first.
 *
 * @param judge Verifies; its own device is left out.
 * @param before The user's record.
 * @param answer The server's answer.
 */
function judgeAnswer(judge: IdentityJudge, before: UserRecord, answer: UserAnswer): Judgement {
  const alarms: DeviceAlarm[] = [];
  const { userId } = answer;
  const deviceId = deviceCalledLikeKey(before.identity, answer);
  if (deviceId !== undefined) {
    alarms.push({ kind: "device-id-is-key", userId, deviceId });
    return { record: withDevices(before, before.identity, []), alarms };
  }
  const identity = nextIdentity(judge, before.identity, { shown: answer, alarms });
  if (before.identity !== undefined && identity !== undefined && identity.master !== before.identity.master) {
    const [previous, current] = [before.identity.master, identity.master];
    alarms.push({ kind: "identity-changed", userId, previous, current, isAccepted: isPinned(identity) });
  }
  const devices = judgeDevices(judge, { ...before, identity }, { answer, alarms });
  return { record: withDevices(before, identity, devices), alarms };
}

function withoutDevices(before: UserRecord): UserRecord {
  return withDevices(before, before.identity, []);
}

/**
 * In signatures, device IDs and cross-signing keys look alike: a device with such an ID could pass
 * for the user.
 */
function deviceCalledLikeKey(known: StoredIdentity | undefined, answer: UserAnswer): DeviceID | undefined {
  const suspects = Object.keys(answer.devices).filter(isKey);
  if (suspects.length === 0) return undefined;
  const keys = new Set<unknown>([known?.pinned, known?.master, known?.selfSigning, known?.userSigning]);
  for (const given of [answer.master, answer.selfSigning, answer.userSigning]) {
    if (!isJsonObject(given) || !isJsonObject(given.keys)) continue;
    for (const key of Object.values(given.keys)) if (isKey(key)) keys.add(unpadded(key));
  }
  return suspects.find((deviceId) => keys.has(unpadded(deviceId)));
}

function judgeDevices(
  { vodozemac, own }: IdentityJudge,
  before: UserRecord,
  { answer: { userId, devices }, alarms }: { answer: UserAnswer; alarms: DeviceAlarm[] },
): StoredDevice[] {
  const present = new Map(before.devices.map((device) => [device.deviceId, device]));
  const known = new Map<string, KnownDevice>();
  for (const device of [...before.gone, ...before.devices]) known.set(device.deviceId, device);
  const kept = new Map<string, StoredDevice>();
  const holders = new Map<string, DeviceID>([[own.curve25519, ""]]); // no device has an empty name
  for (const { curve25519, deviceId, local } of known.values()) {
    if (local === "blacklisted") holders.set(curve25519, deviceId);
  }
  for (const device of before.devices) {
    if (Object.hasOwn(devices, device.deviceId)) holders.set(device.curve25519, device.deviceId);
  }
  const names = Object.keys(devices).filter((deviceId) => userId !== own.userId || deviceId !== own.deviceId);
  if (names.length > MAX_DEVICES) alarms.push({ kind: "too-many-devices", userId, count: names.length });
  for (const deviceId of knownFirst(names, present).slice(0, MAX_DEVICES)) {
    const value = devices[deviceId];
    const expected = { userId, deviceId, selfSigning: before.identity?.selfSigning };
    const keys = claimedKeys(value, expected);
    if (keys === "keyless") continue;
    const [earlier, current] = [known.get(deviceId), present.get(deviceId)];
    if (current !== undefined) kept.set(deviceId, current);
    if (keys === "malformed") continue;
    if (
      earlier !== undefined && (earlier.curve25519 !== keys.curve25519 || earlier.ed25519 !== keys.ed25519)
    ) {
      alarms.push({ kind: "keys-changed", userId, deviceId });
      continue;
    }
    if ((holders.get(keys.curve25519) ?? deviceId) !== deviceId) {
      alarms.push({ kind: "key-reused", userId, deviceId });
      continue;
    }
    const checked = checkDeviceKeys(vodozemac, value, expected);
    if (checked === undefined) continue;
    holders.set(checked.curve25519, deviceId);
    kept.set(deviceId, { ...checked, ...decided(earlier) });
  }
  return [...kept.values()];
}

/** What was decided here about a device stays, whatever the server shows. */
function decided({ local, signedHere }: Partial<KnownDevice> = {}): Partial<KnownDevice> {
  return { local, ...(signedHere !== undefined && { signedHere }) };
}

function knownFirst(names: readonly string[], known: ReadonlyMap<string, unknown>): readonly string[] {
  if (names.length <= MAX_DEVICES) return names;
  return [...names.filter((name) => known.has(name)), ...names.filter((name) => !known.has(name))];
}

/** The record with other devices; the immutable keys of former ones are kept. */
function withDevices(
  before: UserRecord,
  identity: StoredIdentity | undefined,
  devices: readonly StoredDevice[],
): UserRecord {
  const there = new Set(devices.map(({ deviceId }) => deviceId));
  const gone = [...before.gone, ...before.devices.map(lasting)].filter(({ deviceId }) =>
    !there.has(deviceId)
  );
  const sorted = devices.toSorted((one, other) => one.deviceId < other.deviceId ? -1 : 1);
  const hadIdentity = before.hadIdentity === true || before.identity !== undefined;
  return {
    devices: sorted,
    gone: newestOf(gone, MAX_DEVICES),
    identity,
    ...(hadIdentity && identity === undefined && { hadIdentity }),
  };
}

function lasting(device: KnownDevice): KnownDevice {
  const { deviceId, curve25519, ed25519, signedBy } = device;
  return { deviceId, curve25519, ed25519, signedBy, ...decided(device) };
}

/**
 * The former devices that are kept. Unsigned ones are dropped first, since a server can show any
 * number of them; devices that the application has decided about are dropped last, blocked ones at
 * the very last; among equals, those that have been gone for longest.
 *
 * @param gone The devices, from the one that has been gone for longest.
 * @param limit How many are remembered.
 */
export function newestOf(gone: readonly KnownDevice[], limit: number): readonly KnownDevice[] {
  let kept = gone;
  for (let weight = 0; kept.length > limit; weight++) {
    let surplus = kept.length - limit;
    kept = kept.filter((device) => weightOf(device) !== weight || surplus-- <= 0);
  }
  return kept;
}

function weightOf({ local, signedBy, signedHere }: KnownDevice): number {
  if (local !== undefined) return local === "blacklisted" ? 3 : 2;
  return signedBy === undefined && signedHere === undefined ? 0 : 1;
}

/**
 * Removes the devices of a user who is not tracked. Their immutable keys are kept for a year, and
 * forever if the user has an identity or the application has decided about a device.
 *
 * @returns Whether devices have gone.
 */
export async function pruneLeftUser(tx: Transaction, userId: UserID, now: number): Promise<boolean> {
  const record = await tx.get(userKey(userId));
  if (record === undefined) return false;
  if (record.leftAt === undefined) tx.set(userKey(userId), leftBehind(record, now));
  const { devices, gone, identity, leftAt = now } = record;
  const vouched = identity !== undefined || [...gone, ...devices].some(({ local }) => local !== undefined);
  if (!vouched && now - leftAt >= UNVOUCHED_USER_DAYS * DAY_MS) tx.delete(userKey(userId));
  else if (!vouched) schedulePruning(tx, userId, { now: leftAt, days: UNVOUCHED_USER_DAYS + 1 });
  return devices.length > 0;
}

/**
 * Immutable keys are kept of some former devices, and of all that the application has decided
 * about.
 */
function leftBehind(before: UserRecord, now: number): UserRecord {
  const { gone, identity } = withoutDevices(before);
  const spokenOf = gone.filter(({ local }) => local !== undefined).length;
  return { devices: [], gone: newestOf(gone, spokenOf + FORMER_DEVICES), identity, leftAt: now };
}

/** How many devices one step judges: they block the event loop for some hundred milliseconds. */
const PIECE = 1_000;

/** The part of a response about one user. */
interface UserPart {
  /**
   * Whether the user's server could not be reached; devices in the response may then be out of
   * date.
   */
  readonly unreachable: boolean;
  /** The user's keys; `absent`: there are none; `malformed`: they are no list of devices. */
  readonly answer: UserAnswer | "absent" | "malformed";
}

/** Returns whether a body is a response to a key query at all. */
export function isQueryResponse(response: JsonObject): boolean {
  return isJsonObject(response.device_keys);
}

/** The first users of a query whose devices fit into one step: at least one user. */
export function nextPiece(users: readonly UserID[], response: JsonObject): readonly UserID[] {
  let devices = 0;
  const end = users.findIndex((userId, index) => {
    const shown = memberOf(response.device_keys, userId);
    devices += isJsonObject(shown) ? Object.keys(shown).length : 0;
    return devices > PIECE && index > 0;
  });
  return end === -1 ? users : users.slice(0, end);
}

/** The part of a response about a user who was asked for. */
export function userPart(response: JsonObject, userId: UserID): UserPart {
  const devices = memberOf(response.device_keys, userId);
  const unreachable = isJsonObject(response.failures) && Object.hasOwn(response.failures, serverOf(userId));
  if (devices === undefined) return { unreachable, answer: "absent" };
  if (!isJsonObject(devices)) return { unreachable, answer: "malformed" };
  const answer = {
    userId,
    devices,
    master: memberOf(response.master_keys, userId),
    selfSigning: memberOf(response.self_signing_keys, userId),
    userSigning: memberOf(response.user_signing_keys, userId),
  };
  return { unreachable, answer };
}

/** The keys of a device in a response. */
export function shownKeys(answer: UserPart["answer"], deviceId: DeviceID): JsonObject | "missing" {
  const shown = typeof answer === "string" ? undefined : memberOf(answer.devices, deviceId);
  return isJsonObject(shown) ? shown : "missing";
}

/** An own member of an object, whatever its name. */
function memberOf(object: unknown, name: string): unknown {
  return isJsonObject(object) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
}

/** What the response to a query has changed. */
export class DeviceListChanges {
  /** Users with any change: of devices, trust or identity. */
  readonly changed: UserID[] = [];
  /** Devices that are new, or have come back. */
  readonly added: CryptoDevice[] = [];
  /** Devices that are gone: sessions whose keys they have must not be used any longer. */
  readonly removed: CryptoDevice[] = [];
  /** Possible attacks; each response that shows one reports it again. */
  readonly alarms: DeviceAlarm[] = [];
  /**
   * The own device's keys as the server shows them, unchecked; undefined if the response is not
   * about them.
   */
  own: JsonObject | "missing" | undefined;
  /** Whether the response has more users for the next step. */
  more = false;

  /**
   * Notes how a user's record has changed.
   *
   * @param verifier The own user-signing key, which verifies other users.
   */
  note(
    userId: UserID,
    { before, after }: { before: UserRecord; after: UserRecord },
    verifier: string | undefined,
  ): void {
    this.changed.push(userId);
    for (const device of missingFrom(before, devicesIn(after, { userId, verifier }))) this.added.push(device);
    for (const device of missingFrom(after, devicesIn(before, { userId, verifier }))) {
      this.removed.push(device);
    }
  }
}

function missingFrom({ devices }: UserRecord, candidates: readonly CryptoDevice[]): CryptoDevice[] {
  const there = new Set(devices.map(({ deviceId }) => deviceId));
  return candidates.filter(({ deviceId }) => !there.has(deviceId));
}

/** A response, and the user it is about. */
interface ReceivedUser {
  readonly userId: UserID;
  readonly query: DeviceQuery;
  /** The response, unchecked. */
  readonly response: JsonObject;
  /** The user's record so far. */
  readonly before: UserRecord;
  /** Receives alarms, and what is shown of the own device. */
  readonly changes: DeviceListChanges;
}

/** The user's record after a response: the same object if nothing has changed. */
export function receiveUser(
  tx: Transaction,
  { context: { clock, own, vodozemac }, tracked, verifier }: {
    /** What the parts of the engine share. */
    readonly context: CryptoContext;
    /** Who has to be queried. */
    readonly tracked: TrackedUsers;
    /** The own user-signing key, which verifies other users; undefined: none. */
    readonly verifier: string | undefined;
  },
  { userId, query, response, before, changes }: ReceivedUser,
): UserRecord {
  const { unreachable, answer } = userPart(response, userId);
  if (unreachable) tracked.unreachable(tx, userId, clock.now());
  else if (typeof answer !== "string") tracked.answered(tx, userId, query);
  else tracked.absent(tx, userId, { query, now: clock.now() });
  if (answer === "malformed" || (unreachable && answer === "absent")) return before;
  if (userId === own.userId) changes.own = shownKeys(answer, own.deviceId);
  const { record, alarms } = answer === "absent"
    ? { record: withoutDevices(before), alarms: [] }
    : judgeAnswer({ vodozemac, own, verifier }, before, answer);
  for (const alarm of alarms) changes.alarms.push(alarm);
  return JSON.stringify(record) === JSON.stringify(before) ? before : record;
}
