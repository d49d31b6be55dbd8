/** A device ID that equals a cross-signing key of its user (CVE-2022-39250). */

import { assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { fakeDevice, FakeUser, queryResponse, signingKey } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

for (const key of ["master", "selfSigning", "userSigning"] as const) {
  for (const padding of ["", "="]) {
    Deno.test(`T20: a device is called like the ${key} key${padding}: the user's devices are all refused`, async () => {
      const stage = new DeviceStage();
      const alice = new FakeUser(ALICE, "PHONE").crossSign();
      await stage.learn(alice);
      const userSigning = signingKey();
      const collision = key === "userSigning" ? userSigning : alice[key];
      const deviceId = `${collision?.publicKey}${padding}`;
      alice.devices.push(fakeDevice(deviceId));
      const response = queryResponse(alice);
      response.user_signing_keys[ALICE] = alice.crossSigningKey(userSigning, "user_signing");
      await stage.mark(ALICE);
      const changes = await stage.ask(response);
      assertEquals(changes.alarms, [{ kind: "device-id-is-key", userId: ALICE, deviceId }]);
      assertEquals(changes.removed.map((device) => device.deviceId), ["PHONE"]);
      assertEquals(await stage.trust(ALICE), {});
    });
  }
}

for (const key of ["master", "self_signing"] as const) {
  for (const padding of ["", "="]) {
    Deno.test(`T20: of a user who is seen for the first time, too, a device called like the ${key} key is refused${padding && ", padded"}`, async () => {
      const stage = new DeviceStage();
      const alice = new FakeUser(ALICE, "PHONE").crossSign();
      const shown = signingKey();
      const name = `${shown.publicKey}${padding}`;
      const response = queryResponse(alice);
      response[`${key}_keys`][ALICE] = alice.crossSigningKey(shown, key, {
        keys: { [`ed25519:${name}`]: name },
      });
      const evil = fakeDevice(shown.publicKey);
      response.device_keys[ALICE] = { [evil.deviceId]: alice.deviceKeys(evil) };
      await stage.mark(ALICE);
      const { alarms } = await stage.ask(response);
      assertEquals(alarms, [{ kind: "device-id-is-key", userId: ALICE, deviceId: evil.deviceId }]);
      assertEquals(await stage.trust(ALICE), {});
    });
  }
}

for (const key of ["pinned", "master", "selfSigning"] as const) {
  Deno.test(`T20: a device that is called like a ${key} key which is known is refused when the answer leaves the key out`, async () => {
    const stage = new DeviceStage();
    const alice = new FakeUser(ALICE, "PHONE").crossSign();
    await stage.learn(alice);
    await stage.learn(alice.crossSign()); // so that the pinned key is another than the one that is shown
    const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
    const deviceId = identity?.[key] ?? "";
    alice.devices.push(fakeDevice(deviceId));
    await stage.mark(ALICE);
    const { alarms } = await stage.ask({ device_keys: queryResponse(alice).device_keys });
    assertEquals(alarms, [{ kind: "device-id-is-key", userId: ALICE, deviceId }]);
    assertEquals(await stage.trust(ALICE), {});
  });
}

Deno.test("T20: an own device that is called like the own user-signing key, which is known, is refused when the answer leaves it out", async () => {
  const stage = new DeviceStage();
  const me = new FakeUser("@me:example.org", "OTHER").crossSign();
  await stage.learn(me);
  const deviceId = me.userSigning?.publicKey ?? "";
  me.devices.push(fakeDevice(deviceId));
  await stage.mark(me.userId);
  const { alarms } = await stage.ask({ device_keys: queryResponse(me).device_keys });
  assertEquals(alarms, [{ kind: "device-id-is-key", userId: me.userId, deviceId }]);
});

Deno.test("T20: it is also refused if the answer leaves the key out, and over when the device is gone", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  await stage.learn(alice);
  const deviceId = alice.master?.publicKey ?? "";
  alice.devices.push(fakeDevice(deviceId));
  await stage.mark(ALICE);
  const changes = await stage.ask({ device_keys: queryResponse(alice).device_keys });
  assertEquals(changes.alarms.map(({ kind }) => kind), ["device-id-is-key"]);
  assertEquals(await stage.trust(ALICE), {});
  alice.devices.pop();
  await stage.learn(alice);
  assertEquals(await stage.trust(ALICE), { PHONE: "cross-signed" });
});
