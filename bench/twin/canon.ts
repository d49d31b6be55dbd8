/** Makes answers of two homeservers comparable: what differs by nature gets a name. */

import type { JsonObject } from "../../src/types/json.ts";
import { type Answer, asObject, type Step } from "./step.ts";
import { SLIDING } from "./world.ts";

/** Members whose numbers tell a time. */
const TIMES = new Set([
  ...["origin_server_ts", "age", "ts", "last_active_ago", "unused_expires_at"],
  ...["expires_in_ms", "expires_at_ms", "received_ts", "rank", "time_now", "retry_after_ms"],
  "total_room_count_estimate", // other runs have rooms too
]);

/** Members that tell when and where a device was used. */
const SEEN = new Set(["last_seen_ip", "last_seen_ts"]);

/** Members whose text no other server would choose. */
const SECRETS = new Set([
  ...["next_batch", "prev_batch", "start", "end", "next_token", "access_token", "refresh_token"],
  ...["session", "login_token", "base_url", "pos"],
]);

/** Members of a room of sliding sync that sum it up. */
const SUMMARIES = [
  ...["name", "avatar", "heroes", "is_dm", "joined_count", "invited_count", "notification_count"],
  ...["highlight_count", "num_live", "bump_stamp"],
];

/** Lists whose order means nothing, by the end of the path to them. */
const UNORDERED = [
  /(^|[/.])(state|state_after|account_data|ephemeral|presence|invite_state|knock_state)\/events$/,
  /(^|\/)(changed|left|joined_rooms|aliases|devices|pushers|highlights|servers|allowed_room_ids|additional_creators)$/,
  /^$/, // the state of a room
  /^state$/,
  /(^|\/)(m\.heroes|user_ids)$/,
  /(^|\/)(required_state|invite_state)$|\/account_data\/(global|rooms\/[^/]+)$/, // of sliding sync
  /(^|\/)device_unused_fallback_key_types$/,
];

/** Identifiers that the server makes, by the letter that their names begin with. */
const IDENTIFIERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["$event", /^\$(?:[\w+/-]{43}|\w{16,24}:localhost)$/],
  ["!room", /^!(?:[\w-]{43}|\w{18}:localhost)$/],
  ["mxc://media", /^mxc:\/\/localhost\/\w{24}$/],
  ["DEVICE", /^[A-Z]{10}$/],
  ["@number", /^@\d+:localhost$/],
];

/** What stands for the letters of a run; as many as it has. */
const RUN = "runrunru";

/** The names of one run on one server. */
export class Canon {
  readonly #run: string;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** Starts a run. */
  constructor(run: string) {
    this.#run = run;
  }

  /** The answer to a request, with names in place of what the server made. */
  answer({ path }: Step, { status, body }: Answer): Answer {
    const text = JSON.stringify(body).replaceAll(this.#run, RUN);
    const parsed = JSON.parse(text);
    withoutMessages(parsed, status);
    withoutCached(parsed, "");
    if (path.at(-2) === SLIDING) {
      withoutSummaries(parsed);
      for (const list of Object.values(asObject(asObject(parsed).lists))) this.#withoutOrder(asObject(list));
    }
    for (const group of Object.values(groupsOf(parsed))) {
      // It is a rank.
      for (const one of Object.values(asObject(group))) Reflect.deleteProperty(Object(one), "order");
    }
    if (["members", "publicRooms"].includes(path.at(-1) ?? "") && Array.isArray(parsed?.chunk)) {
      parsed.chunk = this.#anyOrder(parsed.chunk);
    }
    return { status, body: this.#name(this.#sort(parsed, "")) };
  }

  /** Brings lists without an order, and members, into one that the names do not change. */
  #sort(value: unknown, path: string): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#sort(item, `${path}/-`));
      return UNORDERED.some((pattern) => pattern.test(path)) ? this.#by(items, (item) => item) : items;
    }
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) =>
      [key, this.#sort(item, path === "" ? key : `${path}/${key}`)] as const
    );
    return Object.fromEntries(this.#by(entries, (entry) => entry));
  }

  /** Synapse sorts rooms only where not all of them are asked for. */
  #withoutOrder({ count, ops }: JsonObject): void {
    for (const op of Array.isArray(ops) ? ops.map(asObject) : []) {
      if (Array.isArray(op.room_ids) && op.room_ids.length === count) {
        op.room_ids = this.#anyOrder(op.room_ids);
      }
    }
  }

  #anyOrder(items: readonly unknown[]): unknown[] {
    return this.#by(items.map((item) => this.#sort(item, "-")), (item) => item);
  }

  #by<T>(items: readonly T[], key: (item: T) => unknown): T[] {
    const keyed = items.map((item) => [this.#masked(key(item)), item] as const);
    return keyed.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, item]) => item);
  }

  /** What a value looks like to those who don't know the names that are yet to be given. */
  #masked(value: unknown): string {
    return JSON.stringify(this.#replace(value, (text, name) => this.#names.get(text) ?? `?${name}`));
  }

  #name(value: unknown): unknown {
    return this.#replace(value, (text, name) => {
      const known = this.#names.get(text);
      if (known !== undefined) return known;
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      const given = `${name}${count}`;
      this.#names.set(text, given);
      return given;
    });
  }

  #replace(value: unknown, give: (text: string, name: string) => string, member = ""): unknown {
    if (SEEN.has(member)) return "seen"; // Synapse writes it down a few seconds later
    if (typeof value === "number" && TIMES.has(member)) return "time";
    if (typeof value === "string") {
      if (SECRETS.has(member)) return "secret";
      const [name] = IDENTIFIERS.find(([, pattern]) => pattern.test(value)) ?? [];
      return name === undefined ? value : give(value, name);
    }
    if (Array.isArray(value)) return value.map((item) => this.#replace(item, give, member));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#replace(key, give), this.#replace(item, give, key)]),
    );
  }
}

/** The groups of the results of a search. */
function groupsOf(body: unknown): JsonObject {
  return asObject(asObject(asObject(asObject(body).search_categories).room_events).groups);
}

/** Takes out what is for people to read: each server words it otherwise. */
function withoutMessages(body: unknown, status: number): void {
  if (typeof body !== "object" || body === null) return;
  if (status >= 400) Reflect.deleteProperty(body, "error");
  const { failures } = body as { failures?: unknown };
  for (const failure of Object.values(failures ?? {})) {
    for (const one of [failure, ...Object.values(failure ?? {})]) {
      if (typeof one === "object" && one !== null) Reflect.deleteProperty(one, "message");
    }
  }
}

/**
 * Takes out of sliding sync what the in-process homeserver does not have: what lists of rooms show to people,
 * and events of aliases, which only the oldest rooms need.
 */
function withoutSummaries(body: unknown): void {
  for (const room of Object.values(asObject(asObject(body).rooms)).map(asObject)) {
    for (const name of SUMMARIES) Reflect.deleteProperty(room, name);
    if (!Array.isArray(room.required_state)) continue;
    room.required_state = room.required_state.filter((event) => asObject(event).type !== "m.room.aliases");
  }
}

/**
 * Takes the content before out of state: Synapse has it there if the event is in a cache, and came
 * there by a timeline.
 */
function withoutCached(value: unknown, path: string): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const name = Array.isArray(value) ? "-" : key;
    withoutCached(item, `${path}/${name}`);
  }
  if (!/\/timeline\//.test(path)) {
    for (const name of ["prev_content", "prev_sender"]) Reflect.deleteProperty(value, name);
  }
}
