/** From whom a key that was asked for is taken, and to whom one is sent on: devices that look like others. */

import { assert, assertEquals } from "@std/assert";
import { Asker, forwarded } from "../requests/asker.ts";
import { ALICE, knownSender, ME, newDevice, Sender } from "./support.ts";

Deno.test("a forwarded key counts only from a device that was asked, by its name and its key", async () => {
  const asker = new Asker();
  const phone = asker.ownDevice("PHONE");
  const sender = new Sender(asker, newDevice(asker, ALICE));
  await asker.want(sender.say("hello"));
  const key = forwarded(asker, sender);
  const verified = { trust: "verified" } as const;
  assertEquals(await asker.forward({ ...phone, deviceId: "OTHER" }, key), undefined);
  assertEquals(await asker.forward(newDevice(asker, ME, { deviceId: "PHONE", ...verified }), key), undefined);
  assertEquals(await asker.forward({ ...phone, userId: ALICE }, key, ALICE), undefined);
  assertEquals(await asker.forward({ ...phone, userId: ALICE }, key, ME), undefined);
  assertEquals(await asker.forward(phone, key, ALICE), undefined);
  assert(await asker.forward(phone, key));
});

Deno.test("a dehydrated device is asked for no key, however it is trusted", async () => {
  const asker = new Asker();
  asker.devices.put({ ...newDevice(asker, ME, { deviceId: "D", trust: "verified" }), isDehydrated: true });
  await asker.want(new Sender(asker, newDevice(asker, ALICE)).say("hello"));
  assertEquals(await asker.sent(), []);
});

Deno.test("another user's device that has this device's name gets the key that it had", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const sender = await knownSender(asker);
  const { deviceId } = asker.context.own;
  const device = asker.devices.put(newDevice(asker, "@bob:example.org", { deviceId }));
  asker.shared.set(device.curve25519, 0);
  await asker.ask(device, sender);
  assertEquals((await asker.sent()).map(([type, name]) => [type, name]), [["m.room.encrypted", deviceId]]);
});

Deno.test("an own device gets a reason in words, too, whether the key is missing here or not for it", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const [unknown, known] = [new Sender(asker, newDevice(asker, ALICE)), await knownSender(asker)];
  await asker.ask(asker.ownDevice("UNSIGNED", "unsigned"), known);
  await asker.ask(asker.ownDevice("PHONE"), unknown);
  assertEquals((await asker.sent()).map(([, device, { reason }]) => [device, reason]), [
    ["UNSIGNED", "The device is not verified here"],
    ["PHONE", "The key is not here"],
  ]);
});
