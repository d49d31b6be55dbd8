/**
 * Over 300 lines because all tests put the same answers into both spellings.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  askedFrom,
  classicAnswer,
  classicToken,
  requestToken,
  type SlidingPlace,
  slidingPlace,
} from "../../../src/actors/syncer/sliding_codec.ts";
import { slidingSpelling } from "../../../src/api/server/server.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import {
  type JsonObject,
  PresenceState,
  type RoomID,
  type SyncToken,
  type UserID,
} from "@greenroom/matrix/types";
import { isJsonObject, objectOf } from "../../../src/types/json.ts";
import { SPELLINGS } from "../../support/sliding.ts";
import { scripted } from "../../support/scripted_fetch.ts";

const OWN = "@bot:localhost" as UserID;

const BEGUN: SlidingPlace = { pos: "6/s1_1", isFirst: false, isBehind: false };

type Answer = { lists?: JsonObject; rooms?: JsonObject; extensions?: JsonObject };
type Spelling = keyof typeof SPELLINGS;

/** An answer in the words of a spelling: it is given in those of Synapse. */
function spelled({ rooms = {}, extensions = {}, ...answer }: Answer, spelling: Spelling): JsonObject {
  if (spelling === "synapse") return { rooms, extensions, ...answer };
  const { typing, ...others } = extensions;
  const contents = Object.entries(objectOf(objectOf(typing).rooms)).map((
    [id, event],
  ) => [id, objectOf(event).content]);
  const merged = Object.entries(rooms).map(([id, room]) => {
    if (!isJsonObject(room)) return [id, room];
    const { timeline, invite_state, ...others } = room;
    return [id, {
      ...others,
      ...(timeline !== undefined && { timeline_events: timeline }),
      ...(invite_state !== undefined && { stripped_state: invite_state }),
    }];
  });
  return {
    ...answer,
    rooms: Object.fromEntries(merged),
    extensions: {
      ...others,
      ...(typing !== undefined && { typing: { rooms: Object.fromEntries(contents) } }),
    },
  };
}

/** What a client makes of an answer. */
async function taken(
  answer: Answer,
  {
    from = BEGUN,
    memberships = [],
    invitations = [],
    followed = [],
    spelling = "synapse",
    features = SPELLINGS[spelling],
  }: {
    from?: SlidingPlace;
    memberships?: readonly (readonly [string, string])[];
    spelling?: Spelling;
    features?: Record<string, boolean>;
    invitations?: readonly (readonly [string, string])[];
    followed?: readonly RoomID[];
  } = {},
) {
  const { session, body } = scripted(
    { "*": { pos: "7/s1_2", ...spelled(answer, spelling) } },
    { checked: false },
  );
  const way = slidingSpelling(features);
  assert(way !== undefined);
  const read = await way.ask(session, {
    connection: "greenroom",
    pos: from.pos,
    timeout: 0,
    rooms: from.shown,
    followed,
    events: 10,
    lazily: from.isLazy ? ["m.room.name", "com.example.asked"] : undefined,
    toDevice: { since: from.toDevice, limit: 2 },
    presence: PresenceState.ONLINE,
  });
  const { isToken } = way;
  const [before, invited] = [new Map(memberships), new Map(invitations)];
  const beside = { messages: 2, isToken, memberships: before, invitations: invited, seen: new Set<string>() };
  const context = { own: OWN, from, ...beside };
  const { response, window } = classicAnswer(read, context);
  return { response, window, parts: takeApart({ ...response }, OWN), asked: body() };
}

const BOTH = ["synapse", "merged"] as const;

const member = (membership: string) => ({
  type: "m.room.member",
  state_key: OWN,
  sender: OWN,
  event_id: "$member",
  origin_server_ts: 1,
  content: { membership },
});

