/** A malformed user-signing key: it verifies nobody. */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, sign, signingKey } from "../../support/fake_user.ts";

const ME = "@me:example.org", ALICE = "@alice:a.example";

Deno.test("T21: a user-signing key that is not what it must be verifies nobody", async () => {
  const me = new FakeUser(ME, "OTHER").crossSign();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  alice.verifiedBy = me;
  const key = me.userSigning ?? signingKey();
  const good = me.crossSigningKey(key, "user_signing");
  const { signatures: _, ...unsigned } = good;
  const cases: Record<string, JsonObject> = {
    unsigned,
    "another use": me.crossSigningKey(key, "self_signing"),
    "two uses": me.crossSigningKey(key, "user_signing", { usage: ["user_signing", "self_signing"] }),
    "another user": me.crossSigningKey(key, "user_signing", { user_id: ALICE }),
    "two keys": me.crossSigningKey(key, "user_signing", {
      keys: { [`ed25519:${key.publicKey}`]: key.publicKey, "ed25519:AAAA": "AAAA" },
    }),
    "signed by another master key": sign(unsigned, {
      userId: ME,
      keyId: `ed25519:${me.master?.publicKey}`,
      key: signingKey(),
    }),
  };
  for (const [name, shown] of Object.entries({ ...cases, good })) {
    const stage = new DeviceStage();
    const response = { ...queryResponse(me, alice), user_signing_keys: { [ME]: shown } };
    await stage.mark(ME, ALICE);
    await stage.ask(response);
    await stage.prove(ME);
    await stage.mark(ME, ALICE);
    await stage.ask(response);
    assertEquals(await stage.trust(ALICE), { PHONE: name === "good" ? "verified" : "cross-signed" }, name);
  }
});
