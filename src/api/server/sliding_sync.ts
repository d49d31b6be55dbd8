/**
 * The long poll of simplified sliding sync: no operation of clients,
 * since its answers are turned into those of the classic sync (`src/actors/syncer/sliding_sync.ts`).
 *
 * There are two spellings, one that Synapse has and one that was merged into the proposals; what is asked and
 * answered is the same (`SlidingQuestion`, `SlidingAnswer`).
 *
 * A file of its own because `sync.ts` is the operation that clients have.
 *
 * Over 300 lines because the two spellings are read side by side.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 * @module
 */

import { CALL, endpoint, fields, type RequestOptions, type Session } from "../http/mod.ts";
import type { PresenceState } from "../../types/enums.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";

/** What `/versions` says of it in `unstable_features`, in the spelling of Synapse. */
const SLIDING_SYNC = "org.matrix.simplified_msc3575";
/** What it says of it in the merged spelling. */
const MERGED = `${SLIDING_SYNC}.stable`;

/** Extensions, and the proposals that have them. */
const EXTENSIONS: readonly (readonly [name: string, proposal: string])[] = [
  ["to_device", "org.matrix.msc4538"],
  ["e2ee", "org.matrix.msc4543"],
  ["account_data", "org.matrix.msc4548"],
  ["receipts", "org.matrix.msc4551"],
  ["typing", "org.matrix.msc4508"],
];

/** Those without which the merged spelling is of no use: they were left to other proposals. */
const NEEDED: readonly string[] = ["to_device", "e2ee"];

/** The requests for it. */
export interface SlidingSpelling {
  /** Whether a `pos` is also a token for other requests: by the proposal, as merged, it is. */
  readonly isToken: boolean;
  /** Asks once what happened. */
  ask(session: Pick<Session, "http" | "mxid">, question: SlidingQuestion): Promise<SlidingAnswer>;
}

/** What is asked. */
export interface SlidingQuestion extends RequestOptions {
  /** The name of the connection. */
  readonly connection: string;
  /** Where to go on; undefined: a new connection. */
  readonly pos: string | undefined;
  /** How long the server waits for something to happen, in milliseconds. */
  readonly timeout: number;
  /** How many rooms, those with the latest messages first; undefined: all. */
  readonly rooms: number | undefined;
  /** Rooms beside those. */
  readonly followed: readonly RoomID[];
  /** How many events of a room at most. */
  readonly events: number;
  /**
   * If members are loaded lazily, the types of state that come beside them, for a spelling that has to name
   * them. Undefined: all state comes.
   */
  readonly lazily: readonly string[] | undefined;
  /** Up to where messages to the device have come, and how many an answer has at most. */
  readonly toDevice: { readonly since: string | undefined; readonly limit: number };
  /** What the user is shown as. */
  readonly presence: PresenceState | undefined;
}

/** An answer, of which nothing is checked but where it ends. */
export interface SlidingAnswer {
  /** Where the next request goes on. */
  readonly pos: string;
  /** How many rooms there are in all. */
  readonly count: number;
  /** What happened in rooms. */
  readonly rooms: ReadonlyMap<string, SlidingRoom>;
  /** Messages to the device, and up to where. */
  readonly toDevice: JsonObject;
  /** Changes of devices, and counts of keys; empty: nothing has changed. */
  readonly e2ee: JsonObject;
  /** Private data of the account. */
  readonly accountData: unknown;
  /** Private data of rooms. */
  readonly roomData: JsonObject;
  /** Events with receipts, by room. */
  readonly receipts: JsonObject;
  /** Events that say who is typing, by room. */
  readonly typing: JsonObject;
}

/** What happened in a room: what is absent, the server has not said. */
export interface SlidingRoom {
  /** What the user is to it, if the server says so. */
  readonly membership?: unknown;
  /** Whether it is shown as it is, not as it has changed. */
  readonly initial?: unknown;
  /** The end of its timeline. */
  readonly events?: unknown;
  /** Whether events are missing in front of them. */
  readonly limited?: unknown;
  /** Where to read on backwards from there. */
  readonly prevBatch?: unknown;
  /** State at the end of the timeline. */
  readonly state?: unknown;
  /** Pieces of state that are not there any more; absent: none. */
  readonly gone?: unknown;
  /** What those outside see of the state; absent: the user is not outside. */
  readonly stripped?: unknown;
  /** Grows with what happens in the room; outside of it, with what happens to the user. */
  readonly stamp?: unknown;
}

