/**
 * The differences that stay, each with its reason and with requests that show it.
 *
 * Over 300 lines because it is one list, which is read from its top: the first entry that covers a
 * difference is its reason.
 *
 * @module
 */

import { type Answer, asObject, type Compared, type Step } from "./step.ts";
import { SLIDING, SLIDING_PATH, v1, v3 } from "./world.ts";

/** A difference that stays. */
export interface Difference {
  /** Why it stays. */
  readonly reason: string;
  /** Whether a difference is this one. */
  readonly covers: (compared: Compared) => boolean;
  /**
   * Whether what follows can still be compared; by default after reading, and after what both have
   * refused.
   */
  readonly goesOn?: boolean;
  /**
   * Requests, the last of which is answered so, at least one of several times: what else the
   * homeserver does has a part in it. When it no longer is, the entry is to go.
   */
  readonly shownBy?: readonly Step[];
  /** Answers that both have given, where it takes more than requests: a minute, or a new database. */
  readonly recorded?: Compared;
}

const register: Step = {
  id: 0,
  method: "POST",
  path: v3("register"),
  body: { username: "alice-{{run}}", password: "secret", auth: { type: "m.login.dummy" } },
};
const token = "{{0.access_token}}";
const createRoom: Step = { id: 1, token, method: "POST", path: v3("createRoom"), body: {} };

/** What both have answered; of rooms, only what matters. */
function answered(step: Step, ours: unknown, theirs: unknown): Compared {
  const [our, their] = [{ status: 200, body: ours }, { status: 200, body: theirs }];
  return { step, ours: our, theirs: their, upgraded: [], isSinceBeside: false };
}

function unread(notification_count: number): object {
  return {
    rooms: { join: { "!room1": { unread_notifications: { highlight_count: 0, notification_count } } } },
  };
}

const LEVELS = { event_id: "$event1", type: "m.room.power_levels", state_key: "", content: {} };
const RENAMED = {
  event_id: "$event2",
  type: "m.room.member",
  state_key: "@alice-runrunru:localhost",
  content: { membership: "join", displayname: "Al" },
};
const TEXT = { event_id: "$event3", type: "m.room.message", content: { msgtype: "m.text", body: "text" } };

function forked(state: readonly object[]): object {
  return { rooms: { join: { "!room1": { state: { events: state }, timeline: { events: [LEVELS] } } } } };
}

function claimed(id: string): object {
  const keys = { [`signed_curve25519:${id}`]: { key: id, signatures: {} } };
  return { failures: {}, one_time_keys: { "@alice-runrunru:localhost": { ALICE1: keys } } };
}

