/** Signatures of the own identity while that is not proven, or not any more. */

import { assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, sign, signingKey } from "../../support/fake_user.ts";

const ME = "@me:example.org", ALICE = "@alice:a.example";

/** The own identity, and Alice, whom it has signed; neither is looked at yet. */
function users() {
  const me = new FakeUser(ME, "OTHER").crossSign();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  alice.verifiedBy = me;
  return { stage: new DeviceStage(), me, alice };
}

Deno.test("T19: whom an own identity has signed that is only accepted is not verified, and is looked at again once it is proven", async () => {
  const { stage, me, alice } = users();
  await stage.learn(me, alice);
  await stage.acknowledge(ME);
  await stage.learn(me, alice);
  assertEquals([await stage.trust(ME), await stage.trust(ALICE)], [
    { OTHER: "cross-signed" },
    { PHONE: "cross-signed" },
  ]);
  await stage.prove(ME);
  await stage.ask(queryResponse(me, alice)); // of itself: what was signed before counts now
  assertEquals([await stage.trust(ME), await stage.trust(ALICE)], [{ OTHER: "verified" }, {
    PHONE: "verified",
  }]);
});

Deno.test("T19 C26: once the own identity is another one, nobody counts as verified by it", async () => {
  const { stage, me, alice } = users();
  await stage.learn(me);
  await stage.prove(ME);
  await stage.learn(me, alice);
  const impostor = new FakeUser(ME, "OTHER").crossSign();
  const bob = new FakeUser("@bob:b.example", "PHONE").crossSign();
  bob.verifiedBy = impostor;
  await stage.learn(impostor, bob);
  for (const time of ["at once", "after a restart"]) {
    assertEquals(await stage.trust(ME), { OTHER: "unsigned" }, time); // its keys were not shown again
    assertEquals(await stage.trust(ALICE), { PHONE: "violation" }, time);
    assertEquals(await stage.trust(bob.userId), { PHONE: "cross-signed" }, time);
    await stage.restart();
  }
});

Deno.test("T19: a signature of another key under the name of the own one verifies nobody", async () => {
  const { stage, me, alice } = users();
  alice.verifiedBy = undefined;
  await stage.learn(me);
  await stage.prove(ME);
  const response = queryResponse(me, alice);
  const keyId = `ed25519:${me.userSigning?.publicKey}`;
  const forged = sign(response.master_keys[ALICE] ?? {}, { userId: ME, keyId, key: signingKey() });
  const mallory = sign(response.master_keys[ALICE] ?? {}, {
    userId: ALICE,
    keyId,
    key: me.userSigning ?? signingKey(),
  });
  for (const master of [forged, mallory]) {
    await stage.mark(ALICE);
    await stage.ask({ ...response, master_keys: { ...response.master_keys, [ALICE]: master } });
    assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
  }
});

Deno.test("T19: an own identity in place of a proven one is accepted without being proven, and verifies nobody", async () => {
  const { stage, me } = users();
  await stage.learn(me);
  await stage.prove(ME);
  const impostor = new FakeUser(ME, "OTHER").crossSign();
  impostor.devices.splice(0, 1, me.device("OTHER"));
  const bob = new FakeUser("@bob:b.example", "PHONE").crossSign();
  bob.verifiedBy = impostor;
  await stage.learn(impostor);
  await stage.acknowledge(ME);
  await stage.learn(impostor, bob);
  assertEquals([await stage.trust(ME), await stage.trust(bob.userId)], [
    { OTHER: "cross-signed" },
    { PHONE: "cross-signed" },
  ]);
});
