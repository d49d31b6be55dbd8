import { assert, assertEquals } from "@std/assert";
import type { SyncCrypto } from "../../../src/actors/crypto/crypto.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { INFO, joined, message, ROOM, state, timeline } from "../support/events.ts";
import { type SyncerStage, syncerStage } from "../support/syncer_stage.ts";

/** A response with events in the timeline, and sticky ones beside. */
function response(events: JsonObject[], sticky: unknown): JsonObject {
  const whole = joined(timeline(events)) as { rooms: { join: Record<string, JsonObject> } };
  const room = { ...whole.rooms.join[ROOM], msc4354_sticky: sticky as JsonObject };
  return { ...whole, rooms: { join: { [ROOM]: room } } };
}

function seenBy({ api }: SyncerStage): string[] {
  const seen: string[] = [];
  api.on((event) => {
    if ("event_id" in event) seen.push(`${event.event_id}`);
  });
  api.on("STICKY", ({ event, left }) => {
    seen.push(
      `${event.event_id} ${event.type} sticky ${left} ${JSON.stringify(event.content)} ${event.room_id}`,
    );
  });
  api.on("UNENCRYPTED", ({ event }) => seen.push(`${event.event_id} in clear`));
  api.on("UNDECRYPTABLE", ({ event, code }) => seen.push(`${event.event_id} ${code}`));
  return seen;
}

const left = (ms: unknown) => ({ unsigned: { msc4354_sticky_duration_ttl_ms: ms as number } });

Deno.test("Sticky events come behind the timeline, with the time they hold, and change no state", async () => {
  const sticky = {
    events: [
      message("call", { type: "org.example.call", content: { in: true }, ...left(5_000) }),
      state("org.example.seat", { taken: true }, { event_id: "$seat", ...left(1e300) }),
      message("old", { type: "org.example.call", content: {}, ...left(-5) }),
      message("said", { type: "org.example.call", content: {}, ...left("long") }),
    ],
  };
  await using here = await syncerStage({ answers: [response([message("1")], sticky), response([], {})] });
  const seen = seenBy(here);
  await here.api.syncOnce();
  await here.api.syncOnce();
  assertEquals(seen, [
    "$1",
    `$call org.example.call sticky 5000 {"in":true} ${ROOM}`,
    `$seat org.example.seat sticky 3600000 {"taken":true} ${ROOM}`,
    `$old org.example.call sticky 0 {} ${ROOM}`,
    `$said org.example.call sticky undefined {} ${ROOM}`,
  ]);
  // That is the content of the state event.
  assert(!Deno.inspect(here.kv.commits, { depth: 20 }).includes("taken"));
});

Deno.test("What is no sticky event is left out", async () => {
  const wrong = [5, [], { events: {} }, {
    events: [null, 5, {}, { type: "a" }, message("x", { sender: "nobody" })],
  }];
  await using here = await syncerStage({
    answers: [...wrong.map((each, index) => response([message(`${index}`)], each)), response([], undefined)],
  });
  const seen = seenBy(here);
  for (const _ of wrong) await here.api.syncOnce();
  assertEquals(seen, ["$0", "$1", "$2", "$3"]);
});

/** "Decrypts" what has plain text. */
const crypto: Pick<SyncCrypto, "receiveSync"> = {
  receiveSync: ({ encrypted, toDevice }) =>
    Promise.resolve({
      toDevice: toDevice.map((event) => ({ event })),
      underway: [],
      recovered: [],
      encryptedRooms: new Set(),
      decrypted: encrypted.map((event) =>
        event.content.plain === undefined
          ? { code: "MISSING_KEY", reason: "No session" }
          : { event: { ...event, type: "org.example.call", content: { in: true } }, encryption: INFO }
      ),
    }),
};

Deno.test("Sticky events are decrypted, and in an encrypted room none counts that comes in clear", async () => {
  const sealed = (id: string, content: JsonObject) => message(id, { type: "m.room.encrypted", content });
  const sticky = {
    events: [
      sealed("a", { plain: "a" }),
      sealed("b", {}),
      message("c", { type: "org.example.call", content: {} }),
    ],
  };
  const encryption = state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" }, { event_id: "$e" });
  const answers = [response([encryption], undefined), response([], sticky)];
  await using here = await syncerStage({ answers, crypto, acceptClear: () => [].length > 0 });
  const seen = seenBy(here);
  await here.api.syncOnce();
  await here.api.syncOnce();
  assertEquals(seen, [
    "$e",
    `$a org.example.call sticky undefined {"in":true} ${ROOM}`,
    "$b MISSING_KEY",
    "$c in clear",
  ]);
});
