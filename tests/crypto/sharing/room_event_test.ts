import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { EncryptionError, EventTooLargeError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { device } from "./fakes.ts";
import { BOB, ROOM } from "./room.ts";
import { indexOf, Stage } from "./stage.ts";

const bob = device(BOB, "BOB1");

/** Encrypts for a room that is ready. */
function encrypt(stage: Stage, content: JsonObject, eventType = "m.room.message") {
  const input = { roomId: ROOM, eventType, content: JSON.stringify(content) };
  return stage.step((tx) => stage.outbound.encrypt(tx, input));
}

async function readyStage(): Promise<Stage> {
  const stage = await Stage.open();
  await stage.ready();
  return stage;
}

Deno.test("an encrypted event has what the specification asks for, and nothing of its content", async () => {
  const stage = await readyStage();
  const event: JsonObject = (await encrypt(stage, { body: "secret" }))?.content ?? {};
  const { ciphertext, session_id, sender_key, ...rest } = event;
  assertEquals([ciphertext, session_id, sender_key].map((each) => typeof each), [
    "string",
    "string",
    "string",
  ]);
  assertEquals(rest, { algorithm: "m.megolm.v1.aes-sha2", device_id: "OWNDEVICE" });
});

Deno.test("a relation is copied to where the server can read it, and stays inside too", async () => {
  const stage = await readyStage();
  const relation = { rel_type: "m.thread", event_id: "$root" };
  const event: JsonObject = (await encrypt(stage, { body: "hi", "m.relates_to": relation }))?.content ?? {};
  assertEquals(event["m.relates_to"], relation);
  assertEquals(stage.read(bob, event)?.content, { body: "hi", "m.relates_to": relation });
});

Deno.test("what only looks like a relation, in a text or further inside, is none", async () => {
  const stage = await readyStage();
  for (const content of [{ body: '"m.relates_to":1' }, { deep: { "m.relates_to": { event_id: "$root" } } }]) {
    const event: JsonObject = (await encrypt(stage, content))?.content ?? {};
    assertEquals([Object.hasOwn(event, "m.relates_to"), stage.read(bob, event)?.content], [false, content]);
  }
});

Deno.test("content of all characters arrives as it was", async () => {
  const stage = await readyStage();
  const content = { body: "ä€😀\u0000\ud800", deep: { list: [1, null, true] } };
  const event: JsonObject = (await encrypt(stage, content))?.content ?? {};
  assertEquals(stage.read(bob, event)?.content, content);
});

Deno.test("an event that no server would take is refused before an index is used", async () => {
  const stage = await readyStage();
  const error = await assertRejects(() => encrypt(stage, { body: "x".repeat(65_000) }), EventTooLargeError);
  assertEquals(error.code, "EVENT_TOO_LARGE");
  assertStringIncludes(error.message, ROOM);
  assertEquals(indexOf((await encrypt(stage, { body: "short" }))?.content ?? {}), 0);
});

Deno.test("the limit is that of the encrypted event, relation included, and what is near it goes", async () => {
  const stage = await readyStage();
  const largest = (await encrypt(stage, { body: "x".repeat(47_500) }))?.content;
  const size = JSON.stringify(largest).length;
  assert(size > 63_000 && size < 65_536 - 1_024, `${size}`);
  await assertRejects(() => encrypt(stage, { body: "x".repeat(48_500) }), EventTooLargeError);
  await assertRejects(() => encrypt(stage, { body: "€".repeat(16_200) }), EventTooLargeError);
  await assertRejects(
    () => encrypt(stage, { "m.relates_to": { event_id: "x".repeat(30_000) } }),
    EventTooLargeError,
  );
});

Deno.test("the largest content is sent up to the servers' limit, and refused beyond it", async () => {
  const stage = await readyStage();
  const outcomes: string[] = [];
  for (let length = 8_800; length <= 10_000; length += 100) {
    try {
      // Three bytes a character, in the relation and in what is encrypted.
      const event = (await encrypt(stage, { "m.relates_to": { event_id: "€".repeat(length) } }))?.content;
      assert(new TextEncoder().encode(JSON.stringify(event)).length <= 65_536 - 1_024);
      outcomes.push("goes");
    } catch (error) {
      assertInstanceOf(error, EventTooLargeError);
      outcomes.push("is refused");
    }
  }
  const [last, first] = [outcomes.lastIndexOf("goes"), outcomes.indexOf("is refused")];
  assert(last > 0 && last + 1 === first, `${outcomes}`);
});

Deno.test("an event that is just as long as it may be goes", async () => {
  const stage = await readyStage();
  const contentOf = (length: number, related: string) => ({
    body: "x".repeat(length),
    "m.relates_to": { event_id: related },
  });
  const found: JsonObject[] = [];
  for (const related of ["", "$", "$1", "$12"]) {
    for (let length = 48_500; length > 0; length--) {
      const error = await encrypt(stage, contentOf(length, related)).catch((error) => error);
      if (!(error instanceof EventTooLargeError)) break;
      if (error.message.includes("65540 bytes")) found.push(contentOf(length - 3, related)); // four in Base64
    }
  }
  assert(found.length > 0);
  for (const content of found) assert(await encrypt(stage, content) !== undefined);
});

Deno.test("what is encrypted already, or has no type, is refused before an index is used", async () => {
  const stage = await readyStage();
  await assertRejects(() => encrypt(stage, {}, "m.room.encrypted"), EncryptionError);
  await assertRejects(() => encrypt(stage, {}, ""), EncryptionError);
  assertEquals(indexOf((await encrypt(stage, {}))?.content ?? {}), 0);
});

Deno.test("nothing is encrypted for a room that is not known", async () => {
  const stage = await Stage.open();
  assertEquals(await encrypt(stage, { body: "secret" }), undefined);
});
