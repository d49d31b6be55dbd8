/**
 * An intent: all operations of a client, as one of the users of an application service.
 *
 * @module
 */

import { type ClientAPI, plainOperations, RAW_NAMES } from "../api/api.ts";
import { RecentMap } from "../base/recent_map.ts";
import { NotFoundError } from "../errors/errcodes.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import type { ActingClients } from "./service_kit.ts";
import type { Ghosts } from "./ghosts.ts";
import type { OwnUsers } from "./own_users.ts";
import type { GhostProfile } from "./appservice_options.ts";

/** The names of a client's operations. */
const OPERATIONS = plainOperations().names.filter((name) => !(name in RAW_NAMES));

/**
 * A user of an application service: it has every operation of a client, acts as that user, and
 * costs nothing until it does. The user is registered with the first request, and joins a room
 * before it sends there.
 *
 * Made by {@linkcode Appservice.intent}.
 */
export class Intent {
  /** The user as whom it acts. */
  readonly userId: UserID;
  readonly #clients: ActingClients;
  readonly #ghosts: Ghosts;
  /** The profile, as the server has it; undefined: not known. */
  #profile: Promise<GhostProfile> | undefined;

  /**
   * Made by the application service.
   *
   * @internal
   * @param userId The user.
   * @param clients Act as users.
   * @param ghosts Registers users, and has them join.
   */
  constructor(userId: UserID, clients: ActingClients, ghosts: Ghosts) {
    this.userId = userId;
    this.#clients = clients;
    this.#ghosts = ghosts;
  }

  static {
    for (const name of OPERATIONS) {
      const call = function (this: Intent, ...args: unknown[]): unknown {
        return this.#clients.run(this.userId, (client) => {
          const operations = client as unknown as Record<string, (...args: unknown[]) => unknown>;
          return operations[name]?.(...args);
        });
      };
      Object.defineProperty(this.prototype, name, { value: call, configurable: true, writable: true });
    }
  }

  /**
   * Registers the user, unless that is done. Every other operation does it first, so you need it
   * only to have the user exist.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function makeUser(appservice: Appservice): Promise<void> {
   *   await appservice.intent("_echo_parrot").ensureRegistered();
   * }
   * ```
   */
  async ensureRegistered(): Promise<void> {
    await this.#ghosts.register(this.userId);
  }

  /**
   * Joins a room as the user, unless the user is in it. If the room takes an invitation, the
   * application service's own user invites. Operations that send to a room do this first.
   *
   * @param roomId The room.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function bring(appservice: Appservice, roomId: RoomID, names: string[]): Promise<void> {
   *   for (const name of names) await appservice.intent(`_echo_${name}`).ensureJoined(roomId);
   * }
   * ```
   */
  async ensureJoined(roomId: RoomID): Promise<void> {
    await this.#ghosts.register(this.userId);
    await this.#ghosts.join(this.userId, roomId);
  }

  /**
   * Sets the display name and the avatar of the user where they differ. The server is asked once for
   * the profile, and then not again.
   *
   * @param profile The profile. What it leaves out stays as it is.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import type { Appservice } from "@greenroom/matrix/appservice";
   *
   * export async function rename(appservice: Appservice, displayname: string): Promise<void> {
   *   await appservice.intent("_echo_parrot").ensureProfile({ displayname });
   * }
   * ```
   */
  async ensureProfile(profile: GhostProfile): Promise<void> {
    const before = this.#profile;
    const change = async (): Promise<GhostProfile> => {
      const known = await (before ?? this.#readProfile());
      const { displayname = known.displayname, avatarUrl = known.avatarUrl } = profile;
      if (displayname !== known.displayname) await this.setDisplayname(displayname, KNOWN);
      if (avatarUrl !== known.avatarUrl) await this.setAvatarUrl(avatarUrl, KNOWN);
      return { displayname, avatarUrl };
    };
    const changed = this.#profile = change(); // one after the other
    await changed.catch((error) => {
      if (this.#profile === changed) this.#profile = undefined;
      throw error;
    });
  }

  async #readProfile(): Promise<GhostProfile> {
    try {
      const { displayname, avatar_url } = await this.getProfile(this.userId);
      return { displayname, avatarUrl: avatar_url };
    } catch (error) {
      if (error instanceof NotFoundError) return {}; // nobody has set one yet
      throw error;
    }
  }
}

/** What there is was looked up before. */
const KNOWN = { checkCurrent: false };

/** The operations, which are on the prototype. */
export interface Intent extends ClientAPI {}

/** How many intents are remembered. */
const MAX_INTENTS = 100_000;

/** The intents of an application service. */
export class Intents {
  readonly #users: OwnUsers;
  readonly #clients: ActingClients;
  readonly #ghosts: Ghosts;
  readonly #known = new RecentMap<UserID, Intent>(MAX_INTENTS);

  /**
   * @param users Of the application service.
   * @param clients Act as users.
   * @param ghosts Registers users, and has them join.
   */
  constructor(users: OwnUsers, clients: ActingClients, ghosts: Ghosts) {
    this.#users = users;
    this.#clients = clients;
    this.#ghosts = ghosts;
  }

  /**
   * The intent of a user, by the ID or what stands before its colon.
   *
   * @throws {ValueError} If the namespaces of the registration do not have it.
   */
  of(user: string): Intent {
    const userId = this.#users.actable(user);
    const intent = this.#known.get(userId) ?? new Intent(userId, this.#clients, this.#ghosts);
    this.#known.set(userId, intent);
    return intent;
  }
}
