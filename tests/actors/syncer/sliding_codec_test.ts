import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { classicResponse, classicToken, slidingPlace } from "../../../src/actors/syncer/sliding_codec.ts";
import { takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import type { SyncToken, UserID } from "../../../src/types/ids.ts";

const OWN = "@bot:localhost" as UserID;

function taken(answer: { rooms?: JsonObject; extensions?: JsonObject }, toDevice?: string) {
  const response = classicResponse({ pos: "7/s1_2", ...answer }, { own: OWN, toDevice, counts: undefined });
  return { response, parts: takeApart({ ...response }, OWN) };
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
  assertEquals(slidingPlace(next_batch), { pos: "7/s1_2", toDevice: "a:b/%", isBehind: false });
  assertEquals(classicToken(next_batch), "s1_2" as SyncToken);
  assertEquals(classicToken("s3" as SyncToken), "s3" as SyncToken);
  assertEquals(slidingPlace("s3" as SyncToken), undefined);
});

Deno.test("An answer without messages to the device keeps their place", () => {
  assertEquals(slidingPlace(taken({}, "5").response.next_batch)?.toDevice, "5");
});

Deno.test("Rooms go where the own member event says, or where they were", () => {
  const { parts } = taken({
    rooms: {
      "!same:localhost": { timeline: [], required_state: [] },
      "!gone:localhost": { required_state: [member("leave")] },
      "!banned:localhost": { timeline: [member("ban")] },
      "!invited:localhost": { invite_state: [member("invite")] },
      "!asked:localhost": { stripped_state: [member("knock")] },
    },
    extensions: {
      typing: { rooms: { "!typing:localhost": { type: "m.typing", content: { user_ids: [] } } } },
    },
  });
  assertEquals(Object.fromEntries(parts.rooms.map(({ roomId, membership }) => [roomId, `${membership}`])), {
    "!gone:localhost": "leave",
    "!banned:localhost": "leave",
    "!same:localhost": "join",
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
