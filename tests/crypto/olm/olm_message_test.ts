/** Which messages to this device are read at all, one change at a time. */

import { assert, assertEquals } from "@std/assert";
import { credentialsIn } from "../../../src/crypto/devices/mod.ts";
import { readOlmMessage, writeOlmPayload } from "../../../src/crypto/olm/olm_message.ts";
import type { JsonObject, ToDeviceEvent } from "@greenroom/matrix/types";
import { testContext } from "../support/context.ts";
import { signingKey } from "../support/fake_user.ts";
import { forge } from "../threats/forged_payload.ts";
import { aliceAndBob } from "./peers.ts";

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

Deno.test("a message names its device both ways, since matrix-nio takes no m.dummy without sender_device", async () => {
  const { alice, bob } = await aliceAndBob();
  const deviceKeys = alice.keys.deviceKeys();
  const written = JSON.parse(writeOlmPayload(
    { type: "m.dummy", content: {} },
    { own: alice.keys.own, device: bob.device, deviceKeys },
  ));
  assertEquals(written, {
    type: "m.dummy",
    content: {},
    sender: alice.userId,
    sender_device: alice.deviceId,
    recipient: bob.userId,
    recipient_keys: { ed25519: bob.device.ed25519 },
    keys: { ed25519: alice.device.ed25519 },
    sender_device_keys: JSON.parse(JSON.stringify(deviceKeys)),
  });
});

Deno.test("a message that says no type, or has no content that is an object, is dropped", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const changes: JsonObject[] = [
    { type: undefined },
    { type: 5 },
    { type: null },
    { content: undefined },
    { content: "text" },
    { content: [] },
    { content: null },
  ];
  for (const change of changes) {
    const event = await forge(alice, bob, (payload) => ({ ...payload, ...change }));
    assertEquals(await bob.receive(event), { kind: "dropped", reason: "its plaintext is not an event" });
  }
});

Deno.test("a message may have a hundred levels, and values of any kind in them", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const nested = (levels: number) =>
    forge(alice, bob, (payload) => {
      const deep = JSON.parse(`${"[".repeat(levels)}null,1,"x",true${"]".repeat(levels)}`);
      return { ...payload, content: { deep } };
    });
  // The message and its content are two.
  assertEquals((await bob.receive(await nested(98))).kind, "decrypted");
  assertEquals((await bob.receive(await nested(99))).kind, "dropped");
});

Deno.test("a message need not bring the keys of its device: one that is known is known, one that is not may bring room keys", async () => {
  for (const isKnown of [true, false]) {
    const { alice, bob } = await aliceAndBob();
    await alice.meet(bob);
    if (!isKnown) bob.server.hidden.add(alice.deviceId);
    const without = (type: string) =>
      forge(alice, bob, ({ sender_device_keys: _, ...payload }) => ({ ...payload, type }));
    const key = await bob.receive(await without("m.room_key"));
    assert(key.kind === "decrypted");
    assertEquals([key.device?.deviceId, key.deviceKeys], [
      isKnown ? alice.deviceId : undefined,
      undefined,
    ]);
    assertEquals((await bob.receive(await without("m.dummy"))).kind, "decrypted");
    assertEquals((await bob.receive(await without("m.other"))).kind, isKnown ? "decrypted" : "dropped");
  }
});

Deno.test("the keys that go along bear the signature of the user's identity, as soon as there is one", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const key = signingKey();
  using secret = alice.context.vodozemac.keys.importEd25519(key.secret);
  const identity = { publicKey: key.publicKey, sign: (text: string) => secret.sign(text) };
  const signers = async () => {
    const result = await bob.receive(await alice.send(bob));
    assert(result.kind === "decrypted" && result.deviceKeys !== undefined);
    return credentialsIn(bob.context.vodozemac, result.deviceKeys)?.signedBy;
  };
  assertEquals(await signers(), undefined);
  await alice.step((tx) => alice.keys.account.crossSign(tx, identity));
  assertEquals(await signers(), [key.publicKey]);
  await alice.restart();
  assertEquals(await signers(), [key.publicKey]);
});
