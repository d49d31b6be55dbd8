/**
 * A user who was verified has another identity, or the verification is gone:
 * nothing is sent before that is judged.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { withdrawnIdentity } from "../../../../src/crypto/devices/mod.ts";
import { IdentityChangedError, ValueError } from "@greenroom/matrix/errors";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser } from "../../support/fake_user.ts";

const ME = "@me:example.org", ALICE = "@alice:a.example";
const WAS_VERIFIED = true;

/** Alice, whom the own identity has signed. */
async function verified() {
  const stage = new DeviceStage();
  const me = new FakeUser(ME, "OTHER").crossSign();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  alice.verifiedBy = me;
  await stage.learn(me);
  await stage.prove(ME);
  await stage.learn(me, alice);
  const identity = () => stage.run((tx) => stage.lists.identityOf(tx, ALICE));
  const withdraw = async () => {
    const { master = "" } = await identity() ?? {};
    await stage.run((tx) =>
      stage.lists.changeIdentity(
        tx,
        ALICE,
        (before, verifier) => withdrawnIdentity(before, { userId: ALICE, master }, verifier),
      )
    );
  };
  return { stage, me, alice, identity, withdraw };
}

Deno.test("T18: a user whom the own identity has signed is verified, also after a restart and unsigned answers", async () => {
  const { stage, alice, identity } = await verified();
  for (let time = 0; time < 2; time++) {
    assertEquals(await stage.trust(ALICE), { PHONE: "verified" });
    const { isVerified, wasVerified } = await identity() ?? {};
    assertEquals([isVerified, wasVerified], [true, true]);
    await stage.restart();
    alice.verifiedBy = undefined;
    await stage.learn(alice);
  }
});

Deno.test("T18: another identity of a user who was verified is in violation, though accepted, until it is verified or that is withdrawn", async () => {
  for (const way of ["verified", "withdrawn"]) {
    const { stage, me, alice, identity, withdraw } = await verified();
    alice.crossSign().verifiedBy = undefined;
    await stage.learn(alice);
    assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
    await stage.acknowledge(ALICE);
    await stage.restart();
    assertEquals(await stage.trust(ALICE), { PHONE: "violation" }, "accepted");
    if (way === "withdrawn") await withdraw();
    else {
      alice.verifiedBy = me;
      await stage.learn(alice);
    }
    assertEquals(await stage.trust(ALICE), { PHONE: way === "verified" ? "verified" : "cross-signed" });
    assertEquals((await identity())?.wasVerified, way === "verified");
  }
});

Deno.test("T18: a verification is withdrawn for the identity that was compared, and not while it holds", async () => {
  const { stage, alice, withdraw } = await verified();
  await assertRejects(withdraw, ValueError, "is verified");
  alice.crossSign().verifiedBy = undefined;
  await stage.learn(alice);
  const compared = {
    userId: ALICE,
    master: new FakeUser(ALICE).crossSign().master?.publicKey ?? "",
  } as const;
  await assertRejects(
    () =>
      stage.run((tx) => stage.lists.changeIdentity(tx, ALICE, (is) => withdrawnIdentity(is, compared, ""))),
    IdentityChangedError,
    ALICE,
  );
  assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
});

Deno.test("T18: an identity from before, which a server shows again, is not verified by the signature that it had", async () => {
  const { stage, me, alice, identity } = await verified();
  const { master, selfSigning, userSigning } = alice;
  alice.crossSign().verifiedBy = me;
  await stage.learn(alice);
  await stage.acknowledge(ALICE);
  assertEquals(await stage.trust(ALICE), { PHONE: "verified" });

  Object.assign(alice, { master, selfSigning, userSigning }); // still signed: a signature never expires
  await stage.learn(alice);

  assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
  const { hasChanged, isVerified } = await identity() ?? {};
  assertEquals([hasChanged, isVerified], [true, false]);
});

Deno.test("T18 C26: that a user was verified is remembered, however often another identity is shown", async () => {
  const { stage, alice, identity } = await verified();
  for (let time = 0; time < 3; time++) {
    alice.crossSign().verifiedBy = undefined;
    await stage.learn(alice);
    await stage.restart();
    assertEquals(await stage.trust(ALICE), { PHONE: "violation" });
    assertEquals((await identity())?.wasVerified, WAS_VERIFIED);
  }
});

Deno.test("T18 C26: an identity that is verified since it took the place of another is remembered as verified when another is shown", async () => {
  const { stage, me, alice, identity } = await verified();
  const bob = new FakeUser("@bob:b.example", "LAPTOP").crossSign();
  await stage.learn(bob);
  bob.crossSign().verifiedBy = me; // by another own device
  await stage.learn(bob);
  assertEquals(await stage.trust(bob.userId), { LAPTOP: "verified" });

  bob.crossSign().verifiedBy = undefined;
  await stage.learn(bob);
  await stage.acknowledge(bob.userId);

  assertEquals(await stage.trust(bob.userId), { LAPTOP: "violation" });
  // Of others nothing changes.
  assertEquals([alice.userId, (await identity())?.isVerified], [ALICE, WAS_VERIFIED]);
});
