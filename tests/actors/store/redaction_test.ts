import { assertEquals } from "@std/assert";
import { redactedId, redactedState, versionOf } from "../../../src/actors/store/redaction.ts";
import { spawnStore, type SyncChange } from "../../../src/actors/store/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import type { JsonObject, MessageEvent, RoomID, StoredState } from "@greenroom/matrix/types";
import { message, state } from "../support/events.ts";

function redaction(given: JsonObject): MessageEvent {
  return message("why", { type: "m.room.redaction", content: {}, ...given }) as unknown as MessageEvent;
}

function stored(type: string, content: JsonObject): StoredState {
  return state(type, content) as unknown as StoredState;
}

Deno.test("What a redaction redacts is said by the server, and from room version 11 on by its content", () => {
  const beside = redaction({ redacts: "$beside" });
  const within = redaction({ content: { redacts: "$within" } });
  const both = redaction({ redacts: "$beside", content: { redacts: "$within" } });
  const found = (version: number | undefined) =>
    [beside, within, both, redaction({ content: { redacts: 7 } })].map((event) => redactedId(event, version));
  assertEquals(found(10), ["$beside", undefined, "$beside", undefined]);
  assertEquals(found(11), [undefined, "$within", "$within", undefined]);
  assertEquals(found(undefined), ["$beside", "$within", "$beside", undefined]);
});

Deno.test("The version of a room is that of its create event; one that is no number is newer", () => {
  const version = (content: JsonObject) => versionOf(stored("m.room.create", content));
  assertEquals([version({}), version({ room_version: "10" }), version({ room_version: "org.example.1" })], [
    1,
    10,
    Infinity,
  ]);
  assertEquals(versionOf(undefined), undefined);
});

const CONTENTS: [string, JsonObject, Record<number, JsonObject>][] = [
  ["m.room.topic", { topic: "x" }, { 1: {}, 12: {} }],
  ["m.room.member", {
    membership: "join",
    displayname: "x",
    join_authorised_via_users_server: "@a:b",
    third_party_invite: { display_name: "x", signed: { token: "t" } },
  }, {
    8: { membership: "join" },
    9: { membership: "join", join_authorised_via_users_server: "@a:b" },
    11: {
      membership: "join",
      join_authorised_via_users_server: "@a:b",
      third_party_invite: { signed: { token: "t" } },
    },
  }],
  ["m.room.create", { creator: "@a:b", room_version: "1", x: 1 }, {
    10: { creator: "@a:b" },
    11: { creator: "@a:b", room_version: "1", x: 1 },
  }],
  ["m.room.join_rules", { join_rule: "restricted", allow: [], x: 1 }, {
    7: { join_rule: "restricted" },
    8: { join_rule: "restricted", allow: [] },
  }],
  ["m.room.power_levels", { users: { "@a:b": 100 }, ban: 50, invite: 50, notifications: { room: 1 } }, {
    10: { ban: 50, users: { "@a:b": 100 } },
    11: { ban: 50, users: { "@a:b": 100 }, invite: 50 },
  }],
  ["m.room.aliases", { aliases: ["#a:b"] }, { 5: { aliases: ["#a:b"] }, 6: {} }],
  ["m.room.history_visibility", { history_visibility: "joined", x: 1 }, {
    1: { history_visibility: "joined" },
    12: { history_visibility: "joined" },
  }],
];

for (const [type, content, versions] of CONTENTS) {
  for (const [version, kept] of Object.entries(versions)) {
    Deno.test(`A redaction leaves of ${type} in room version ${version} what the specification says`, () => {
      const event = stored(type, content);
      const left = redactedState(event, redaction({ content: { reason: "rude", x: "y" } }), Number(version));
      assertEquals(left.content, kept);
      assertEquals(left.unsigned?.redacted_because?.content, { reason: "rude" });
      assertEquals([left.event_id, event.content], [event.event_id, content]);
    });
  }
}

Deno.test("State that comes in one response with the first redaction of a room is redacted by a later one", async () => {
  const store = spawnStore({ kv: new MemoryStore() });
  await store.open([]);
  const roomId = "!room" as RoomID;
  const commit = async (nextBatch: string, room: object) => {
    const rooms = [{ roomId, membership: "join", state: [], complete: true, lossy: false, ...room }];
    await store.commitSync({ nextBatch, repeated: false, rooms } as unknown as SyncChange);
  };
  const topic = state("m.room.topic", { topic: "x" }, { event_id: "$topic" });
  await commit("t0", {});
  await commit("t1", { state: [topic], redactions: [redaction({ redacts: "$message" })] });
  await commit("t2", { redactions: [redaction({ redacts: "$topic", content: { redacts: "$topic" } })] });
  assertEquals((await store.getState({ roomId, type: "m.room.topic", stateKey: "" }))?.content, {});
  await store.stop();
});
