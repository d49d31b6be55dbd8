/**
 * Who has invited a bot where.
 *
 * @module
 */

import { type Client, defineSession, type SessionChange, type SessionDefinition } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";

/** Who has invited a bot, and when. */
export interface Inviter {
  /** Who. */
  readonly by: UserID;
  /** When the invitation was handled, in milliseconds since the epoch. */
  readonly at: number;
}

const INVITERS = defineSession<{ inviter: Inviter | undefined }>({
  name: "bot.inviters",
  per: "room",
  initial: () => ({ inviter: undefined }),
});

/** A change of a session, as `updateSession()` takes it. */
type Update = [
  SessionDefinition<{ inviter: Inviter | undefined }>,
  RoomID,
  SessionChange<{ inviter: Inviter | undefined }>,
];

/** Remembers who has invited. */
export class Inviters {
  readonly #client: Client;

  /** @param client Keeps it. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Who has invited into a room; undefined: nobody, as far as is known. */
  async of(room: RoomID): Promise<Inviter | undefined> {
    return (await this.#client.sessions.read(INVITERS, room))?.inviter;
  }

  /** Notes who has invited. */
  note(room: RoomID, inviter: Inviter): Update {
    return [INVITERS, room, () => ({ inviter })];
  }

  /** Forgets who has invited into a room that the bot has left. */
  forget(room: RoomID): Update {
    return [INVITERS, room, () => null];
  }
}
