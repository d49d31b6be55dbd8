/** Which messages to this device are read at all, one change at a time. */

import { assert, assertEquals } from "@std/assert";
import { readOlmMessage } from "../../../src/crypto/olm/olm_message.ts";
import type { ToDeviceEvent } from "../../../src/types/events/event.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { testContext } from "../support/context.ts";

const { own } = testContext();
const SENDER_KEY = `${"A".repeat(42)}E`;

interface Change {
  readonly event?: JsonObject;
  readonly content?: JsonObject;
  readonly part?: JsonObject;
}

const read = ({ event = {}, content = {}, part = {} }: Change = {}) =>
  readOlmMessage(
    {
      type: "m.room.encrypted",
      sender: "@alice:example.org",
      content: {
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: SENDER_KEY,
        ciphertext: { [own.curve25519]: { type: 0, body: "AAAA", ...part } },
        ...content,
      },
      ...event,
    } as unknown as ToDeviceEvent,
    own,
  );

Deno.test("readOlmMessage() takes messages of both types, and keys with padding", () => {
  for (const type of [0, 1] as const) {
    assertEquals(read({ part: { type }, content: { sender_key: `${SENDER_KEY}=` } }), {
      peer: { userId: "@alice:example.org", curve25519: SENDER_KEY },
      message: { type, body: Uint8Array.of(0, 0, 0) },
    });
  }
});

Deno.test("readOlmMessage() refuses what is not as it must be, one change at a time", () => {
  const changes: Change[] = [
    { event: { sender: undefined } },
    { event: { sender: 5 } },
    { event: { content: undefined } },
    { event: { content: "text" } },
    { content: { algorithm: "m.megolm.v1.aes-sha2" } },
    { content: { sender_key: undefined } },
    { content: { sender_key: "short" } },
    { content: { sender_key: own.curve25519 } },
    { content: { sender_key: `${own.curve25519}=` } },
    { content: { ciphertext: undefined } },
    { content: { ciphertext: "AAAA" } },
    { content: { ciphertext: {} } },
    { content: { ciphertext: { [SENDER_KEY]: { type: 0, body: "AAAA" } } } },
    { content: { ciphertext: { [own.curve25519]: "AAAA" } } },
    { content: { ciphertext: { [own.curve25519]: null } } },
    { part: { type: 2 } },
    { part: { type: "0" } },
    { part: { body: undefined } },
    { part: { body: 5 } },
    { part: { body: "not base64" } },
  ];
  for (const change of changes) assertEquals(typeof read(change), "string", JSON.stringify(change));
});

Deno.test("readOlmMessage() takes 128 KiB of base64, and no more", () => {
  assert(typeof read({ part: { body: "A".repeat(131_072) } }) === "object");
  assertEquals(read({ part: { body: "A".repeat(131_073) } }), "it is too long");
});
