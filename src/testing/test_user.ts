/**
 * Users of the in-process homeserver, logged in.
 *
 * @module
 */

import { hintAt, type Hints } from "../errors/hints.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { ServerState } from "./server/mod.ts";
import { TEST_USER_HINTS } from "./testing_hints.ts";

/** A user made by {@link Homeserver.createUser}, logged in. */
export interface TestUser {
  /** The localpart with the server's name. */
  readonly userId: UserID;
  /** The device of the access token. */
  readonly deviceId: DeviceID;
  /** The access token of the user and the device. */
  readonly accessToken: string;
  /** The password of the user, for `login()`. */
  readonly password: string;
}

/** @internal What clients of a user do, for the compiler. */
export interface TestUserHints extends Hints<typeof TEST_USER_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface TestUser extends TestUserHints {}

/** Options of {@link Homeserver.createUser}. */
export interface CreateUserOptions {
  /** The password. Defaults to `password of <localpart>`. */
  readonly password?: string;
  /** The display name. Defaults to the localpart, as on Synapse. */
  readonly displayname?: string;
  /** The ID of the device. Defaults to a new one. */
  readonly deviceId?: DeviceID;
  /**
   * The homeserver of the user, one that federates with this one: it is played by this one, and what the user
   * does arrives at once. Defaults to this one.
   */
  readonly serverName?: string;
}

const USER: OptionNames<CreateUserOptions> = {
  ...{ password: true, displayname: true, deviceId: true, serverName: true },
};

/** Creates a user with a device and an access token: see {@linkcode Homeserver.createUser}. */
export function createUser(state: ServerState, localpart: string, options: CreateUserOptions): TestUser {
  checkOptions(options, USER, "make a user");
  if (typeof localpart !== "string" || /^@|:|^$/.test(localpart)) {
    throw new ValueError(
      `Cannot make a user ${localpart}: give the localpart alone, such as "alice", without @ and server`,
    );
  }
  const { password = `password of ${localpart}`, displayname, deviceId, serverName } = options;
  const user = state.addUser(localpart, password, serverName);
  if (displayname !== undefined) user.profile.set("displayname", displayname);
  const device = state.addDevice(user, deviceId, undefined);
  const session = state.sessions.open(user, device);
  const made = { userId: user.id, deviceId: device.id, accessToken: session.token, password };
  hintAt(made, "a user of the homeserver for tests", TEST_USER_HINTS);
  return made as TestUser;
}

/**
 * Sends a request of the client-server API as a user: see {@linkcode BotTester.request}.
 *
 * @throws {ValueError} If the homeserver refuses.
 */
export async function requestAs(
  { baseUrl, fetch }: { readonly baseUrl: string; readonly fetch: typeof globalThis.fetch },
  { userId, accessToken }: TestUser,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: JsonObject },
): Promise<JsonObject> {
  const response = await fetch(`${baseUrl}/_matrix/client/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (!response.ok || !isJsonObject(answer)) {
    throw new ValueError(`Cannot ${method} ${path} as ${userId}: ${JSON.stringify(answer)}`);
  }
  return answer;
}
