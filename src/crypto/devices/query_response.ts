/**
 * The answer to a query of keys, taken apart.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { serverOf } from "./query_backoff.ts";
import type { UserAnswer } from "./user_answer.ts";

/** How many devices are judged in one step: some hundred milliseconds, in which this process does nothing else. */
const PIECE = 1_000;

/** What an answer says of one user. */
export interface UserPart {
  /** Whether the server says that it could not ask the one that knows; what it says all the same may be out of date. */
  readonly unreachable: boolean;
  /** What it says; `absent`: nothing; `malformed`: something that is no list of devices. */
  readonly answer: UserAnswer | "absent" | "malformed";
}

/** Whether a body is an answer to a query at all. */
export function isQueryResponse(response: JsonObject): boolean {
  return isJsonObject(response.device_keys);
}

/** As many users, the first of those that are asked of, as have some devices together: one at least. */
export function nextPiece(users: readonly UserID[], response: JsonObject): readonly UserID[] {
  let devices = 0;
  const end = users.findIndex((userId, index) => {
    const shown = memberOf(response.device_keys, userId);
    devices += isJsonObject(shown) ? Object.keys(shown).length : 0;
    return devices > PIECE && index > 0;
  });
  return end === -1 ? users : users.slice(0, end);
}

/** What an answer says of a user. Whoever was not asked of is not looked at. */
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

/** What an answer shows as the keys of a device. */
export function shownKeys(answer: UserPart["answer"], deviceId: DeviceID): JsonObject | "missing" {
  const shown = typeof answer === "string" ? undefined : memberOf(answer.devices, deviceId);
  return isJsonObject(shown) ? shown : "missing";
}

/** A member of its own, whatever its name. */
function memberOf(object: unknown, name: string): unknown {
  return isJsonObject(object) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
}
