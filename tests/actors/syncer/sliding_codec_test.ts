import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  classicAnswer,
  classicToken,
  type SlidingPlace,
  slidingPlace,
} from "../../../src/actors/syncer/sliding_codec.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import type { SyncToken, UserID } from "../../../src/types/ids.ts";

const OWN = "@bot:localhost" as UserID;

const BEGUN: SlidingPlace = { pos: "6/s1_1", isFirst: false, isBehind: false };

function taken(
  answer: { lists?: JsonObject; rooms?: JsonObject; extensions?: JsonObject },
  from: SlidingPlace = BEGUN,
  memberships: readonly (readonly [string, string])[] = [],
) {
  const context = { own: OWN, from, messages: 2, memberships: new Map(memberships) };
  const { response, window } = classicAnswer({ pos: "7/s1_2", ...answer }, context);
  return { response, window, parts: takeApart({ ...response }, OWN) };
}

const member = (membership: string) => ({
  type: "m.room.member",
  state_key: OWN,
  sender: OWN,
  event_id: "$member",
  origin_server_ts: 1,
  content: { membership },
});

Deno.test("A token has the place of the connection and that of messages to the device, and a classic one in it", () => {
  const extensions = { to_device: { next_batch: "a:b/%", events: [] } };
  const { response: { next_batch } } = taken({ extensions });
  const place = { pos: "7/s1_2", toDevice: "a:b/%", isFirst: false, isBehind: false };
  assertEquals(slidingPlace(next_batch), place);
  assertEquals(classicToken(place), "s1_2" as SyncToken);
  assertEquals(slidingPlace("s3" as SyncToken), undefined);
});

Deno.test("As long as there are more rooms than were asked for, a token says how many, and up to where all were shown", () => {
  const lists = { rooms: { count: 30 } };
  const first = taken({ lists }, { shown: 20, isFirst: true, isBehind: false });
  assertEquals(slidingPlace(first.response.next_batch), {
    ...{ pos: "7/s1_2", shown: 20, base: "s1_2" as SyncToken, isFirst: true, isBehind: false },
  });
  assertEquals(first.window, { initial: [], isGrowing: true, isFirst: true, isNew: true, hasMore: true });
  const base = "s0_9" as SyncToken;
  const next = taken({ lists }, { pos: "6/s1_1", shown: 120, base, isFirst: false, isBehind: false });
  assertEquals(slidingPlace(next.response.next_batch), { pos: "7/s1_2", isFirst: false, isBehind: false });
  assertEquals(next.window, {
    ...{ since: base, initial: [], isGrowing: true, isFirst: false, isNew: false, hasMore: false },
  });
});

Deno.test("As many messages to the device as an answer can have mean that there are more", () => {
  const extensions = { to_device: { next_batch: "5", events: [{}, {}] } };
  const { response: { next_batch }, window } = taken({ extensions });
  assertEquals([slidingPlace(next_batch)?.isBehind, window.hasMore], [true, true]);
});

Deno.test("An answer without messages to the device keeps their place", () => {
  const { response } = taken({}, { ...BEGUN, toDevice: "5" });
  assertEquals(slidingPlace(response.next_batch)?.toDevice, "5");
});

Deno.test("A room that the user is outside of as before is no news on a new connection, and a room that was shown is", () => {
  const rooms = {
    "!gone:localhost": { initial: true, required_state: [member("leave")] },
    "!invited:localhost": { initial: true, invite_state: [member("invite")] },
    "!asked:localhost": { initial: true, required_state: [member("join")] },
    "!here:localhost": { initial: true, required_state: [member("join")] },
  };
  const before = [["!gone:localhost", "leave"], ["!invited:localhost", "invite"], [
    "!asked:localhost",
    "invite",
  ]] as const;
  const { parts, window } = taken({ rooms }, { shown: 20, isFirst: false, isBehind: false }, before);
  assertEquals(parts.rooms.map(({ roomId }) => `${roomId}`), ["!asked:localhost", "!here:localhost"]);
  assertEquals(window.initial, ["!here:localhost"]); // the other was joined since
});

Deno.test("Rooms go where the own member event says, or where they were", () => {
  const { parts } = taken(
    {
      rooms: {
        "!same:localhost": { timeline: [], required_state: [] },
        "!gone:localhost": { required_state: [member("leave")] },
        "!banned:localhost": { timeline: [member("ban")] },
        "!invited:localhost": { invite_state: [member("invite")] },
        "!asked:localhost": { stripped_state: [member("knock")] },
        "!told:localhost": { timeline: [{ ...member("join"), state_key: "@other:localhost" }] },
      },
      extensions: {
        typing: {
          rooms: {
            "!typing:localhost": { type: "m.typing", content: { user_ids: [] } },
            "!former:localhost": { type: "m.typing", content: { user_ids: [] } },
          },
        },
      },
    },
    BEGUN,
    [["!same:localhost", "join"], ["!typing:localhost", "join"], ["!former:localhost", "leave"]],
  );
  assertEquals(Object.fromEntries(parts.rooms.map(({ roomId, membership }) => [roomId, `${membership}`])), {
    "!gone:localhost": "leave",
    "!banned:localhost": "leave",
    "!same:localhost": "join",
    "!told:localhost": "join",
    "!typing:localhost": "join",
    "!invited:localhost": "invite",
    "!asked:localhost": "knock",
  });
  assertEquals(parts.malformed, 0);
});

Deno.test("Whatever a server answers is taken apart, and what has the wrong shape is left out", () => {
  const room = fc.record({
    timeline: fc.anything(),
    required_state: fc.anything(),
    invite_state: fc.anything(),
    limited: fc.anything(),
    prev_batch: fc.anything(),
  }, { requiredKeys: [] });
  const rooms = fc.dictionary(fc.constantFrom("!a:b", "!c", "a", "__proto__"), fc.oneof(room, fc.anything()));
  const part = fc.oneof(
    fc.anything(),
    fc.record({ rooms, events: fc.anything(), next_batch: fc.anything() }),
  );
  const extensions = fc.dictionary(
    fc.constantFrom("to_device", "e2ee", "account_data", "receipts", "typing"),
    part,
  );
  fc.assert(fc.property(rooms, extensions, (rooms, extensions) => {
    const { rooms: parts } = taken({ rooms, extensions } as JsonObject).parts;
    assert(parts.every(({ roomId, timeline }) => roomId.startsWith("!") && Array.isArray(timeline)));
  }));
});
