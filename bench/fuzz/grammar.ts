/**
 * Sync responses by a grammar of Matrix: valid ones, with hostile corners.
 *
 * @module
 */

import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { type GrammarParts, RoomGrammar } from "./room_grammar.ts";

type Json = Record<string, unknown>;

/** Makes sync responses. */
export class Grammar {
  readonly rooms: RoomGrammar;
  readonly #parts: GrammarParts;

  /** @param parts What it is made of. */
  constructor(parts: GrammarParts) {
    this.#parts = parts;
    this.rooms = new RoomGrammar(parts);
  }

  /** A response that ends with a token. */
  response(nextBatch: string): Json {
    const { random, senders, oddValues } = this.#parts;
    const response: Json = { next_batch: nextBatch };
    const sometimes = (percent: number, name: string, make: () => unknown): void => {
      if (random.chance(percent)) response[name] = make();
    };
    sometimes(80, "rooms", () => this.#rooms());
    sometimes(40, "to_device", () => ({ events: this.rooms.list(() => this.#toDevice(), 2) }));
    sometimes(20, "device_lists", () => ({
      changed: this.rooms.list(() => this.rooms.userId()),
      left: this.rooms.list(() => this.rooms.userId(), 1),
    }));
    sometimes(99, "device_one_time_keys_count", () => ({
      signed_curve25519: random.chance(99) ? senders.keyCount : random.pick([0, 1, 1e9, -1]),
    }));
    sometimes(99, "device_unused_fallback_key_types", () => random.chance(99) ? ["signed_curve25519"] : []);
    sometimes(5, "presence", () => ({
      events: this.rooms.list(() => ({
        type: "m.presence",
        sender: this.rooms.userId(),
        content: { presence: random.pick(["online", "away"]), last_active_ago: oddValues.value() },
      })),
    }));
    sometimes(10, "account_data", () => ({ events: this.rooms.list(() => this.#accountData()) }));
    return response;
  }

  /** Events of a room's history, as they are asked for. */
  history(roomId: string): Json {
    const { random } = this.#parts;
    const chunk = this.rooms.list(() => ({ ...this.rooms.timelineEvent(roomId), room_id: roomId }), 10);
    return { start: "a", end: random.chance(30) ? `h${random.below(1_000)}` : undefined, chunk };
  }

  #rooms(): Json {
    const { random } = this.#parts;
    const rooms: Json = {};
    const put = (section: string, room: (roomId: string) => unknown): void => {
      const roomId = this.rooms.roomId();
      rooms[section] = { [roomId]: room(roomId) };
    };
    if (random.chance(85)) {
      const joined = this.rooms.list(() => this.rooms.roomId(), 2).map((
        id,
      ): [string, Json] => [id, this.#joined(id)]);
      rooms.join = Object.fromEntries(joined);
    }
    if (random.chance(8)) put("leave", (id) => this.#joined(id));
    if (random.chance(8)) put("invite", () => ({ invite_state: { events: this.#stripped("invite") } }));
    if (random.chance(2)) put("knock", () => ({ knock_state: { events: this.#stripped("knock") } }));
    return rooms;
  }

  #joined(roomId: string): Json {
    const { random } = this.#parts;
    const state = { events: random.chance(50) ? [] : this.rooms.list(() => this.rooms.stateEvent()) };
    const timeline = {
      events: this.rooms.list(() => this.rooms.timelineEvent(roomId)),
      limited: random.chance(10),
      prev_batch: `p${random.below(1_000)}`,
    };
    const room: Json = random.chance(70) ? { state, timeline } : { state_after: state, timeline };
    if (random.chance(10)) {
      room.msc4354_sticky = { events: this.rooms.list(() => this.rooms.timelineEvent(roomId)) };
    }
    if (random.chance(20)) room.ephemeral = { events: this.rooms.list(() => this.rooms.ephemeral()) };
    if (random.chance(10)) room.account_data = { events: this.rooms.list(() => this.#accountData()) };
    if (random.chance(20)) room.summary = { "m.joined_member_count": random.pick([1, -1, 1e21]) };
    if (random.chance(20)) room.unread_notifications = { highlight_count: random.pick([0, "x"]) };
    return room;
  }

  #stripped(membership: string): Json[] {
    const { random } = this.#parts;
    const stripped = ({ type, state_key, sender, content }: Json): Json => ({
      type,
      state_key,
      sender,
      content,
    });
    const own = {
      type: "m.room.member",
      state_key: OWN_USER,
      sender: this.rooms.userId(),
      content: { membership },
    };
    const events = this.rooms.list(() => stripped(this.rooms.stateEvent()));
    return random.chance(90) ? [...events, own] : events;
  }

  #toDevice(): Json {
    const { random, senders, oddValues } = this.#parts;
    const from = this.rooms.person();
    const roomId = this.rooms.roomId();
    const clear = (type: string, content: unknown): Json => ({ type, sender: this.rooms.userId(), content });
    const sealed = (type: string, content: unknown, change: Json = {}): Json => {
      return senders.olm(from, type, content, change) ?? clear(type, content);
    };
    switch (random.below(14)) {
      case 0:
        return sealed("m.forwarded_room_key", senders.forwardedKey(from, roomId));
      case 1:
        return clear("m.room_key.withheld", {
          ...senders.roomKey(from, roomId),
          code: random.pick(["m.blacklisted", "m.no_olm", "m.unverified", ""]),
          session_key: undefined,
        });
      case 2:
        return clear("m.room_key_request", {
          action: random.pick(["request", "request_cancellation", ""]),
          requesting_device_id: from.deviceId,
          request_id: `r${random.below(100)}`,
          body: { ...senders.roomKey(from, roomId), session_key: undefined },
        });
      case 3:
        return sealed("m.dummy", {});
      case 4: {
        const lie = random.pick<Json>([
          { sender: this.rooms.userId() },
          { recipient: this.rooms.userId() },
          { recipient_keys: oddValues.value() },
          { keys: oddValues.value() },
          { sender_device_keys: oddValues.value() },
          { content: oddValues.value() },
        ]);
        return sealed("m.room_key", senders.roomKey(from, roomId), lie);
      }
      case 5: {
        const message = sealed("m.room_key", senders.roomKey(from, roomId));
        const content = message.content as Json;
        return { ...message, content: { ...content, ciphertext: oddValues.value() } };
      }
      case 6:
        return sealed("org.example.note", { note: oddValues.value() });
      case 7:
        return clear(
          random.pick(["m.key.verification.request", "m.secret.request", "m.dummy", "m.room_key"]),
          {
            from_device: from.deviceId,
            transaction_id: oddValues.text(),
            methods: ["m.sas.v1"],
          },
        );
      default:
        return sealed("m.room_key", senders.roomKey(from, roomId));
    }
  }

  #accountData(): Json {
    const { random, oddValues } = this.#parts;
    return random.pick<Json>([
      { type: "m.direct", content: { [this.rooms.userId()]: [this.rooms.roomId()] } },
      { type: "m.ignored_user_list", content: { ignored_users: { [this.rooms.userId()]: {} } } },
      { type: "m.push_rules", content: { global: oddValues.value() } },
      { type: "m.fully_read", content: { event_id: this.rooms.eventId() } },
      { type: "m.tag", content: { tags: { "u.work": { order: 0.5 } } } },
    ]);
  }
}
