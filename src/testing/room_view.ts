/**
 * A look at a room from the outside, for assertions.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import type { Room, RoomEvent } from "./rooms/mod.ts";

/** An event as {@link RoomView} shows it. */
export interface ViewedEvent {
  /** Identifies it among the room's events. */
  readonly event_id: EventID;
  /** Such as `m.room.message`. */
  readonly type: string;
  /** Who sent it. */
  readonly sender: UserID;
  /** When, in milliseconds since the epoch. */
  readonly origin_server_ts: number;
  /** Its state key, if it is state. */
  readonly state_key?: string;
  /** Its content; what is left of it if it was redacted. */
  readonly content: JsonObject;
}

/** A room from the outside: everything is as it is at the moment of the call. */
export class RoomView {
  readonly #room: Room;

  /** Looks at a room. */
  constructor(room: Room) {
    this.#room = room;
  }

  /** What clients call it. */
  get id(): RoomID {
    return this.#room.id;
  }

  /** All events, oldest first. */
  get events(): ViewedEvent[] {
    return this.#room.events.map(view);
  }

  /** The events that are messages, in the sense that they are no state. */
  get messages(): ViewedEvent[] {
    return this.#room.events.filter(({ stateKey }) => stateKey === undefined).map(view);
  }

  /** Who is typing. */
  get typing(): UserID[] {
    return [...this.#room.typing.keys()];
  }

  /** The content of a state event in force. */
  state(type: string, stateKey = ""): JsonObject | undefined {
    return this.#room.state(type, stateKey)?.content;
  }

  /** The membership of a user; `leave` if they never had one. */
  membership(user: UserID): string {
    return this.#room.membership(user);
  }

  /** Lists who is in the room, or has another membership. */
  members(membership = "join"): UserID[] {
    return this.#room.membersWith(membership);
  }

  /** The event that a user has read up to. */
  readBy(user: UserID, type = "m.read"): EventID | undefined {
    return this.#room.receipts.of(user).filter((receipt) => receipt.type === type).at(-1)?.event;
  }
}

function view(event: RoomEvent): ViewedEvent {
  return {
    event_id: event.id,
    type: event.type,
    sender: event.sender,
    origin_server_ts: event.timestamp,
    ...(event.stateKey === undefined ? {} : { state_key: event.stateKey }),
    content: event.content,
  };
}
