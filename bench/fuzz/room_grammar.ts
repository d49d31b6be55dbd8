/**
 * Events of rooms, as servers pass them on: valid ones, with hostile corners.
 *
 * @module
 */

import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import type { Person } from "../peers/inputs/person.ts";
import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { MEGOLM, type Senders } from "./senders.ts";
import type { OddValues } from "./odd_values.ts";

type Json = Record<string, unknown>;

/** A room ID as room version 12 makes them, one as all others do, and odd ones. */
export const ROOMS: readonly string[] = [
  ...["!one:example.org", "!two:example.org", "!three:example.org", "!four:example.org"],
  ...[
    "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM",
    "!:",
    "!__proto__:example.org",
    `!${"r".repeat(200)}:x`,
    `!${"\u0001".repeat(252)}:x`,
    `!${"\ue000".repeat(252)}:x`,
  ],
];
/** Who is there beside those with devices. */
const OTHERS = [
  ...[
    OWN_USER,
    "@constructor:example.org",
    "@:example.org",
    `@${"u".repeat(200)}:x`,
    `@${"\u0001".repeat(252)}:x`,
    "@é🎉:example.org",
  ],
];
const MEMBERSHIPS = ["join", "leave", "invite", "ban", "knock", "JOIN", ""];
const ALGORITHMS = [MEGOLM, MEGOLM, MEGOLM, "m.megolm.v2", ""];
/** How many events there are, by name: some come again. */
const EVENT_IDS = 3_000;

/** What grammars are made of. */
export interface GrammarParts {
  readonly random: Random;
  readonly oddValues: OddValues;
  readonly senders: Senders;
}

/** Makes events of rooms. */
export class RoomGrammar {
  readonly #parts: GrammarParts;
  #events = 0;

  /** @param parts What it is made of. */
  constructor(parts: GrammarParts) {
    this.#parts = parts;
  }

  /** A room. */
  roomId(): string {
    return this.#parts.random.pick(ROOMS);
  }

  /** A person with a device. */
  person(): Person {
    return this.#parts.random.pick(this.#parts.senders.people);
  }

  /** Any user. */
  userId(): string {
    return this.#parts.random.chance(75) ? this.person().userId : this.#parts.random.pick(OTHERS);
  }

  /** An event ID: mostly of an event that was not there yet. */
  eventId(): string {
    const { random } = this.#parts;
    if (random.chance(70)) return `$e${random.next().toString(36)}${this.#events++}:example.org`;
    return random.chance(95)
      ? `$known${random.below(EVENT_IDS)}`
      : random.pick(["$", "$__proto__", `$${"e".repeat(250)}`, `$${"\u0001".repeat(254)}`]);
  }

  /** Several of something. */
  list<Item>(make: () => Item, most = 3): Item[] {
    const { random } = this.#parts;
    const count = random.below(1_000) === 0 ? random.pick([100, 300]) : random.below(most + 1);
    return Array.from({ length: count }, make);
  }

  /** An event of a timeline. */
  timelineEvent(roomId: string): Json {
    const { random } = this.#parts;
    const kind = random.below(10);
    const event = kind < 4 ? this.#message() : kind < 7 ? this.#encrypted(roomId) : this.stateEvent();
    return this.#withUnsigned(event, roomId);
  }

