/**
 * A person with a client of their own, who talks and reads.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { Noticeboard } from "./noticeboard.ts";

/** A message that a person has read. */
export interface Reading {
  readonly room: RoomID;
  readonly event: EventID;
  readonly sender: UserID;
  readonly body: string;
}

/** A person. */
export class Person {
  readonly client: Client;
  readonly userId: UserID;
  /** What was read, in order. */
  readonly readings: Reading[] = [];
  /** Who was seen in a room, and as what: `room user membership`, the latest last. */
  readonly #members = new Map<string, string>();
  readonly #board = new Noticeboard();

  /** @param client A client that is logged in; it is started. */
  constructor(client: Client, { userId }: { readonly userId: UserID }) {
    this.client = client;
    this.userId = userId;
    client.on("m.room.message", ({ room_id: room, event_id: event, sender, content }) => {
      this.readings.push({ room, event, sender, body: String(content.body) });
      this.#board.changed();
    });
    client.on("m.room.member", ({ room_id, state_key, content }) => {
      this.#members.set(`${room_id} ${state_key}`, String(content.membership));
      this.#board.changed();
    });
    client.start().catch(() => {}); // what matters of that is missed by the story
  }

  /** Makes a room, with others invited. */
  async room(encrypted: boolean, ...invitees: UserID[]): Promise<RoomID> {
    const encryption = {
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2" },
    };
    return await this.client.createRoom({
      preset: "private_chat",
      invitees,
      ...(encrypted && { initialState: [encryption] }),
    });
  }

  /** Waits until a user is something to a room. */
  async sees(room: RoomID, user: UserID, membership: string): Promise<void> {
    await this.#board.until(
      `${user} is to be ${membership}`,
      () => this.#members.get(`${room} ${user}`) === membership,
    );
  }

  /** Waits for messages of a user in a room: until there are so many, or until one says this. */
  async reads(room: RoomID, sender: UserID, what: string | number | (() => number)): Promise<void> {
    const wanted = () => typeof what === "function" ? what() : what;
    await this.#board.until(`${sender} is to say ${wanted()}`, () => {
      const [bodies, now] = [this.of(room, sender), wanted()];
      return typeof now === "number" ? bodies.length >= now : bodies.includes(now);
    });
  }

  /** What a user has said in a room. */
  of(room: RoomID, sender: UserID): string[] {
    return this.readings.filter((reading) => reading.room === room && reading.sender === sender)
      .map(({ body }) => body);
  }
}