for (const spelling of BOTH) {
  Deno.test(`Rooms that are followed are asked for beside the newest: ${spelling}`, async () => {
    const from = { shown: 20, isFirst: true, isBehind: false };
    const { asked } = await taken({}, { spelling, from, followed: ["!office:localhost"] });
    const { room_subscriptions } = objectOf(asked);
    assertEquals(Object.keys(objectOf(room_subscriptions)), ["!office:localhost"]);
  });
}

Deno.test("A token has the place of the connection and that of messages to the device, and a classic one in it", async () => {
  const extensions = { to_device: { next_batch: "a:b/%", events: [] } };
  const { response: { next_batch } } = await taken({ extensions });
  const place = { pos: "7/s1_2", toDevice: "a:b/%", isFirst: false, isBehind: false };
  assertEquals(slidingPlace(next_batch), place);
  assertEquals([classicToken(place), requestToken(place)], ["s1_2", "s1_2"] as SyncToken[]);
  assertEquals(slidingPlace("s3" as SyncToken), undefined);
});

Deno.test("By the merged spelling other requests take the place of the connection itself", async () => {
  const { response: { next_batch } } = await taken({}, { spelling: "merged" });
  const place = { pos: "7/s1_2", isFirst: false, isBehind: false, isToken: true as const };
  assertEquals(slidingPlace(next_batch), place);
  assertEquals([classicToken(place), requestToken(place)], ["s1_2", "7/s1_2"] as SyncToken[]);
});

Deno.test("The merged spelling has all in the body of a request; no range stands for all rooms", async () => {
  const from = { ...BEGUN, toDevice: "5" };
  const { asked } = await taken({}, { spelling: "merged", from });
  const enabled = { enabled: true };
  assertEquals(asked, {
    conn_id: "greenroom",
    pos: "6/s1_1",
    timeout: 0,
    set_presence: "online",
    lists: { rooms: { timeline_limit: 10, required_state: { include: [{}] } } },
    extensions: {
      to_device: { ...enabled, limit: 2, since: "5" },
      ...{ e2ee: enabled, account_data: enabled, receipts: enabled, typing: enabled },
    },
  });
  const { asked: window } = await taken({}, {
    spelling: "merged",
    from: { shown: 20, isFirst: true, isBehind: false },
  });
  assertEquals(objectOf(objectOf(objectOf(window).lists).rooms).range, [0, 19]);
});

Deno.test("Extensions whose proposals are not accepted have prefixes, and those that are missing are not asked for", async () => {
  const features = {
    "org.matrix.simplified_msc3575.stable": true,
    ...{ "org.matrix.msc4538": true, "org.matrix.msc4543.stable": true, "org.matrix.msc4508": true },
  };
  const events = [{ type: "com.example.cue", sender: OWN, content: {} }];
  const { asked, parts } = await taken({
    extensions: { "org.matrix.msc4538.to_device": { next_batch: "9", events }, to_device: { events: [] } },
  }, { features, spelling: "merged" });
  assertEquals(Object.keys(objectOf(objectOf(asked).extensions)), [
    "org.matrix.msc4538.to_device",
    "e2ee",
    "org.matrix.msc4508.typing",
  ]);
  assertEquals(parts.toDevice.map(({ type }) => `${type}`), ["com.example.cue"]);
});

Deno.test("The merged spelling is chosen where it has messages to the device and what encryption needs", () => {
  const { synapse, merged } = SPELLINGS;
  const isToken = (features: Record<string, boolean>) => slidingSpelling(features)?.isToken;
  assertEquals([isToken({ ...synapse, ...merged }), isToken(synapse), isToken({})], [true, false, undefined]);
  for (const proposal of ["msc4538", "msc4543"]) {
    const without = { ...merged, [`org.matrix.${proposal}.stable`]: false };
    assertEquals([isToken({ ...synapse, ...without }), isToken(without)], [false, undefined]);
  }
});

