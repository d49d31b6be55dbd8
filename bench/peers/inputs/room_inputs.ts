/**
 * A room as a homeserver tells of it: members and other state, and events that are made one after
 * the other.
 *
 * @module
 */

import { oneOf, type Random } from "../../kill/random.ts";
import { displayName, sentence } from "./people.ts";

/** Who all clients are. */
export const OWN_USER = "@me:example.org";
/** When the first event was sent. */
const EPOCH = 1_790_000_000_000;
/** Beyond so many, events are not referred to any more. */
const REMEMBERED = 20;
const ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

interface Member {
  readonly userId: string;
  readonly profile: { readonly displayname: string; readonly avatar_url: string };
}

/** An event as it stands in a sync response. */
export interface InputEvent extends Record<string, unknown> {
  readonly type: string;
  readonly content: object;
}

/** What a sync response says of a joined room. */
export interface JoinedRoom extends Record<string, unknown> {
  readonly state?: { readonly events: InputEvent[] };
  readonly timeline: {
    readonly events: InputEvent[];
    readonly limited: boolean;
    readonly prev_batch: string;
  };
}

/** The client's own user, and so many others whom no other room has. */
export function withStrangers(random: Random, members: number): string[] {
  const stranger = (index: number) => `@user${Math.floor(random() * 20_000)}.${index}:example.org`;
  return Array.from({ length: members }, (_, index) => index === 0 ? OWN_USER : stranger(index));
}

/** A room, which goes on as long as it is asked for events. */
export class RoomInputs {
  readonly roomId: string;
  readonly #random: Random;
  readonly #members: Member[];
  readonly #recent: string[] = [];
  #now: number;