/** What both spellings answer. */
interface Answer {
  readonly pos: string;
  readonly lists?: JsonObject;
  readonly rooms?: JsonObject;
  readonly extensions?: JsonObject;
}

const ANSWER = fields<Answer>({ pos: "string", lists: "object?", rooms: "object?", extensions: "object?" });
const MEMBER = "m.room.member";
/** The caller decides when to poll again. */
const ONCE = { idempotent: false };
const unstable = endpoint(
  "slidingSync",
  "POST",
  `/_matrix/client/unstable/${SLIDING_SYNC}/sync`,
  ANSWER,
  ONCE,
);
const merged = endpoint("slidingSync", "POST", "/_matrix/client/v4/sync", ANSWER, ONCE);

/** How long a server may take to collect what there is, in milliseconds. */
const COLLECTING = 600_000;
/** Every room, in the spelling of Synapse: those outside are not shown, nor does the server wake for them. */
const ALL_ROOMS = 100_000;

/**
 * The spelling that a homeserver has; undefined: none.
 * The merged one is chosen if it has messages to the device and what encryption needs.
 */
export function slidingSpelling(
  features: Readonly<Record<string, unknown>> = {},
): SlidingSpelling | undefined {
  const names = extensionNames(features);
  const isWhole = NEEDED.every((name) => names.has(name));
  if (features[MERGED] === true && isWhole) return mergedSpelling(names);
  return features[SLIDING_SYNC] === true ? SYNAPSE : undefined;
}

/** Says why a homeserver has no spelling: "the homeserver" goes in front of it. */
export function slidingLack(features: Readonly<Record<string, unknown>> = {}): string {
  if (features[MERGED] !== true) return "has no sliding sync";
  const names = extensionNames(features);
  const missing = EXTENSIONS.filter(([name]) => NEEDED.includes(name) && !names.has(name));
  const named = missing.map(([name, proposal]) => `${name} (${proposal})`);
  return `has sliding sync without the extension ${named.join(" and ")}`;
}

const SYNAPSE: SlidingSpelling = {
  isToken: false,
  async ask({ http }, question) {
    const {
      connection,
      pos,
      timeout,
      rooms = ALL_ROOMS,
      followed,
      events,
      lazily,
      toDevice,
      presence: _,
      ...options
    } = question;
    // A type or a key that is `*` beside `$LAZY` has Synapse show all members: all types have to be named.
    const state = lazily === undefined
      ? [["*", "*"]]
      : [...lazily.map((type) => [type, "*"]), [MEMBER, "$LAZY"], [MEMBER, "$ME"]];
    const room = { timeline_limit: events, required_state: state };
    const body = {
      conn_id: connection,
      lists: { rooms: { ...room, ranges: [[0, rooms - 1]] } },
      ...subscriptions(followed, room),
      extensions: extensionsOf((name) => name, toDevice),
    };
    const answer = await http[CALL](unstable, { path: {}, query: { pos, timeout }, body }, {
      requestTimeout: limitOf(http, question),
      ...options,
      retry: false,
    });
    return answerOf(answer, (name) => name, ({ timeline, invite_state, ...room }) => ({
      initial: room.initial,
      events: timeline,
      limited: room.limited,
      prevBatch: room.prev_batch,
      state: lazily === undefined
        ? room.required_state
        : withUnnamed(room.required_state, { timeline, named: new Set([MEMBER, ...lazily]) }),
      stripped: invite_state,
      stamp: room.bump_stamp,
    }));
  },
};

function mergedSpelling(names: ReadonlyMap<string, string>): SlidingSpelling {
  const nameOf = (name: string): string | undefined => names.get(name);
  return {
    isToken: true,
    async ask({ http, mxid }, question) {
      const { connection, pos, timeout, rooms, followed, ...others } = question;
      const { events, lazily, toDevice, presence, ...options } = others;
      const state = lazily === undefined
        ? { include: [{}] } // all of it
        : { include: [{}, { type: MEMBER, state_key: mxid }], lazy_members: true };
      const room = { timeline_limit: events, required_state: state };
      const body = {
        conn_id: connection,
        ...(pos !== undefined && { pos }),
        timeout,
        ...(presence !== undefined && { set_presence: presence }),
        lists: { rooms: { ...room, ...(rooms !== undefined && { range: [0, rooms - 1] }) } },
        ...subscriptions(followed, room),
        extensions: extensionsOf(nameOf, toDevice),
      };
      const answer = await http[CALL](merged, { path: {}, body }, {
        requestTimeout: limitOf(http, question),
        ...options,
        retry: false,
      });
      const { receipts, typing, ...read } = answerOf(answer, nameOf, (room) => ({
        membership: room.membership,
        initial: room.initial,
        events: room.timeline_events,
        limited: room.limited,
        prevBatch: room.prev_batch,
        ...withoutStubs(room.required_state),
        stripped: room.stripped_state,
        stamp: room.bump_stamp,
      }));
      return { ...read, receipts: wrapped("m.receipt", receipts), typing: wrapped("m.typing", typing) };
    },
  };
}