Deno.test("As long as there are more rooms than were asked for, a token says how many, and up to where all were shown", async () => {
  const lists = { rooms: { count: 30 } };
  const rooms = { "!room:localhost": { timeline: [{}] } };
  const first = await taken({ lists, rooms }, { from: { shown: 20, isFirst: true, isBehind: false } });
  assertEquals(slidingPlace(first.response.next_batch), {
    ...{ pos: "7/s1_2", shown: 20, base: "s1_2" as SyncToken, isFirst: true, isBehind: false },
  });
  assertEquals(first.window, {
    initial: [],
    isWhole: true,
    isGrowing: true,
    isFirst: true,
    isNew: true,
    hasMore: true,
  });
  const base = "s0_9" as SyncToken;
  const from = { pos: "6/s1_1", shown: 120, base, isFirst: false, isBehind: false };
  const next = await taken({ lists }, { from });
  assertEquals(slidingPlace(next.response.next_batch), { pos: "7/s1_2", isFirst: false, isBehind: false });
  assertEquals(next.window, {
    ...{
      since: base,
      initial: [],
      isWhole: true,
      isGrowing: true,
      isFirst: false,
      isNew: false,
      hasMore: false,
    },
  });
});

Deno.test("A window without a room that was not shown before is followed by one of all rooms", async () => {
  const [lists, base] = [{ rooms: { count: 30 } }, "s0_9" as SyncToken];
  for (const isFirst of [true, false]) {
    for (const known of isFirst ? [{ base }, {}] : [{ base }]) {
      const from: SlidingPlace = { pos: "6/s1_1", shown: 20, ...known, isFirst, isBehind: false };
      const { response } = await taken({ lists }, { from });
      const place = slidingPlace(response.next_batch) as SlidingPlace;
      assertEquals([place.isNarrow, place.isFirst], [true, isFirst]);
      const { shown, base: rest = "" } = askedFrom(place, { rooms: 0, minute: undefined });
      assertEquals([shown, rest], [undefined, known.base ?? "s1_2"]);
    }
  }
});

Deno.test("Parts of an answer that are null are empty", async () => {
  const nothing = { lists: null, rooms: null, extensions: null } as unknown as Answer;
  const { session } = scripted({ "*": { pos: "7/s1_2", ...nothing } }, { checked: false });
  for (const features of Object.values(SPELLINGS)) {
    const toDevice = { since: undefined, limit: 2 };
    const question = {
      connection: "",
      pos: undefined,
      timeout: 0,
      rooms: 1,
      followed: [],
      events: 1,
      lazily: undefined,
      toDevice,
      presence: undefined,
    };
    const answer = await slidingSpelling(features)?.ask(session, question);
    assertEquals([answer?.count, answer?.rooms.size, answer?.toDevice], [0, 0, {}]);
  }
});

Deno.test("A number of rooms that is none, however deep, counts as none", async () => {
  const from = { shown: 20, isFirst: true, isBehind: false };
  for (const count of ["30", null, JSON.parse(`${"[".repeat(3_000)}${"]".repeat(3_000)}`)]) {
    const { window } = await taken({ lists: { rooms: { count }, all: { count: 3 } } }, { from });
    assert(!window.hasMore);
  }
});

Deno.test("As many messages to the device as an answer can have mean that there are more", async () => {
  const extensions = { to_device: { next_batch: "5", events: [{}, {}] } };
  const { response: { next_batch }, window } = await taken({ extensions });
  assertEquals([slidingPlace(next_batch)?.isBehind, window.hasMore], [true, true]);
});

Deno.test("An answer without messages to the device keeps their place", async () => {
  const { response } = await taken({}, { from: { ...BEGUN, toDevice: "5" } });
  assertEquals(slidingPlace(response.next_batch)?.toDevice, "5");
});