/** All of them. */
export const DIFFERENCES: readonly Difference[] = [
  {
    reason: "Synapse says 400, 404 or 405 to what it does not know, by where in its code it finds out",
    covers: ({ ours, theirs }) =>
      errcodeOf(ours) === "M_UNRECOGNIZED" && errcodeOf(theirs) === "M_UNRECOGNIZED",
    shownBy: [register, { id: 1, token, method: "PUT", path: v3("pushrules", "") }],
  },
  {
    reason: "Synapse reads the path of a push rule only as far as it has to",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("pushrules") &&
      [errcodeOf(ours), errcodeOf(theirs)].includes("M_UNRECOGNIZED") &&
      ["200", "401 M_UNKNOWN_TOKEN", "404 M_NOT_FOUND"].some((code) =>
        [codeOf(ours), codeOf(theirs)].includes(code)
      ),
    shownBy: [register, { id: 1, token, method: "GET", path: v3("pushrules", "", "x") }],
  },
  {
    reason: "The Synapse of the tests may not speak to other servers, and says so; ours does not reach them",
    covers: ({ step, ours, theirs }) =>
      namesOtherServer(step) && (
        isAlikeWithout(["failures"], ours, theirs) ||
        ((UNREACHED.includes(codeOf(ours)) || (step.path.at(-1) === "invite" && ours.status === 200)) &&
          ["403 M_FORBIDDEN", "502 M_UNKNOWN"].includes(codeOf(theirs)))
      ),
    shownBy: [
      register,
      { id: 1, token, method: "POST", path: v3("publicRooms"), query: { server: "away.example" }, body: {} },
    ],
  },
  {
    reason: "Synapse fails inside, where its checks let through what its code then trips over",
    covers: ({ ours, theirs }) => theirs.status === 500 && ours.status >= 400 && ours.status < 500,
    shownBy: [
      register,
      createRoom,
      { id: 2, token, method: "POST", path: v3("rooms", "{{1.room_id}}", "invite"), body: { user_id: null } },
    ],
  },
  {
    reason: "Synapse looks for an event of the ID 7, where ours wants a string",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("read_markers") && codeOf(ours) === "400 M_BAD_JSON" &&
      codeOf(theirs) === "404 M_UNKNOWN" && !isText(asObject(step.body)["m.fully_read"]),
    shownBy: [
      register,
      createRoom,
      {
        id: 2,
        token,
        method: "POST",
        path: v3("rooms", "{{1.room_id}}", "read_markers"),
        body: { "m.fully_read": 7 },
      },
    ],
  },
  {
    reason: "Synapse makes an alias of Python's text for a list or an object",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("createRoom") && codeOf(ours) === "400 M_BAD_JSON" && theirs.status === 200 &&
      typeof asObject(step.body).room_alias_name === "object",
    shownBy: [register, { ...createRoom, body: { room_alias_name: ["{{run}}"] } }],
  },
  {
    reason: "Synapse looks at some requests before it looks at their token: whose filter they are about, " +
      "a profile of nobody, and bodies of which it has a model",
    covers: ({ step, ours, theirs }) =>
      /^GET .*filter|^(PUT|DELETE) .*directory|^POST .*password|^PUT .*profile\/\//.test(
        `${step.method} ${step.path.join("/")}`,
      ) &&
      ours.status === 401 && theirs.status === 400,
    shownBy: [{ id: 0, token: "wrong", method: "GET", path: v3("user", "nobody", "filter", "0") }],
  },
  {
    reason: "Synapse fails inside when a redaction of nothing, sent as an event, has the transaction ID of " +
      "one that was made by redacting",
    covers: ({ step, ours, theirs }) =>
      /send\/m\.room\.redaction/.test(step.path.join("/")) && ours.status === 200 && theirs.status === 500,
    shownBy: [
      register,
      { ...createRoom, body: { room_version: "3" } },
      ...[["redact", "$none", "t1"], ["send", "m.room.redaction", "t1"]].map((path, index): Step => ({
        id: 2 + index,
        token,
        method: "PUT",
        path: v3("rooms", "{{1.room_id}}", ...path),
        body: {},
      })),
    ],
  },
  {
    reason:
      "Synapse looks for the event that was sent with a transaction ID, and finds no redactions of nothing",
    covers: ({ step, ours, theirs }) =>
      /send|redact/.test(step.path.join("/")) && ours.status === 200 && codeOf(theirs) === "404 M_NOT_FOUND",
    shownBy: [
      register,
      createRoom,
      ...["m.room.redaction", "m.room.message"].map((type, index): Step => ({
        id: 2 + index,
        token,
        method: "PUT",
        path: v3("rooms", "{{1.room_id}}", "send", type, "t"),
        body: { redacts: "$none", msgtype: "m.text", body: "" },
      })),
    ],
  },
  {
    reason: "Limits of rates are off on both, but for this one of Synapse, which has no setting",
    covers: ({ step, theirs }) =>
      step.path.includes("get_token") && codeOf(theirs) === "429 M_LIMIT_EXCEEDED",
    goesOn: true,
    shownBy: [
      register,
      { id: 1, token, method: "POST", path: v1("login", "get_token"), body: {} },
      { id: 2, token, method: "POST", path: v1("login", "get_token"), body: {} },
    ],
  },
  {
    reason: "Synapse lets no other upgrade a room for some minutes after one has done so",
    covers: ({ step, ours, theirs, upgraded }) =>
      step.path.at(-1) === "upgrade" && upgraded.length > 0 &&
      ["200", "403 M_FORBIDDEN"].includes(codeOf(ours)) &&
      codeOf(theirs) === "400 M_UNKNOWN",
    shownBy: [
      register,
      createRoom,
      {
        ...register,
        id: 2,
        body: { username: "bob-{{run}}", password: "secret", auth: { type: "m.login.dummy" } },
      },
      ...[token, "{{2.access_token}}"].map((token, index): Step => ({
        id: 3 + index,
        token,
        method: "POST",
        path: v3("rooms", "{{1.room_id}}", "upgrade"),
        body: { new_version: "11" },
      })),
    ],
  },
  {
    reason: "Rooms and users of other sequences are listed too, unless they are searched for by name",
    covers: ({ step, ours, theirs }) =>
      /publicRooms|user_directory/.test(step.path.join("/")) && ours.status === 200 &&
      theirs.status === 200 &&
      !/"\w*search_term":"[^"]*\{\{run\}\}/.test(JSON.stringify(step.body ?? {})),
    goesOn: false,
    shownBy: [
      register,
      { ...createRoom, body: { preset: "public_chat", visibility: "public" } },
      { id: 2, token, method: "POST", path: v3("publicRooms"), body: {} },
    ],
  },
  {
    reason: "Synapse writes presence down once a minute, and what it then writes counts as changed",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && isAlikeWithout(["presence"], ours, theirs) &&
      isPartOf(presenceOf(ours), presenceOf(theirs)),
    goesOn: true,
    recorded: answered(
      { id: 6, token, method: "GET", path: v3("sync"), query: { since: "{{5.next_batch}}" } },
      { next_batch: "secret" },
      {
        next_batch: "secret",
        presence: {
          events: [{
            content: { presence: "offline", status_msg: "x" },
            sender: "@alice-runrunru:localhost",
            type: "m.presence",
          }],
        },
      },
    ),
  },
  {
    reason: "Synapse looks every five seconds whose typing has timed out",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && isAlikeWithout(["user_ids"], ours, theirs) &&
      JSON.stringify(ours).includes('"user_ids":[]'),
    goesOn: true,
    shownBy: [
      register,
      createRoom,
      {
        id: 2,
        token,
        method: "PUT",
        path: v3("rooms", "{{1.room_id}}", "typing", "@alice-{{run}}:localhost"),
        body: { typing: true, timeout: 0 },
      },
      { id: 3, token, method: "GET", path: v3("sync") },
    ],
  },
  {
    reason: "Synapse sums up notifications twice a minute, and from then on an accepted invite counts",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && isAlikeWithout(["notification_count"], ours, theirs) &&
      hasMoreNotifications(ours, theirs),
    goesOn: true,
    recorded: answered({ id: 6, token, method: "GET", path: v3("sync") }, unread(1), unread(2)),
  },
  {
    reason:
      "Synapse hands out keys that came at once by their IDs, until its database has got an index for " +
      "when they came",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("claim") && ours.status === 200 && theirs.status === 200 &&
      JSON.stringify(claimedAlgorithms(ours)) === JSON.stringify(claimedAlgorithms(theirs)),
    goesOn: false,
    recorded: answered(
      {
        id: 2,
        token,
        method: "POST",
        path: v3("keys", "claim"),
        body: { one_time_keys: { "@alice-{{run}}:localhost": { ALICE1: "signed_curve25519" } } },
      },
      claimed("AAAABA"),
      claimed("AAAAAQ"),
    ),
  },
  {
    reason: "Where state changes within a filtered timeline, Synapse gives its start or its end, by chance",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && withStateByName(ours) === withStateByName(theirs),
    goesOn: false,
    shownBy: [
      register,
      createRoom,
      ...["one", "two", "three"].flatMap((topic, index): Step[] => [
        {
          id: 2 + 2 * index,
          token,
          method: "PUT",
          path: v3("rooms", "{{1.room_id}}", "state", "m.room.topic", ""),
          body: { topic },
        },
        {
          id: 3 + 2 * index,
          token,
          method: "PUT",
          path: v3("rooms", "{{1.room_id}}", "send", "m.room.message", `t${index}`),
          body: { msgtype: "m.text", body: topic },
        },
      ]),
      {
        id: 8,
        token,
        method: "GET",
        path: v3("sync"),
        query: { filter: JSON.stringify({ room: { timeline: { types: ["m.room.message"] } } }) },
      },
    ],
  },
  {
    reason: "Synapse answers a sync from the midst of what goes on beside it: of presence and devices, the " +
      "next sync repeats what was in it, or leaves out what was not",
    covers: ({ step, ours, theirs, isSinceBeside }) =>
      step.path.includes("sync") && isSinceBeside &&
      isAlikeWithout(["presence", "device_lists"], ours, theirs),
    goesOn: true,
    shownBy: [
      register,
      {
        id: 1,
        token,
        method: "GET",
        path: v3("sync"),
        query: { set_presence: "offline" },
        beside: {
          id: 2,
          token,
          method: "POST",
          path: v3("keys", "upload"),
          body: {
            device_keys: {
              user_id: "@alice-{{run}}:localhost",
              device_id: "{{0.device_id}}",
              algorithms: [],
              keys: {},
              signatures: {},
            },
            // The first answer has it, so that the upload came before; the second has the device as new.
            fallback_keys: { "signed_curve25519:AAAABA": { key: "key", fallback: true, signatures: {} } },
          },
        },
      },
      { id: 3, token, method: "GET", path: v3("sync"), query: { since: "{{1.next_batch}}" } },
    ],
  },
  {
    reason: "Synapse counts redactions of nothing, which it shows nobody, as part of a timeline: one that " +
      "leaves events out is said to be whole",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && isAlikeWithout(["timeline", "state"], ours, theirs) &&
      isSilentlyCut(timelinesOf(ours), timelinesOf(theirs)),
    goesOn: true,
    shownBy: [
      register,
      createRoom,
      { id: 2, token, method: "GET", path: v3("sync") },
      ...Array.from({ length: 11 }, (_, index): Step => ({
        id: 3 + index,
        token,
        method: "PUT",
        path: v3("rooms", "{{1.room_id}}", "send", "m.room.message", `t${index}`),
        body: { msgtype: "m.text", body: "text" },
      })),
      ...["$none1", "$none2"].map((eventId, index): Step => ({
        id: 14 + index,
        token,
        method: "PUT",
        path: v3("rooms", "{{1.room_id}}", "redact", eventId, `r${index}`),
        body: {},
      })),
      { id: 16, token, method: "GET", path: v3("sync"), query: { since: "{{2.next_batch}}" } },
    ],
  },
  {
    reason:
      "By sliding sync Synapse says at times that a room is new where the user, who is in it, has another name " +
      "or has joined again: what stood before that in the room decides, and how its database has kept it",
    covers: ({ step, ours, theirs }) =>
      step.path.includes(SLIDING) && isAlikeWithout(TOLD_ANEW, ours, theirs) && isToldAnew(ours, theirs),
    goesOn: true,
    recorded: answered(
      { id: 6, token, method: "POST", path: SLIDING_PATH, query: { pos: "{{5.pos}}" } },
      { rooms: { "!room1": { limited: false, required_state: [RENAMED], timeline: [RENAMED] } } },
      {
        rooms: {
          "!room1": {
            initial: true,
            limited: true,
            required_state: [LEVELS, RENAMED],
            timeline: [TEXT, RENAMED],
          },
        },
      },
    ),
  },
  {
    reason:
      "By sliding sync a Synapse of under a minute, whose database is still being prepared, fails inside " +
      "where a room was left and forgotten that it has shown",
    covers: ({ step, ours, theirs }) =>
      step.path.includes(SLIDING) && ours.status === 200 && theirs.status === 500 &&
      errcodeOf(theirs) === "M_UNKNOWN",
    recorded: {
      ...answered({ id: 7, token, method: "POST", path: SLIDING_PATH, query: { pos: "{{4.pos}}" } }, {}, {}),
      theirs: { status: 500, body: { errcode: "M_UNKNOWN" } },
    },
  },
  {
    reason:
      "Where events were sent beside each other, Synapse says of a piece of state of the timeline that " +
      "it stood before that, too",
    covers: ({ step, ours, theirs }) =>
      step.path.includes("sync") && step.query?.since === undefined &&
      isAlikeWithout(["state"], ours, theirs) && isStateOfTimeline(ours, theirs),
    goesOn: true,
    recorded: answered({ id: 0, token, method: "GET", path: v3("sync") }, forked([]), forked([LEVELS])),
  },
  {
    reason: "Synapse carries the state of an upgraded room over in an order of chance",
    covers: ({ step, ours, theirs, upgraded }) =>
      ours.status === 200 && theirs.status === 200 &&
      (step.path.some((segment) => segment.includes("replacement_room")) ||
        (upgraded.length > 0 && isAlikeWithout(upgraded, ours, theirs))),
    goesOn: false,
    shownBy: [
      register,
      {
        ...createRoom,
        body: {
          name: "Name",
          topic: "Topic",
          initial_state: [
            { type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } },
            { type: "m.room.avatar", content: { url: "mxc://localhost/a" } },
          ],
        },
      },
      ...["one", "two", "three"].flatMap((name, index): Step[] => [
        {
          id: 2 + 2 * index,
          token,
          method: "PUT",
          path: v3("rooms", "{{1.room_id}}", "state", "m.room.name", ""),
          body: { name },
        },
        {
          id: 3 + 2 * index,
          token,
          method: "PUT",
          path: v3("rooms", "{{1.room_id}}", "state", "m.room.join_rules", ""),
          body: { join_rule: index % 2 === 0 ? "public" : "invite" },
        },
      ]),
      {
        id: 8,
        token,
        method: "POST",
        path: v3("rooms", "{{1.room_id}}", "upgrade"),
        body: { new_version: "11" },
      },
      {
        id: 9,
        token,
        method: "GET",
        path: v3("rooms", "{{8.replacement_room}}", "messages"),
        query: { dir: "b", limit: "100" },
      },
    ],
  },
];

