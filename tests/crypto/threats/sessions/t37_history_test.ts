/**
 * Earlier keys for who is invited: where history is shared, only devices get them that the user's identity
 * vouches for.
 */

import { assertEquals } from "@std/assert";
import { ALICE, fileAt, historyScene } from "../../history/stage.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice } from "../../engine/raw_device.ts";

Deno.test("T37: keys of history go to no device that its user has not signed, or whose user has an identity that was replaced before", async () => {
  const scene = await historyScene();
  const { server, bot, device, identities } = scene;
  device(ALICE, "INJECTED", "unsigned");
  const file = fileAt("mxc://example.org/mine") as never;
  const told = async () => {
    await bot.engine.areDevicesStale({ users: [ALICE], since: Infinity });
    await bot.flush();
    await bot.engine.steps.historyRecipients(ALICE);
    await bot.flush();
    const devices = await bot.engine.steps.offerHistory({ userId: ALICE, roomId: ROOM, file });
    await bot.flush();
    return devices;
  };
  assertEquals(await told(), 1);
  const inbox = (deviceId: string) => server.mailbox({ userId: ALICE, deviceId }).toDevice;
  assertEquals([inbox("PHONE").length, inbox("INJECTED").length], [1, 0]);
  const [message] = inbox("PHONE");
  assertEquals(message && scene.alice.read(message).type, "m.room_key_bundle");

  const { master, selfSigning, userSigning } = identities.get(ALICE) ?? {};
  identities.get(ALICE)?.crossSign(); // another identity, that has signed the device
  assertEquals(await told(), 1);
  Object.assign(identities.get(ALICE) ?? {}, { master, selfSigning, userSigning });
  assertEquals(await told(), 0);
  assertEquals(inbox("INJECTED").length, 0);
});

Deno.test("T37: where only verified devices get keys, only those get keys of history", async () => {
  const { bot } = await historyScene({ sendTo: "verified" });
  await bot.engine.areDevicesStale({ users: [ALICE], since: Infinity });
  await bot.flush();
  const count = async () => (await bot.engine.steps.historyRecipients(ALICE)).devices;
  assertEquals(await count(), 0);
  const [phone] = await bot.engine.devicesOf([ALICE]);
  if (phone !== undefined) await bot.engine.steps.setDeviceTrust({ ...phone, trust: "verified" });
  assertEquals(await count(), 1);
});

Deno.test("T37: keys of history go to no dehydrated device, which takes none", async () => {
  const { bot, server } = await historyScene();
  new RawDevice(server, ALICE, "DRY", { dehydrated: true }).publish();
  await bot.engine.areDevicesStale({ users: [ALICE], since: Infinity });
  await bot.flush();
  const devices = await bot.engine.devicesOf([ALICE]);
  assertEquals(devices.map(({ deviceId, trust }) => `${deviceId} ${trust}`).sort(), [
    "DRY cross-signed",
    "PHONE cross-signed",
  ]);
  assertEquals((await bot.engine.steps.historyRecipients(ALICE)).devices, 1);
});

Deno.test("T37: a device that the application has blocked gets no keys of history", async () => {
  const scene = await historyScene();
  const { bot } = scene;
  await bot.engine.areDevicesStale({ users: [ALICE], since: Infinity });
  await bot.flush();
  const [phone] = await bot.engine.devicesOf([ALICE]);
  if (phone !== undefined) await bot.engine.steps.setDeviceTrust({ ...phone, trust: "blacklisted" });
  assertEquals((await bot.engine.steps.historyRecipients(ALICE)).devices, 0);
});