for (const spelling of BOTH) {
  Deno.test(`A room that the user is outside of as before is no news on a new connection, and a room that was shown is: ${spelling}`, async () => {
    const rooms = {
      "!gone:localhost": { initial: true, required_state: [member("leave")] },
      "!invited:localhost": { initial: true, invite_state: [member("invite")] },
      "!asked:localhost": { initial: true, required_state: [member("join")] },
      "!here:localhost": { initial: true, required_state: [member("join")] },
    };
    const { parts, window } = await taken({ rooms }, {
      spelling,
      from: { shown: 20, isFirst: false, isBehind: false },
      memberships: [
        ["!gone:localhost", "leave"],
        ["!invited:localhost", "invite"],
        ["!asked:localhost", "invite"],
      ],
      invitations: [["!invited:localhost", JSON.stringify([OWN, null])]],
    });
    assertEquals(parts.rooms.map(({ roomId }) => `${roomId}`), ["!asked:localhost", "!here:localhost"]);
    assertEquals(window.initial, ["!here:localhost"]); // the other was joined since
  });

  Deno.test(`A room that the user is in is shown, though the server has an empty invitation beside it: ${spelling}`, async () => {
    const room = { timeline: [member("join")], required_state: [], invite_state: [] };
    const { parts } = await taken({ rooms: { "!here:localhost": room } }, {
      spelling,
      memberships: [["!here:localhost", "join"]],
    });
    assertEquals(parts.rooms.map(({ timeline }) => timeline.length), [1]);
  });

  Deno.test(`Rooms go where the own member event says, or where they were: ${spelling}`, async () => {
    const rooms = {
      "!same:localhost": { timeline: [], required_state: [] },
      "!gone:localhost": { required_state: [member("leave")] },
      "!banned:localhost": { timeline: [member("ban")] },
      "!invited:localhost": { invite_state: [member("invite")] },
      "!asked:localhost": { invite_state: [member("knock")] },
      "!told:localhost": { timeline: [{ ...member("join"), state_key: "@other:localhost" }] },
    };
    const typing = {
      rooms: {
        "!typing:localhost": { type: "m.typing", content: { user_ids: [OWN] } },
        "!former:localhost": { type: "m.typing", content: { user_ids: [] } },
      },
    };
    const { parts } = await taken({ rooms, extensions: { typing } }, {
      spelling,
      memberships: [["!same:localhost", "join"], ["!typing:localhost", "join"], [
        "!former:localhost",
        "leave",
      ]],
    });
    assertEquals(Object.fromEntries(parts.rooms.map(({ roomId, membership }) => [roomId, `${membership}`])), {
      "!gone:localhost": "leave",
      "!banned:localhost": "leave",
      "!same:localhost": "join",
      "!told:localhost": "join",
      "!typing:localhost": "join",
      "!invited:localhost": "invite",
      "!asked:localhost": "knock",
    });
    const [ephemeral] = parts.rooms.flatMap(({ ephemeral }) => ephemeral);
    assertEquals([`${ephemeral?.type}`, ephemeral?.content], ["m.typing", { user_ids: [OWN] }]);
    assertEquals(parts.malformed, 0);
  });

  Deno.test(`Whatever a server answers is taken apart, and what has the wrong shape is left out: ${spelling}`, async () => {
    const room = fc.record({
      ...{ membership: fc.jsonValue(), timeline: fc.jsonValue(), required_state: fc.jsonValue() },
      ...{ invite_state: fc.jsonValue(), limited: fc.jsonValue(), prev_batch: fc.jsonValue() },
    }, { requiredKeys: [] });
    const rooms = fc.dictionary(
      fc.constantFrom("!a:b", "!c", "a", "__proto__"),
      fc.oneof(room, fc.jsonValue()),
    );
    const part = fc.oneof(
      fc.jsonValue(),
      fc.record({ rooms, events: fc.jsonValue(), next_batch: fc.jsonValue() }),
    );
    const extensions = fc.dictionary(
      fc.constantFrom("to_device", "e2ee", "account_data", "receipts", "typing"),
      part,
    );
    await fc.assert(fc.asyncProperty(rooms, extensions, async (rooms, extensions) => {
      const { parts } = await taken({ rooms, extensions } as JsonObject, { spelling });
      assert(parts.rooms.every(({ roomId, timeline }) => roomId.startsWith("!") && Array.isArray(timeline)));
    }));
  });
}

