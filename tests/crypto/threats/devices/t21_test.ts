/** Malformed cross-signing keys: of another use, unsigned, two in one, another user's. */

import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, sign, signingKey } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";
const MALLORY = "@mallory:m.example";

/** Bad keys in the place of a good one. */
function bad(alice: FakeUser, usage: "master" | "self_signing"): Record<string, JsonObject> {
  const key = usage === "master" ? alice.master : alice.selfSigning;
  assert(key);
  const name = `ed25519:${key.publicKey}`;
  const other = signingKey().publicKey;
  const good = alice.crossSigningKey(key, usage);
  const keyed = (keys: JsonObject) => alice.crossSigningKey(key, usage, { keys });
  return {
    "wrong usage": alice.crossSigningKey(key, "user_signing"),
    "no usage": alice.crossSigningKey(key, usage, { usage: [] }),
    "two usages": alice.crossSigningKey(key, usage, { usage: [usage, "user_signing"] }),
    "usage that is no list": alice.crossSigningKey(key, usage, { usage }),
    "usage that is not there": alice.crossSigningKey(key, usage, { usage: undefined }),
    "usage that only looks like a list": alice.crossSigningKey(key, usage, {
      usage: { 0: usage, length: 1 },
    }),
    "two keys": keyed({ [name]: key.publicKey, [`ed25519:${other}`]: other }),
    "no key": keyed({}),
    "a key under another's name": keyed({ [`ed25519:${other}`]: key.publicKey }),
    "another kind of key": keyed({ [`curve25519:${key.publicKey}`]: key.publicKey }),
    "what is no key": keyed({ "ed25519:AAAA": "AAAA" }),
    "another user": alice.crossSigningKey(key, usage, { user_id: MALLORY }),
    "no keys at all": { ...good, keys: null },
  };
}

Deno.test("T21: self-signing keys that are not what they must be vouch for nothing", async () => {
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const { selfSigning } = alice;
  assert(selfSigning);
  const good = alice.crossSigningKey(selfSigning, "self_signing");
  const { signatures: _, ...unsigned } = good;
  const cases: Record<string, JsonObject> = {
    ...bad(alice, "self_signing"),
    unsigned,
    "signed by another master key": sign(unsigned, {
      userId: ALICE,
      keyId: `ed25519:${alice.master?.publicKey}`,
      key: signingKey(),
    }),
    "signed by itself": sign(unsigned, {
      userId: ALICE,
      keyId: `ed25519:${selfSigning.publicKey}`,
      key: selfSigning,
    }),
  };
  for (const [name, key] of Object.entries(cases)) {
    const stage = new DeviceStage();
    await stage.mark(ALICE);
    await stage.ask({ ...queryResponse(alice), self_signing_keys: { [ALICE]: key } });
    assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" }, name);
  }
});

Deno.test("T21: master keys that are not what they must be are none", async () => {
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  for (const [name, key] of Object.entries(bad(alice, "master"))) {
    const stage = new DeviceStage();
    await stage.mark(ALICE);
    await stage.ask({ ...queryResponse(alice), master_keys: { [ALICE]: key } });
    assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)), undefined, name);
    assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" }, name);
  }
});

Deno.test("T21: another user's keys do not vouch for a user's devices", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  const mallory = new FakeUser(MALLORY, "EVIL").crossSign();
  alice.selfSigning = mallory.selfSigning; // signs Alice's device in her name
  const response = queryResponse(alice);
  const keys = queryResponse(mallory);
  await stage.mark(ALICE);
  await stage.ask({
    ...response,
    master_keys: { [ALICE]: keys.master_keys[MALLORY] },
    self_signing_keys: { [ALICE]: keys.self_signing_keys[MALLORY] },
  });
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
});
