/**
 * Makes users of the in-process homeserver.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { DeviceID } from "../types/ids.ts";
import type { ServerState } from "./server/mod.ts";
import { type TestHome, TestUser } from "./test_user.ts";

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
export function createUser(
  home: Omit<TestHome, "now" | "wait">,
  state: ServerState,
  localpart: string,
  options: CreateUserOptions,
): TestUser {
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
  const own: TestHome = {
    get baseUrl() {
      return home.baseUrl; // another once it listens
    },
    fetch: home.fetch,
    room: (roomId) => home.room(roomId),
    now: () => state.now,
    wait: (userId, ms) => state.stream.wait(userId, ms, state.closing),
  };
  return new TestUser(own, made);
}
