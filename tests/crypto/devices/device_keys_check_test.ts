/** Which keys of a device are taken, one change at a time. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  checkDeviceKeys,
  claimedKeys,
  SenderDeviceKeys,
} from "../../../src/crypto/devices/device_keys_check.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { fakeDevice, FakeUser, sign, signingKey } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();
const alice = new FakeUser("@alice:example.org", "A").crossSign();
const device = alice.device("A");
const { curve25519, signing: { publicKey: ed25519 } } = device;
const expected = { userId: alice.userId, deviceId: "A", selfSigning: alice.selfSigning?.publicKey };

/** What becomes of the device's keys with other members, all of it well signed. */
const checked = (members: JsonObject = {}, whose = expected) =>
  checkDeviceKeys(vodozemac, alice.deviceKeys(device, members), whose);

Deno.test("checkDeviceKeys() accepts keys that the device has signed, with the identity that vouches for it", () => {
  const found = checked({ unsigned: { device_display_name: "Phone" }, dehydrated: true });
  assertEquals(found?.curve25519, curve25519);
  assertEquals(found?.ed25519, ed25519);
  assertEquals(found?.signedBy, expected.selfSigning);
  assertEquals([found?.displayName, found?.dehydrated], ["Phone", true]);
  assertFalse(checked({ dehydrated: "yes" })?.dehydrated);
});

Deno.test("checkDeviceKeys() refuses keys that are another user's or another device's, though well signed", () => {
  assertEquals(checked({ user_id: "@mallory:example.org" }), undefined);
  assertEquals(checked({ device_id: "B" }), undefined);
  assertEquals(
    claimedKeys(alice.deviceKeys(device, { user_id: "@mallory:example.org" }), expected),
    "malformed",
  );
  assertEquals(claimedKeys(alice.deviceKeys(device, { device_id: "B" }), expected), "malformed");
});

Deno.test("checkDeviceKeys() refuses keys of which one is missing, or is none; claimedKeys() says whether any is there", () => {
  const both = { "curve25519:A": curve25519, "ed25519:A": ed25519 };
  const cases: [JsonObject, "keyless" | "malformed"][] = [
    [{}, "keyless"],
    [{ "curve25519:B": curve25519, "ed25519:B": ed25519 }, "keyless"],
    [{ "curve25519:A": curve25519 }, "malformed"],
    [{ "ed25519:A": ed25519 }, "malformed"],
    [{ ...both, "curve25519:A": "short" }, "malformed"],
    [{ ...both, "ed25519:A": "short" }, "malformed"],
    [{ ...both, "ed25519:A": 5 }, "malformed"],
  ];
  for (const [keys, claimed] of cases) {
    assertEquals(claimedKeys(alice.deviceKeys(device, { keys }), expected), claimed);
    assertEquals(checked({ keys }), undefined);
  }
  for (const keys of [null, "keys", undefined]) assertEquals(checked({ keys }), undefined);
});

Deno.test("checkDeviceKeys() refuses keys that the device has not signed, whatever other signatures they have", () => {
  const { signatures: _, ...unsigned } = alice.deviceKeys(device);
  assertEquals(checkDeviceKeys(vodozemac, unsigned, expected), undefined);
  const byAnother = sign(unsigned, { userId: alice.userId, keyId: "ed25519:A", key: signingKey() });
  assertEquals(checkDeviceKeys(vodozemac, byAnother, expected), undefined);
  assertEquals(checkDeviceKeys(vodozemac, "keys", expected), undefined);
});

Deno.test("checkDeviceKeys() accepts only the user's key as a voucher, no other or unknown one", () => {
  assertEquals(checked({}, { ...expected, selfSigning: signingKey().publicKey })?.signedBy, undefined);
  assertEquals(checked({}, { ...expected, selfSigning: undefined })?.signedBy, undefined);
});

Deno.test("checkDeviceKeys() keeps algorithms and names of up to 255 characters, and 32 algorithms", () => {
  const long = "x".repeat(255);
  const algorithms = [long, `${long}x`, 5, ...Array.from({ length: 40 }, (_, index) => `a${index}`)];
  const found = checked({ algorithms, unsigned: { device_display_name: `${long}y` } });
  assert(found !== undefined);
  assertEquals(found.algorithms.length, 32);
  assertEquals(found.algorithms.slice(0, 2), [long, "a0"]);
  assertEquals(found.displayName, long);
  assertEquals(checked({ algorithms: "m.olm" }), undefined);
});

Deno.test("checkDeviceKeys() keeps the first 512 bytes of algorithms", () => {
  const names = ["a", "b"].map((letter) => letter.repeat(255));
  assertEquals(checked({ algorithms: [...names, "cc", "d"] })?.algorithms, [...names, "cc"]);
  assertEquals(checked({ algorithms: [...names, "é", "d"] })?.algorithms, [...names, "é"]);
  assertEquals(checked({ algorithms: [...names, "ccc", "d"] })?.algorithms, names);
});

const sender = new FakeUser("@alice:example.org", "A");

/** Checks keys, and counts how many signatures it takes. */
function checker() {
  let verified = 0;
  const keys = new SenderDeviceKeys(() => {
    verified++;
    return vodozemac;
  });
  const check = (value: unknown, device = sender.device("A")) =>
    keys.check(value, {
      userId: sender.userId,
      curve25519: device.curve25519,
      ed25519: device.signing.publicKey,
    }) !== undefined;
  return { check, verified: () => verified };
}

const keysOf = (members: JsonObject = {}, device = sender.device("A")) => sender.deviceKeys(device, members);

Deno.test("the keys of a sender's device are taken if they are the channel's, and the device has signed them", () => {
  const { check } = checker();
  const other = fakeDevice("A");
  assert(check(keysOf()));
  const changes: JsonObject[] = [
    { user_id: "@mallory:example.org" },
    { device_id: "B" },
    { device_id: 5 },
    { keys: { "curve25519:A": other.curve25519, "ed25519:A": sender.device("A").signing.publicKey } },
    { keys: { "curve25519:A": sender.device("A").curve25519, "ed25519:A": other.signing.publicKey } },
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

Deno.test("the cache of verified keys is bounded, in length and in number", () => {
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