Deno.test("By the merged spelling the answer says what the user is to a room, even if no event does", async () => {
  const rooms = {
    "!refused:localhost": { membership: "leave", invite_state: [member("invite")] },
    "!gone:localhost": { membership: "leave" },
    "!away:localhost": { membership: "leave" },
    "!banned:localhost": { membership: "ban", required_state: [] },
    "!odd:localhost": { membership: 7, required_state: [member("join")] },
    "!unknown:localhost": { membership: "__proto__" },
  };
  const { parts } = await taken({ rooms }, {
    spelling: "merged",
    memberships: [["!refused:localhost", "invite"], ["!gone:localhost", "join"], [
      "!away:localhost",
      "leave",
    ]],
  });
  assertEquals(Object.fromEntries(parts.rooms.map(({ roomId, membership }) => [roomId, `${membership}`])), {
    "!refused:localhost": "leave",
    "!gone:localhost": "leave",
    "!banned:localhost": "leave",
    "!odd:localhost": "join",
  });
});

Deno.test("Of an answer with lazily loaded members it is not known who has gone, as long as it shows rooms as they are", async () => {
  const shown = async (from: SlidingPlace, room: object) => {
    const { window, response } = await taken({ rooms: { "!room:localhost": room } }, { from });
    return [window.isWhole, window.members, slidingPlace(response.next_batch)?.isLazy];
  };
  const goesOn: SlidingPlace = { pos: "6/s1_1", isFirst: false, isBehind: false };
  assertEquals(await shown(goesOn, {}), [true, undefined, undefined]);
  const lazy = { ...goesOn, isLazy: true } as const;
  assertEquals(await shown(lazy, { timeline: [{}] }), [false, "lazy", true]);
  assertEquals(await shown(lazy, { initial: true, timeline: [{}] }), [false, "some", true]);
  const growing = { ...lazy, shown: 20, base: "s0_9" as SyncToken };
  assertEquals(await shown(growing, { timeline: [{}] }), [false, "some", true]);
});

for (const spelling of BOTH) {
  Deno.test(`Beside lazily loaded members comes the state that was asked for, and what the timeline has: ${spelling}`, async () => {
    const piece = (type: string, event_id: string, state_key: string | undefined = "") => ({
      ...{ type, event_id, state_key, sender: OWN, origin_server_ts: 1, content: {} },
    });
    const required_state = [piece("m.room.name", "$name")];
    const timeline = [
      ...[
        piece("com.example.other", "$1"),
        piece("com.example.other", "$2"),
        piece("com.example.other", "$3", "k"),
      ],
      ...[piece("com.example.asked", "$4"), piece("m.room.member", "$5", "@somebody:localhost")],
    ];
    const from: SlidingPlace = { pos: "6/s1_1", isFirst: false, isBehind: false, isLazy: true };
    const named = spelling === "merged" ? { timeline_events: timeline } : { timeline };
    const rooms = { "!room:localhost": { required_state, ...named } };
    const { asked, response } = await taken({ rooms }, {
      spelling,
      from,
      memberships: [["!room:localhost", "join"]],
    });
    const room = objectOf(objectOf(asked).lists).rooms;
    const state = objectOf(room).required_state;
    assertEquals(
      state,
      spelling === "merged"
        ? { include: [{}, { type: "m.room.member", state_key: "@alice:example.org" }], lazy_members: true }
        : [
          ...[["m.room.name", "*"], ["com.example.asked", "*"]],
          ...[["m.room.member", "$LAZY"], ["m.room.member", "$ME"]],
        ],
    );
    const { events = [] } = response.rooms?.join?.["!room:localhost" as RoomID]?.state_after ?? {};
    assertEquals(
      events.map(({ event_id }) => event_id),
      spelling === "merged" ? ["$name"] : ["$name", "$2", "$3"],
    );
  });
}
