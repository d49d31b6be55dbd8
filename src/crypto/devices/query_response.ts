/**
 * The response to a key query: its parts by user, how each is received, and what it has changed.
 *
 * @module
 */

import { serverOf } from "../../types/identifiers.ts";
import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type CryptoDevice, devicesIn, type UserRecord } from "./user_record.ts";
import { judgeAnswer, type UserAnswer, withoutDevices } from "./user_answer.ts";
import type { Transaction } from "../records/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import type { DeviceQuery, TrackedUsers } from "./tracked_users.ts";

/** How many devices one step judges: they block the event loop for some hundred milliseconds. */
const PIECE = 1_000;

/** The part of a response about one user. */
export interface UserPart {
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
export interface ReceivedUser {
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
