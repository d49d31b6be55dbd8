/**
 * Forwarded room keys from devices that were not asked or are not trusted (CVE-2022-39249,
 * CVE-2022-39252).
 */

import { assertEquals } from "@std/assert";
import { Asker, forwarded } from "../../requests/asker.ts";
import { ALICE, ME, newDevice, Sender, told } from "../../megolm/support.ts";

Deno.test("T28: a forwarded key counts only if it was asked for, and from an own verified device that was asked", async () => {
  const asker = new Asker();
  const phone = asker.ownDevice("PHONE");
  const sender = new Sender(asker, newDevice(asker, ALICE));
  const event = sender.say("hello");
  const key = forwarded(asker, sender);
  const refused = async (name: string, ...[device, from]: [typeof phone | undefined, typeof ME?]) => {
    assertEquals([name, await asker.forward(device, key, from)], [name, undefined]);
    assertEquals([name, told(await asker.one(event))], [name, "MISSING_KEY"]);
  };

  await refused("not asked for", phone);
  await asker.want(event);
  await refused("from an unknown device", undefined);
  await refused(
    "from another user",
    asker.devices.put(newDevice(asker, ALICE, { deviceId: "PHONE", trust: "verified" })),
  );
  await refused(
    "from another user, as if it were the own one",
    newDevice(asker, ALICE, { trust: "verified" }),
    ME,
  );
  await refused("sent by another user", phone, ALICE as typeof ME);
  await refused("from a device that was not asked", asker.ownDevice("LATER"));
  await refused("from an own device that is not verified", { ...phone, trust: "cross-signed" });
  await refused("from an own device that was blocked", { ...phone, trust: "blacklisted" });
  const publisher = { ...phone, userId: ALICE };
  await refused("from a device of another user that has published the keys of an own one", publisher, ME);
  const { curve25519 } = newDevice(asker, ME);
  await refused("from a device that has taken the ID of one that was asked", { ...phone, curve25519 });

  await asker.forward(phone, key);
  assertEquals(told(await asker.one(event)), "hello");
});

Deno.test("T28: a forwarded key for another room than the one that was asked about is ignored", async () => {
  const asker = new Asker();
  const phone = asker.ownDevice("PHONE");
  const sender = new Sender(asker, newDevice(asker, ALICE));
  await asker.want(sender.say("hello"));
  const elsewhere = { ...forwarded(asker, sender), room_id: "!other:example.org" };
  assertEquals(await asker.forward(phone, elsewhere), undefined);
});