  /** @param userIds Who are in it; the first is the client's own user. */
  constructor(random: Random, userIds: readonly string[]) {
    this.#random = random;
    this.roomId = `!${this.#letters(18)}:example.org`;
    this.#now = EPOCH + Math.floor(random() * 1e9);
    this.#members = userIds.map((userId) => ({
      userId,
      profile: { displayname: displayName(random), avatar_url: `mxc://example.org/${this.#letters(24)}` },
    }));
  }

  /** Who are in it; the first is the client's own user. */
  get userIds(): string[] {
    return this.#members.map(({ userId }) => userId);
  }

  /** The state before the first event. */
  state(): InputEvent[] {
    const [, founder = this.#me] = this.#members;
    const by = (type: string, content: object) => this.#state(type, "", founder.userId, content);
    return [
      by("m.room.create", { room_version: "11", "m.federate": true }),
      by("m.room.power_levels", { users: { [founder.userId]: 100 }, users_default: 0, events_default: 0 }),
      by("m.room.join_rules", { join_rule: "invite" }),
      by("m.room.history_visibility", { history_visibility: "shared" }),
      by("m.room.name", { name: sentence(this.#random).slice(0, 60) }),
      by("m.room.topic", { topic: sentence(this.#random) }),
      ...this.#members.map(({ userId, profile }) =>
        this.#state("m.room.member", userId, userId, { membership: "join", ...profile })
      ),
    ];
  }

  /** What a room of a sync response has beside its state. */
  update(events: number): JoinedRoom {
    const before = `p${this.#letters(12)}`;
    return {
      timeline: {
        events: Array.from({ length: events }, () => this.#event()),
        limited: false,
        prev_batch: before,
      },
      ephemeral: {
        events: [this.#receipts(), { type: "m.typing", content: { user_ids: [this.#sender()] } }],
      },
      account_data: { events: [{ type: "m.fully_read", content: { event_id: this.#recent[0] ?? "" } }] },
      unread_notifications: { highlight_count: 0, notification_count: events },
      summary: { "m.joined_member_count": this.#members.length, "m.invited_member_count": 0 },
    };
  }

  #event(): InputEvent {
    const kind = this.#random();
    const sender = this.#sender();
    if (kind < 0.03) return this.#newName();
    const recent = this.#recent.length === 0 ? undefined : oneOf(this.#random, this.#recent as [string]);
    const body = sentence(this.#random);
    const text = { msgtype: kind < 0.2 ? "m.notice" : "m.text", body };
    if (recent === undefined || kind < 0.6) {
      const html = { format: "org.matrix.custom.html", formatted_body: `<p><b>${body}</b></p>` };
      return this.#sent("m.room.message", sender, kind < 0.3 ? { ...text, ...html } : text);
    }
    if (kind < 0.7) {
      const relation = { "m.in_reply_to": { event_id: recent } };
      return this.#sent("m.room.message", sender, { ...text, "m.relates_to": relation });
    }
    if (kind < 0.76) {
      const relation = { rel_type: "m.replace", event_id: recent };
      const content = { ...text, body: `* ${body}`, "m.new_content": text, "m.relates_to": relation };
      return this.#sent("m.room.message", sender, content);
    }
    if (kind < 0.8) {
      const relation = { rel_type: "m.thread", event_id: recent, is_falling_back: true };
      return this.#sent("m.room.message", sender, { ...text, "m.relates_to": relation });
    }
    if (kind < 0.92) {
      const relation = {
        rel_type: "m.annotation",
        event_id: recent,
        key: oneOf(this.#random, ["👍", "❤️", "😂"]),
      };
      return this.#sent("m.reaction", sender, { "m.relates_to": relation });
    }
    const info = {
      mimetype: "image/jpeg",
      size: 300_000,
      w: 1_600,
      h: 1_200,
      "xyz.amorgan.blurhash": "LEHV6nWB2yk8",
    };
    const image = {
      msgtype: "m.image",
      body: "photo.jpg",
      url: `mxc://example.org/${this.#letters(24)}`,
      info,
    };
    return this.#sent("m.room.message", sender, image);
  }

  #newName(): InputEvent {
    const index = Math.floor(this.#random() * this.#members.length);
    const { userId, profile } = this.#members[index] ?? this.#me;
    const renamed = { ...profile, displayname: displayName(this.#random) };
    this.#members[index] = { userId, profile: renamed };
    const event = this.#state("m.room.member", userId, userId, { membership: "join", ...renamed });
    return { ...event, unsigned: { age: 100, prev_content: { membership: "join", ...profile } } };
  }

  #state(type: string, stateKey: string, sender: string, content: object): InputEvent {
    return { ...this.#sent(type, sender, content, "$state"), state_key: stateKey };
  }

  #sent(type: string, sender: string, content: object, prefix = "$"): InputEvent {
    const eventId = `${prefix}${this.#letters(43 - prefix.length)}`;
    this.#now += 1 + Math.floor(this.#random() * 60_000);
    if (type === "m.room.message") {
      this.#recent.push(eventId);
      if (this.#recent.length > REMEMBERED) this.#recent.shift();
    }
    return {
      type,
      sender,
      content,
      event_id: eventId,
      origin_server_ts: this.#now,
      unsigned: { age: 1_234 },
    };
  }

  #receipts(): InputEvent {
    const last = this.#recent.at(-1) ?? "$none";
    const readers = Array.from({ length: 3 }, () => [this.#sender(), { ts: this.#now, thread_id: "main" }]);
    return { type: "m.receipt", content: { [last]: { "m.read": Object.fromEntries(readers) } } };
  }

  #sender(): string {
    return (this.#members[Math.floor(this.#random() * this.#members.length)] ?? this.#me).userId;
  }

  get #me(): Member {
    return this.#members[0] ?? { userId: OWN_USER, profile: { displayname: "Me", avatar_url: "" } };
  }

  #letters(count: number): string {
    return Array.from({ length: count }, () => ID_LETTERS[Math.floor(this.#random() * ID_LETTERS.length)])
      .join("");
  }
}
