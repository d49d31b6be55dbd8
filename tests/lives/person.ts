/**
 * A person with a client of their own, who talks and reads.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { Noticeboard } from "./noticeboard.ts";

/** The type of events that no bot listens to. */
const NOISE = "org.example.noise";

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
  readonly #keepsBack: boolean;
  readonly #rooms: RoomID[] = [];

  /**
   * @param client A client that is logged in; it is started.
   * @param options.keepsBack Whether bots may not be told of something before something else happens.
   */
  constructor(
    client: Client,
    { userId, keepsBack = false }: { readonly userId: UserID; readonly keepsBack?: boolean },
  ) {
    this.client = client;
    this.userId = userId;
    this.#keepsBack = keepsBack;
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
    const room = await this.client.createRoom({
      preset: "private_chat",
      invitees,
      ...(encrypted && { initialState: [encryption] }),
    });
    this.#rooms.push(room);
    return room;
  }

  /** Waits until a user is something to a room; who may not have been told is invited to another one. */
  async sees(room: RoomID, user: UserID, membership: string): Promise<void> {
    await this.#board.until(
      `${user} is to be ${membership}`,
      () => this.#members.get(`${room} ${user}`) === membership,
      this.#keepsBack ? () => this.client.createRoom({ invitees: [user] }) : undefined,
    );
  }

  /** Waits for messages of a user in a room: until there are so many, or until one says this. */
  async reads(room: RoomID, sender: UserID, what: string | number): Promise<void> {
    const isRead = () => {
      const bodies = this.of(room, sender);
      return typeof what === "number" ? bodies.length >= what : bodies.includes(what);
    };
    await this.#board.until(
      `${sender} is to say ${what}`,
      isRead,
      this.#keepsBack ? () => this.#noise(room) : undefined,
    );
  }

  /** Has something happen, that no bot listens to, in the rooms that this person has made. */
  async makeNoise(): Promise<void> {
    await Promise.all(this.#rooms.map((room) => this.#noise(room)));
  }

  async #noise(room: RoomID): Promise<void> {
    await this.client.sendMessageEvent(room, NOISE, {});
  }

  /** What a user has said in a room. */
  of(room: RoomID, sender: UserID): string[] {
    return this.readings.filter((reading) => reading.room === room && reading.sender === sender)
      .map(({ body }) => body);
  }
}