/** @param room How much of each of the rooms is asked for. */
function subscriptions(rooms: readonly RoomID[], room: JsonObject): JsonObject {
  return rooms.length === 0 ? {} : { room_subscriptions: Object.fromEntries(rooms.map((id) => [id, room])) };
}

/** State, and what the timeline has of types that were not asked for: that holds at its end. */
function withUnnamed(
  state: unknown = [],
  { timeline, named }: { readonly timeline: unknown; readonly named: ReadonlySet<unknown> },
): unknown {
  if (!Array.isArray(state) || !Array.isArray(timeline)) return state;
  const last = new Map(
    timeline.map(objectOf).flatMap((event) =>
      event.state_key === undefined || named.has(event.type)
        ? []
        : [[JSON.stringify([event.type, event.state_key]), event]]
    ),
  );
  return [...state, ...last.values()];
}

/** State, and apart from it the pieces that were deleted: an event without content stands for each. */
function withoutStubs(state: unknown): Pick<SlidingRoom, "state" | "gone"> {
  if (!Array.isArray(state)) return { state };
  const isStub = (event: unknown): boolean => isJsonObject(event) && event.content === undefined;
  const gone = state.filter(isStub);
  return gone.length === 0 ? { state } : { state: state.filter((event) => !isStub(event)), gone };
}

/** How a homeserver calls the extensions that it has: one whose proposal is not accepted yet has a prefix. */
function extensionNames(features: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  return new Map(EXTENSIONS.flatMap(([name, proposal]) => {
    if (features[`${proposal}.stable`] === true) return [[name, name]];
    return features[proposal] === true ? [[name, `${proposal}.${name}`]] : [];
  }));
}

/** Contents that come by room as events of a type. */
function wrapped(type: string, contents: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(contents).map(([roomId, content]) => [roomId, { type, content }]),
  );
}

function limitOf(http: Session["http"], { pos, timeout }: SlidingQuestion): number | undefined {
  return http.limit(timeout, pos === undefined || timeout === 0 ? COLLECTING : undefined);
}

/** @param nameOf The name of an extension; undefined: the server does not have it. */
function extensionsOf(
  nameOf: (extension: string) => string | undefined,
  { since, limit }: SlidingQuestion["toDevice"],
): JsonObject {
  const toDevice = { limit, ...(since !== undefined && { since }) };
  const wanted = EXTENSIONS.map(([extension]) => {
    const name = nameOf(extension);
    return name === undefined ? [] : [[name, { enabled: true, ...(extension === "to_device" && toDevice) }]];
  });
  return Object.fromEntries(wanted.flat());
}

function answerOf(
  { pos, ...parts }: Answer,
  nameOf: (extension: string) => string | undefined,
  read: (room: JsonObject) => SlidingRoom,
): SlidingAnswer {
  const [lists, rooms, extensions] = [parts.lists, parts.rooms, parts.extensions].map(objectOf) as Objects;
  const part = (extension: string): JsonObject => objectOf(extensions[nameOf(extension) ?? ""]);
  const counts = Object.values(lists).map((list) => objectOf(list).count);
  const accountData = part("account_data");
  return {
    pos,
    count: Math.max(0, ...counts.filter((count): count is number => Number.isSafeInteger(count))),
    rooms: new Map(Object.entries(rooms).map(([roomId, room]) => [roomId, read(objectOf(room))])),
    toDevice: part("to_device"),
    e2ee: part("e2ee"),
    accountData: accountData.global,
    roomData: objectOf(accountData.rooms),
    receipts: objectOf(part("receipts").rooms),
    typing: objectOf(part("typing").rooms),
  };
}

type Objects = [JsonObject, JsonObject, JsonObject];