  /** An event of a room's state. */
  stateEvent(): Json {
    const { random, oddValues } = this.#parts;
    const state = (type: string, content: unknown, stateKey = ""): Json => {
      return { ...this.#envelope(type, content), state_key: stateKey };
    };
    switch (random.below(14)) {
      case 0:
        return state("m.room.name", { name: oddValues.text() });
      case 1:
        return state("m.room.power_levels", {
          users: { [this.userId()]: random.pick([100, "100", 50.5, -1, 2 ** 53]) },
          events: { "m.room.name": random.pick([50, null]) },
          users_default: 0,
        });
      case 2:
        return state("m.room.encryption", {
          algorithm: random.pick(ALGORITHMS),
          rotation_period_ms: random.pick([604_800_000, 0, -1, "x"]),
          rotation_period_msgs: random.pick([100, 1, 0, 1e21]),
        });
      case 3:
        return state("m.room.history_visibility", {
          history_visibility: random.pick(["shared", "joined", "invited", "world_readable", "", 5]),
        });
      case 4:
        return state("m.room.create", {
          room_version: random.pick(["11", "12", 1]),
          type: random.pick(["m.space", 0]),
        });
      case 5:
        return state("m.room.tombstone", { body: "gone", replacement_room: this.roomId() });
      case 6:
        return state("m.space.child", { via: ["example.org"], order: oddValues.text() }, this.roomId());
      case 7:
        return state(
          `org.example.${oddValues.name().slice(0, 20)}`,
          { value: oddValues.value() },
          oddValues.name().slice(0, 60),
        );
      default: {
        const membership = random.pick(MEMBERSHIPS);
        return state(
          "m.room.member",
          { membership, displayname: oddValues.text().slice(0, 300) },
          this.userId(),
        );
      }
    }
  }

  /** Typing, receipts and the like. */
  ephemeral(): Json {
    const { random } = this.#parts;
    if (random.chance(50)) return { type: "m.typing", content: { user_ids: this.list(() => this.userId()) } };
    const receipt = { "m.read": { [this.userId()]: { ts: random.pick([1, -1, "x"]), thread_id: "main" } } };
    return { type: "m.receipt", content: { [this.eventId()]: receipt } };
  }

  #message(): Json {
    const { random } = this.#parts;
    switch (random.below(6)) {
      case 0: {
        const relation = {
          rel_type: "m.annotation",
          event_id: this.eventId(),
          key: this.#parts.oddValues.text(),
        };
        return this.#envelope("m.reaction", { "m.relates_to": relation });
      }
      case 1:
        return {
          ...this.#envelope("m.room.redaction", { redacts: this.eventId() }),
          redacts: this.eventId(),
        };
      case 2:
        return this.#envelope(random.pick(["org.example.poll", "m.call.invite", "m.sticker"]), { body: "?" });
      default:
        return this.#envelope("m.room.message", this.#text());
    }
  }

  #text(): Json {
    const { random, oddValues } = this.#parts;
    const content: Json = {
      msgtype: random.pick(["m.text", "m.notice", "m.image", "m.odd"]),
      body: oddValues.text(),
    };
    if (random.chance(20)) {
      content["m.mentions"] = { user_ids: this.list(() => this.userId()), room: random.chance(50) };
    }
    if (random.chance(20)) content["m.relates_to"] = this.#relation();
    if (random.chance(5)) {
      content.file = { url: "mxc://a/b", key: oddValues.value(), iv: "", hashes: {}, v: "v2" };
    }
    return content;
  }

  #relation(): Json {
    const { random } = this.#parts;
    return {
      rel_type: random.pick(["m.thread", "m.replace", "m.reference", "__proto__"]),
      event_id: this.eventId(),
      "m.in_reply_to": { event_id: this.eventId() },
    };
  }

  #encrypted(roomId: string): Json {
    const { random, senders, oddValues } = this.#parts;
    const from = this.person();
    const payload = {
      type: random.pick(["m.room.message", "m.reaction", "m.room.encrypted", "m.room.member", "", 5]),
      room_id: random.chance(95) ? roomId : this.roomId(),
      content: random.chance(80) ? this.#text() : oddValues.value(),
    };
    const fresh = (): Json => senders.megolm(from, roomId, random.chance(95) ? payload : oddValues.value());
    const content = random.chance(10) ? senders.replayed(random) ?? fresh() : fresh();
    const damaged = random.chance(10)
      ? { ...content, ciphertext: this.#damaged(String(content.ciphertext)) }
      : content;
    const sender = random.chance(95) ? from.userId : this.userId();
    return { ...this.#envelope("m.room.encrypted", damaged), sender };
  }

  /** Base64 that is nearly what it was. */
  #damaged(text: string): string {
    const { random } = this.#parts;
    const at = random.below(text.length);
    return random.chance(30)
      ? text.slice(0, at)
      : `${text.slice(0, at)}${random.pick(["A", "z", "="])}${text.slice(at + 1)}`;
  }

  #envelope(type: string, content: unknown): Json {
    return {
      type,
      content,
      event_id: this.eventId(),
      sender: this.userId(),
      origin_server_ts: this.#parts.random.pick([
        1_790_000_000_000,
        1_735_700_000_000,
        1_735_700_000_003,
        0,
        -1,
        2 ** 53,
      ]),
    };
  }

  #withUnsigned(event: Json, roomId: string): Json {
    const { random, oddValues } = this.#parts;
    if (!random.chance(15)) return event;
    const latest = { ...this.#encrypted(roomId), room_id: roomId };
    const unsigned = random.pick<Json>([
      { age: random.pick([1, -5, 1e300]) },
      { transaction_id: oddValues.text().slice(0, 100) },
      { redacted_because: this.#envelope("m.room.redaction", {}) },
      { prev_content: oddValues.value() },
      {
        membership: "join",
        "m.relations": { "m.thread": { latest_event: latest, count: 1, current_user_participated: true } },
      },
      { "m.relations": { "m.replace": latest } },
    ]);
    return { ...event, unsigned };
  }
}