/** The entry that a difference is listed as. */
export function listedAs(compared: Compared): Difference | undefined {
  return DIFFERENCES.find(({ covers }) => covers(compared));
}

/** What ours says of what it does not reach. */
const UNREACHED = ["404 M_NOT_FOUND", "404 M_UNKNOWN", "502 M_UNKNOWN", "400 M_BAD_ALIAS"];

function namesOtherServer({ path, query, body }: Step): boolean {
  const server = path.includes("download") ? path.at(path.indexOf("download") + 1) : "localhost";
  return server !== "localhost" || JSON.stringify([path, query, body]).search(/away\.example|[@#!]x:y/) >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function errcodeOf({ body }: Answer): string {
  return String(asObject(body).errcode);
}

function codeOf(answer: Answer): string {
  return answer.status < 400 ? String(answer.status) : `${answer.status} ${errcodeOf(answer)}`;
}

/** Whether two answers are the same but for members of these names, wherever they are. */
function isAlikeWithout(names: readonly string[], a: Answer, b: Answer): boolean {
  const rest = (answer: Answer) =>
    JSON.stringify(answer, (key, value) => names.includes(key) ? undefined : value);
  return a.status === 200 && rest(a) === rest(b);
}

/** The parts of the rooms that the user is in, by room. */
function joinedRooms({ body }: Answer): (readonly [string, Record<string, unknown>])[] {
  const rooms = asObject(asObject(asObject(body).rooms).join);
  return Object.entries(rooms).map(([room, part]) => [room, asObject(part)]);
}

function timelinesOf(answer: Answer): Record<string, unknown>[] {
  return joinedRooms(answer).map(([, { timeline }]) => asObject(timeline));
}

function eventsIn(part: unknown): readonly unknown[] {
  return eventsOf(asObject(part).events);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether timelines are alike, but for some that lack their beginning, and are said to be whole. */
function isSilentlyCut(
  ours: readonly Record<string, unknown>[],
  theirs: readonly Record<string, unknown>[],
): boolean {
  const others = ours.filter((our, index) => !isSame(our, theirs[index]));
  return others.length > 0 && others.every((our) => {
    const their = theirs[ours.indexOf(our)];
    const [all, some] = [eventsIn(our), eventsIn(their)];
    return our.limited === true && their?.limited === false && some.length < all.length &&
      isSame(all.slice(all.length - some.length), some);
  });
}

/** The members of a room of sliding sync that a new one has otherwise. */
const TOLD_ANEW = ["initial", "limited", "required_state", "timeline"];

/** Whether rooms differ that Synapse calls new, which for ours have a member who comes once more. */
function isToldAnew(ours: Answer, theirs: Answer): boolean {
  const [our, their] = [ours, theirs].map(({ body }) =>
    Object.values(asObject(asObject(body).rooms)).map(asObject)
  );
  const differing = our?.filter((room, index) => !isSame(room, their?.[index])) ?? [];
  return differing.length > 0 && differing.every((room) => {
    const { initial, timeline } = asObject(their?.[our?.indexOf(room) ?? -1]);
    const [all, some] = [eventsOf(timeline), eventsOf(room.timeline)];
    return initial === true && room.initial === undefined &&
      isSame(all.slice(all.length - some.length), some) &&
      eventsOf(room.required_state).some((event) =>
        asObject(event).type === "m.room.member" && asObject(asObject(event).content).membership === "join"
      );
  });
}

function eventsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

/** Whether their state differs only by events that both have in the timeline. */
function isStateOfTimeline(ours: Answer, theirs: Answer): boolean {
  const their = new Map(joinedRooms(theirs));
  return joinedRooms(ours).every(([room, { state, timeline }]) => {
    const known = eventsIn(timeline).map((event) => asObject(event).event_id);
    const rest = eventsIn(their.get(room)?.state).filter((event) =>
      !known.includes(asObject(event).event_id)
    );
    return isSame(rest, eventsIn(state));
  });
}

function presenceOf({ body }: Answer): readonly unknown[] {
  const { events } = asObject(asObject(body).presence);
  return Array.isArray(events) ? events : [];
}

function isPartOf(some: readonly unknown[], all: readonly unknown[]): boolean {
  const texts = all.map((item) => JSON.stringify(item));
  return some.every((item) => texts.includes(JSON.stringify(item)));
}

function hasMoreNotifications(ours: Answer, theirs: Answer): boolean {
  const counts = (answer: Answer) =>
    [...JSON.stringify(answer).matchAll(/"notification_count":(\d+)/g)].map(([, count]) => Number(count));
  const [our, their] = [counts(ours), counts(theirs)];
  return our.every((count, index) => count <= (their[index] ?? 0));
}

/** Which devices have got a key of which algorithm. */
function claimedAlgorithms({ body }: Answer): unknown {
  return Object.entries(asObject(asObject(body).one_time_keys)).map(([user, devices]) => [
    user,
    Object.entries(asObject(devices)).map(([device, key]) => [
      device,
      Object.keys(asObject(key)).map((id) => id.split(":", 1)[0]),
    ]),
  ]);
}

/** An answer with nothing of the state of rooms but its types and keys, and no numbers in names. */
function withStateByName(answer: Answer): string {
  const text = JSON.stringify(answer, (key, value) => {
    const events: unknown = asObject(value).events;
    if (!/state(_after)?$/.test(key) || !Array.isArray(events)) return value;
    return events.map((event) => `${asObject(event).type} ${asObject(event).state_key}`).sort();
  });
  return text.replaceAll(/"\$event\d+"/g, '"$event"');
}
