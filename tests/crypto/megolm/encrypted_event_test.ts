/** What is said of events that can't be decrypted whatever their key is. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { envelopeProblem } from "../../../src/crypto/megolm/encrypted_event.ts";
import type { MessageEvent } from "../../../src/types/events/event.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { ALICE, MEGOLM, newDevice, Receiver, Sender } from "./support.ts";

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

Deno.test("of an algorithm that is not known the first 255 characters are told", () => {
  const told = reason({ algorithm: `${MEGOLM}${"x".repeat(1_000)}` });
  assertStringIncludes(told, "x".repeat(255 - MEGOLM.length));
  assert(!told.includes("x".repeat(256 - MEGOLM.length)));
});

Deno.test("a ciphertext may have 128 KiB, and no more", () => {
  assertEquals(reason({ ciphertext: "A".repeat(131_072) }), "");
  assertStringIncludes(reason({ ciphertext: "A".repeat(131_073) }), "ciphertext");
});
