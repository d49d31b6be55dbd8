/** A device that the server has added: it gets no key, since its user has not signed it. */

import { assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse, sign } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

Deno.test("T17: a device that the server has added is not vouched for, whatever other signatures it has", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE", "EVIL").crossSign();
  alice.unsigned.add("EVIL");
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { EVIL: "unsigned", PHONE: "cross-signed" });

  const response = queryResponse(alice);
  const master = alice.selfSigning?.publicKey ?? "";
  const evil = sign(alice.deviceKeys(alice.device("EVIL")), {
    userId: ALICE,
    keyId: `ed25519:${master}`,
    key: fakeDevice("").signing,
  });
  response.device_keys[ALICE] = { ...response.device_keys[ALICE], EVIL: evil };
  await stage.mark(ALICE);
  await stage.ask(response);
  assertEquals((await stage.trust(ALICE)).EVIL, "unsigned");
});

Deno.test("T17: a device without its own signature, or with another's, is not there at all", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const other = new FakeUser("@mallory:m.example", "PHONE");
  const keys = alice.deviceKeys(alice.device("PHONE"));
  const { signatures: _, ...unsigned } = keys;
  const foreign = sign(unsigned, {
    userId: ALICE,
    keyId: "ed25519:PHONE",
    key: other.device("PHONE").signing,
  });
  for (
    const bad of [
      unsigned,
      foreign,
      { ...keys, algorithms: ["m.other"] },
      other.deviceKeys(other.device("PHONE")),
    ]
  ) {
    await stage.mark(ALICE);
    await stage.ask({ device_keys: { [ALICE]: { PHONE: bad } } });
    assertEquals(await stage.trust(ALICE), {});
  }
});

Deno.test("T17: a device under another device's name is not there", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.mark(ALICE);
  await stage.ask({ device_keys: { [ALICE]: { LAPTOP: alice.deviceKeys(alice.device("PHONE")) } } });
  assertEquals(await stage.trust(ALICE), {});
});

Deno.test("T17: a device that says in its own signed words that it is another's, or another, is not there", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  const phone = alice.device("PHONE");
  for (const members of [{ user_id: "@mallory:m.example" }, { device_id: "LAPTOP" }, { user_id: 5 }]) {
    await stage.mark(ALICE);
    await stage.ask({ device_keys: { [ALICE]: { PHONE: alice.deviceKeys(phone, members) } } });
    assertEquals(await stage.trust(ALICE), {});
  }
});
