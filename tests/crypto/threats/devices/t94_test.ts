/**
 * An attacker with a user's stolen self-signing key signs devices with it, although the user has
 * made another: the server shows the old one again, whose signature by the master key still holds.
 *
 * What must hold: a replaced self-signing key counts for nothing any more, whatever is shown, or
 * was shown in between.
 *
 * The class of mistake: a signature was taken for the present state. It only proves a past one;
 * whoever verifies it has to remember what came after it.
 */

import { assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, type SigningKey, signingKey } from "../../support/fake_user.ts";

const ALICE: UserID = "@alice:a.example", ME: UserID = "@me:example.org";

for (const userId of [ALICE, ME]) {
  Deno.test(`T94: a self-signing key of ${userId} that was replaced does not come back`, async () => {
    const stage = new DeviceStage();
    const user = new FakeUser(userId, "PHONE").crossSign();
    const { master, selfSigning: first } = user;
    const show = async (keys: { master?: SigningKey; selfSigning?: SigningKey }) => {
      Object.assign(user, keys);
      const { alarms } = await stage.learn(user);
      await stage.restart();
      return [await stage.trust(userId), ...alarms.map(({ kind }) => kind)];
    };
    await stage.learn(user);
    if (userId === ME) await stage.acknowledge(ME);
    const second = signingKey();
    assertEquals(await show({ selfSigning: second }), [{ PHONE: "cross-signed" }]);
    assertEquals(await show({ selfSigning: first }), [{ PHONE: "unsigned" }, "replaced-key"]);
    assertEquals(await show({ selfSigning: second }), [{ PHONE: "cross-signed" }]);
    // Nor by way of an identity that the server makes up, and takes back.
    const other = signingKey();
    const isOwn = userId === ME;
    assertEquals(await show({ master: other, selfSigning: other }), [
      { PHONE: isOwn ? "violation" : "cross-signed" },
      "identity-changed",
    ]);
    const back = await show({ master, selfSigning: first });
    assertEquals(
      back,
      isOwn
        ? [{ PHONE: "unsigned" }, "replaced-key", "identity-changed"]
        : [{ PHONE: "violation" }, "identity-changed"],
    );
    // The user could have made the other identity: the one from before is not accepted any more.
    assertEquals(await show({ selfSigning: second }), [{ PHONE: "violation" }]);
  });
}

Deno.test("T94: a key that takes the place of one while another identity is shown replaces it all the same", async () => {
  const stage = new DeviceStage();
  const me = new FakeUser(ME, "OTHER").crossSign();
  await stage.learn(me);
  await stage.prove(ME);
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  alice.verifiedBy = me;
  const { master, selfSigning: first } = alice;
  await stage.learn(alice);
  await stage.learn(Object.assign(alice.crossSign(), { verifiedBy: undefined }));
  Object.assign(alice, { master, selfSigning: signingKey(), verifiedBy: me });
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "verified" });
  Object.assign(alice, { selfSigning: first });
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
});

Deno.test("T94: a replaced key takes nothing from the devices that the newest vouches for", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const { self_signing_keys: old } = queryResponse(alice);
  await stage.learn(alice);
  alice.selfSigning = signingKey();
  await stage.learn(alice);
  await stage.mark(ALICE);
  await stage.ask({ ...queryResponse(alice), self_signing_keys: old });
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
});

Deno.test("T94: an accepted identity begins with the self-signing key that it has, whatever the one before had", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  await stage.learn(alice.crossSign());
  await stage.acknowledge(ALICE);
  const { selfSigning: first } = alice;
  alice.selfSigning = signingKey();
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
  Object.assign(alice, { selfSigning: first });
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "unsigned" });
});
