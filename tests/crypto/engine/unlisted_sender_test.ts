/**
 * Messages of devices that the server does not list any more when the receiver asks about them first:
 * what came with the room key may show that their user vouches for them.
 */

import { assert, assertEquals } from "@std/assert";
import type { EncryptionInfo, MessageEvent } from "@greenroom/matrix/types";
import { fakeDevice, FakeUser } from "../support/fake_user.ts";
import type { Bot } from "./bot.ts";
import { ALICE, Unlisted } from "./unlisted.ts";

async function encryptionOf(bot: Bot, event: MessageEvent): Promise<EncryptionInfo> {
  const decryption = await bot.engine.decrypt(event);
  assert("encryption" in decryption, JSON.stringify(decryption));
  return decryption.encryption;
}

Deno.test("a device that is gone before it was asked about is read if its user's signature came with the key", async () => {
  const scene = await Unlisted.open();
  await scene.sendKey();
  const event = await scene.say();
  assertEquals(scene.bot.outcome(event), "text: hello");
  const { senderTrust, senderDevice, keySource } = await encryptionOf(scene.bot, event);
  assertEquals([senderTrust, senderDevice, keySource], ["unverified-identity", "PHONE", "direct"]);
  await scene.bot.restart();
  assertEquals((await encryptionOf(scene.bot, event)).senderTrust, "unverified-identity");
});

Deno.test("the signature counts as soon as the user's identity is known, and what came before is handled then", async () => {
  const scene = await Unlisted.open({ isStranger: true });
  await scene.sendKey();
  const { identities } = scene.server;
  identities.delete(ALICE);
  const event = await scene.say();
  assertEquals(scene.bot.outcome(event), "UNTRUSTED");
  identities.set(ALICE, scene.alice);
  await scene.meet();
  assertEquals(scene.bot.outcome(event), "text: hello");
});

Deno.test("of several signatures in the user's name the one of the present identity counts, wherever it is", async () => {
  const scene = await Unlisted.open();
  const old = scene.signed({ key: new FakeUser(ALICE).crossSign().selfSigning });
  assertEquals(await scene.reads(scene.signed({ keys: old as never })), "text: hello");
});

Deno.test("a device that is listed without a signature is read by the one that came with its key, also when it is gone", async () => {
  const scene = await Unlisted.open({ isStranger: true });
  const { server, bot, phone, alice } = scene;
  alice.unsigned.add("PHONE");
  server.show(phone.own, phone.deviceKeys);
  await scene.meet();
  assertEquals(await scene.reads(), "text: hello");
  server.show(phone.own, "hidden");
  await bot.sync();
  const { senderTrust, senderDevice } = await encryptionOf(bot, await scene.say());
  assertEquals([senderTrust, senderDevice], ["unverified-identity", "PHONE"]);
});

Deno.test("a device that was signed after it had sent a key is read when it sends the key again", async () => {
  const scene = await Unlisted.open();
  await scene.sendKey({ ...scene.phone.deviceKeys });
  const event = await scene.say();
  assertEquals(scene.bot.outcome(event), "UNTRUSTED");
  await scene.sendKey();
  assertEquals(scene.bot.outcome(event), "text: hello");
});

Deno.test("the devices of a user whose former identity is shown again are in violation, listed or not, until it is accepted", async () => {
  const scene = await Unlisted.open();
  const { server, bot, alice, phone } = scene;
  const { master, selfSigning, userSigning } = alice;
  for (const keys of [{}, { master, selfSigning, userSigning }]) {
    Object.assign(alice.crossSign(), keys);
    server.show(phone.own, "hidden");
    await bot.sync();
  }
  await scene.sendKey();
  const event = await scene.say();
  assertEquals(bot.outcome(event), "UNTRUSTED");
  const decryption = await bot.engine.decrypt(event);
  assert("reason" in decryption && decryption.reason.includes("verification-violation"));
  await bot.engine.steps.acknowledgeIdentity({ userId: ALICE, master: alice.master?.publicKey ?? "" });
  assertEquals((await encryptionOf(bot, event)).senderTrust, "unverified-identity");
});

Deno.test("what the application has said of a device that is gone goes before its user's signature", async () => {
  const scene = await Unlisted.open({ isStranger: true });
  const { server, bot, phone } = scene;
  server.show(phone.own, phone.deviceKeys);
  await scene.meet();
  await bot.engine.steps.setDeviceTrust({ ...phone.own, trust: "blacklisted" });
  server.show(phone.own, "hidden");
  await bot.sync();
  assertEquals(await scene.reads(), "UNTRUSTED");
});

Deno.test("a device that the server lists later, with the same keys, is trusted as what it is listed as", async () => {
  const scene = await Unlisted.open();
  const { server, bot, phone } = scene;
  assertEquals(await scene.reads(), "text: hello");
  server.show(phone.own, phone.deviceKeys); // which its user has signed there, too
  await bot.sync();
  assertEquals((await encryptionOf(bot, await scene.say())).senderTrust, "unverified-identity");
  server.show(phone.own, new FakeUser(ALICE).deviceKeys(fakeDevice("PHONE")) as never);
  await bot.sync();
  assertEquals(
    (await encryptionOf(bot, await scene.say())).senderTrust,
    "unverified-identity",
    "the first keys stay",
  );
});
