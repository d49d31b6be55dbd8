/** What is said of events that can't be decrypted whatever their key is. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { envelopeProblem, readMegolmPayload } from "../../../src/crypto/megolm/encrypted_event.ts";
import type { JsonObject, MessageEvent } from "@greenroom/matrix/types";
import { ALICE, MEGOLM, newDevice, Receiver, ROOM, Sender } from "./support.ts";

const receiver = new Receiver();
const event = new Sender(receiver, newDevice(receiver, ALICE)).say("hello");

const reason = (content: JsonObject, unsigned?: JsonObject) =>
  envelopeProblem({ ...event, content: { ...event.content, ...content }, unsigned } as MessageEvent)
    ?.reason ?? "";

Deno.test("an event without an algorithm has been redacted if the server says so, and only then", () => {
  const redacted = { redacted_because: { type: "m.room.redaction" } };
  assertStringIncludes(reason({ algorithm: undefined }, redacted), "redacted");
  assertStringIncludes(reason({ algorithm: undefined }), "how it is encrypted");
  assertStringIncludes(reason({ algorithm: undefined }, { redacted_because: "yes" }), "how it is encrypted");
  assertEquals(reason({}, redacted), "");
});

Deno.test("an unknown algorithm is reported with its first 255 characters", () => {
  const told = reason({ algorithm: `${MEGOLM}${"x".repeat(1_000)}` });
  assertStringIncludes(told, "x".repeat(255 - MEGOLM.length));
  assert(!told.includes("x".repeat(256 - MEGOLM.length)));
});

Deno.test("a ciphertext may have 128 KiB, and no more", () => {
  assertEquals(reason({ ciphertext: "A".repeat(131_072) }), "");
  assertStringIncludes(reason({ ciphertext: "A".repeat(131_073) }), "ciphertext");
});

const MESSAGE = { room_id: ROOM, type: "m.room.message", content: { body: "hello" } };

const readBytes = (bytes: Uint8Array) => readMegolmPayload(bytes, ROOM);
const readText = (text: string) => readBytes(new TextEncoder().encode(text));
const read = (change: JsonObject = {}) => readText(JSON.stringify({ ...MESSAGE, ...change }));

/** A content with that many levels below its own. */
function nested(levels: number): JsonObject {
  const [open, close] = ["[".repeat(levels), "]".repeat(levels)];
  return { content: { body: "hello", deep: JSON.parse(`${open}"${"x".repeat(200)}"${close}`) } };
}

Deno.test("readMegolmPayload() takes the type and the content, and nothing else", () => {
  assertEquals(read({ sender: "@mallory:example.org", event_id: "$forged", unsigned: {} }), {
    type: "m.room.message",
    content: { body: "hello" },
  });
});

Deno.test("readMegolmPayload() refuses what is no event of the room, one change at a time", () => {
  const changes: JsonObject[] = [
    { room_id: "!other:example.org" },
    { room_id: undefined },
    { type: undefined },
    { type: 5 },
    { content: undefined },
    { content: "hello" },
    { content: [] },
    { content: null },
    { state_key: "" },
    { state_key: null },
    { type: "m.room.encrypted" },
    { type: "m.room.redaction" },
    { type: "m.room.member" },
  ];
  for (const change of changes) assertEquals(typeof read(change), "string", JSON.stringify(change));
  for (const text of ["", "hello", "[]", "null", "5", `"text"`, `${JSON.stringify(MESSAGE)},`]) {
    assertEquals(typeof readText(text), "string", text);
  }
  assertEquals(typeof readBytes(Uint8Array.of(0xff, 0xfe)), "string");
});

Deno.test("readMegolmPayload() takes types of up to 255 characters", () => {
  const type = `org.example.${"x".repeat(243)}`;
  assert(typeof read({ type }) === "object");
  assertEquals(typeof read({ type: `${type}x` }), "string");
});

Deno.test("readMegolmPayload() takes a hundred levels, and no more, in objects as in lists", () => {
  assert(typeof read(nested(98)) === "object"); // the event and its content are two
  assertEquals(read(nested(99)), "its content is nested too deeply");
  const objects = (levels: number) =>
    `{"room_id":"${ROOM}","type":"m.room.message","content":${`{"a":`.repeat(levels)}1${"}".repeat(levels)}}`;
  assert(typeof readText(objects(99)) === "object");
  assertEquals(readText(objects(100)), "its content is nested too deeply");
});
