/** Which cross-signing keys are taken, one change at a time. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import type { ExpectedKey } from "../../../src/crypto/devices/device_keys_check.ts";
import { readCrossSigningKey } from "../../../src/crypto/devices/mod.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { FakeUser, signingKey } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();
const alice = new FakeUser("@alice:example.org").crossSign();
const { userId, master, selfSigning } = alice;
assert(master !== undefined && selfSigning !== undefined);

const MASTER: ExpectedKey = { userId, usage: "master" };
const SELF_SIGNING: ExpectedKey = { userId, usage: "self_signing", signedBy: master.publicKey };

/** The self-signing key with other members, all of it signed by the master key. */
const selfSigningWith = (members: JsonObject, expected: ExpectedKey = SELF_SIGNING) =>
  readCrossSigningKey(vodozemac, alice.crossSigningKey(selfSigning, "self_signing", members), expected);

Deno.test("readCrossSigningKey() takes a master key as it is, and another that the master key has signed", () => {
  const shown = alice.crossSigningKey(master, "master");
  assertEquals(readCrossSigningKey(vodozemac, shown, MASTER), master.publicKey);
  assertEquals(selfSigningWith({}), selfSigning.publicKey);
});

Deno.test("readCrossSigningKey() refuses a key that its master key has not signed", () => {
  assertEquals(selfSigningWith({}, { ...SELF_SIGNING, signedBy: signingKey().publicKey }), undefined);
  assertEquals(selfSigningWith({}, { ...SELF_SIGNING, signedBy: undefined }), undefined);
});

Deno.test("readCrossSigningKey() refuses a key of another user, for another purpose, or for more than one", () => {
  assertEquals(selfSigningWith({ user_id: "@mallory:example.org" }), undefined);
  const usages = [
    ["user_signing"],
    ["self_signing", "master"],
    ["self_signing", "self_signing"],
    [],
    "self_signing",
    { length: 1, 0: "self_signing" },
  ];
  for (const usage of usages) assertEquals(selfSigningWith({ usage }), undefined);
});

Deno.test("readCrossSigningKey() refuses more keys than one, none, and one under another's name", () => {
  const own = { [`ed25519:${selfSigning.publicKey}`]: selfSigning.publicKey };
  const other = signingKey().publicKey;
  const sets = [
    {},
    { ...own, [`ed25519:${other}`]: other },
    { [`ed25519:${other}`]: selfSigning.publicKey },
    { [`curve25519:${selfSigning.publicKey}`]: selfSigning.publicKey },
    { "ed25519:short": "short" },
    null,
  ];
  for (const keys of sets) assertEquals(selfSigningWith({ keys }), undefined);
  for (const value of [undefined, null, "key", []]) {
    assertEquals(readCrossSigningKey(vodozemac, value, SELF_SIGNING), undefined);
  }
});
