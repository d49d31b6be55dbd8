/**
 * An intent: all operations of a client, as one of the users of an application service.
 *
 * @module
 */

import { type ClientAPI, clientAPI } from "../api/api.ts";
import { HTTPAPI, Session } from "../api/http/mod.ts";
import type { Client } from "../client/client.ts";
import { NotFoundError } from "../errors/request_errcodes.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import type { GhostProfile } from "./queries.ts";

/** What an intent works with. */
export interface IntentParts {
  /** Has the client do something that acts as a user: made at its first use, and when it was let go. */
  readonly run: <Result>(userId: UserID, call: (client: Client) => Result) => Result;
  /** Makes sure that the user exists on the homeserver. */
  readonly register: (userId: UserID) => Promise<void>;
  /** Has a user join a room. */
  readonly join: (userId: UserID, roomId: RoomID) => Promise<void>;
}

/** The names of all operations. Nothing is asked: they are made to read their names. */
const OPERATIONS = Object.keys(clientAPI(new Session(new HTTPAPI({ baseUrl: "http://localhost" }))));

/**
 * A user of an application service: it has every operation of a client, acts as that user, and
 * costs nothing until it does. The user is registered with the first request, and joins a room
 * before it sends there.
 *
 * Made by {@linkcode Appservice.intent}.
 */
export class Intent {
  /** As whom it acts. */
  readonly userId: UserID;
  readonly #parts: IntentParts;
  /** The profile, as the server has it; undefined: not known. */
  #profile: Promise<GhostProfile> | undefined;

  /**
   * Made by the application service.
   *
   * @internal
   * @param userId The user.
   * @param parts What it works with.
   */
  constructor(userId: UserID, parts: IntentParts) {
    this.userId = userId;
    this.#parts = parts;
  }

  static {
    for (const name of OPERATIONS) {
      const call = function (this: Intent, ...args: unknown[]): unknown {
        return this.#parts.run(this.userId, (client) => {
          const operations = client as unknown as Record<string, (...args: unknown[]) => unknown>;
          return operations[name]?.(...args);
        });
      };
      Object.defineProperty(this.prototype, name, { value: call, configurable: true, writable: true });
    }
  }

  /** Registers the user, unless it is registered. Every request does so before. */
  async ensureRegistered(): Promise<void> {
    await this.#parts.register(this.userId);
  }

  /**
   * Has the user join a room, unless it is there: invited by the application service's own user, if
   * it takes an invitation. Whatever sends to a room does so before.
   *
   * @param roomId The room.
   */
  async ensureJoined(roomId: RoomID): Promise<void> {
    await this.#parts.register(this.userId);
    await this.#parts.join(this.userId, roomId);
  }

  /**
   * Sets the user's profile, as far as it is different: the server is asked once what it is.
   *
   * @param profile The profile.
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
