/** The keys of a sender's device that come with a message. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import { SenderDeviceKeys } from "../../../src/crypto/devices/sender_device_keys.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { fakeDevice, FakeUser } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();
const alice = new FakeUser("@alice:example.org", "A");

/** Checks keys, and counts how many signatures it takes. */
function checker() {
  let verified = 0;
  const keys = new SenderDeviceKeys(() => {
    verified++;
    return vodozemac;
  });
  const check = (value: unknown, device = alice.device("A")) =>
    keys.check(value, {
      userId: alice.userId,
      curve25519: device.curve25519,
      ed25519: device.signing.publicKey,
    }) !== undefined;
  return { check, verified: () => verified };
}

const keysOf = (members: JsonObject = {}, device = alice.device("A")) => alice.deviceKeys(device, members);

Deno.test("the keys of a sender's device are taken if they are the channel's, and the device has signed them", () => {
  const { check } = checker();
  const other = fakeDevice("A");
  assert(check(keysOf()));
  const changes: JsonObject[] = [
    { user_id: "@mallory:example.org" },
    { device_id: "B" },
    { device_id: 5 },
    { keys: { "curve25519:A": other.curve25519, "ed25519:A": alice.device("A").signing.publicKey } },
    { keys: { "curve25519:A": alice.device("A").curve25519, "ed25519:A": other.signing.publicKey } },
    { keys: {} },
  ];
  for (const change of changes) assert(!check(keysOf(change)), JSON.stringify(change));
  for (const value of [undefined, null, "keys", [], 5]) assert(!check(value));
});

Deno.test("keys that come with each message are verified once; any change in them is seen", () => {
  const { check, verified } = checker();
  const keys = keysOf();
  for (let time = 0; time < 3; time++) assert(check(keys));
  assertEquals(verified(), 1);
  assert(!check({ ...keys, algorithms: ["m.forged"] }));
  assert(!check({ ...keys, signatures: {} }));
  assert(check(keys));
});

Deno.test("what is remembered of keys that were verified is bounded, in length and in number", () => {
  const { check, verified } = checker();
  const long = keysOf({ padding: "x".repeat(4_096) });
  for (let time = 0; time < 2; time++) assert(check(long));
  assertEquals(verified(), 2, "too long to be remembered");
  const devices = Array.from({ length: 1_025 }, () => fakeDevice("A"));
  for (const device of devices) assert(check(keysOf({}, device), device));
  const before = verified();
  const [first, second] = devices;
  assert(first !== undefined && second !== undefined);
  assert(check(keysOf({}, second), second));
  assertEquals(verified(), before, "the last 1,024 are remembered");
  assert(check(keysOf({}, first), first));
  assertEquals(verified(), before + 1, "the first is not");
});
