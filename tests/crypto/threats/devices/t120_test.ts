/**
 * Device keys inside of a message that say too much: a device that the server does not list is to pass for
 * one that its user vouches for.
 *
 * What must hold: only a good signature of the self-signing key that the user's identity has now, on the
 * keys of the very device that has sent the message, makes it as good as one that is listed. Whatever is
 * known of a device by that name, with other keys, goes before.
 *
 * The class of mistake: a signature is good, and nobody asks whose it is.
 */

import { assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { credentialsIn } from "../../../../src/crypto/devices/mod.ts";
import type { DeviceKeys, JsonObject } from "@greenroom/matrix/types";
import { RawDevice } from "../../engine/raw_device.ts";
import { ALICE, Unlisted } from "../../engine/unlisted.ts";
import { DeviceStage } from "../../support/device_stage.ts";
import { fakeDevice, FakeUser, signingKey } from "../../support/fake_user.ts";

const vodozemac = await Vodozemac.create();
const MALLORY = "@mallory:example.org";
const mallory = new FakeUser(MALLORY).crossSign();

/** Keys of the device that prove nothing, by what is wrong with them. */
const WORTHLESS: Record<string, (scene: Unlisted) => JsonObject> = {
  "that only the device has signed": ({ phone }) => ({ ...phone.deviceKeys }),
  "signed by a key that is made up": (scene) => scene.signed({ key: signingKey() }),
  "signed by a key that is made up, under the name of the user's": (scene) =>
    scene.signed({ key: signingKey(), keyId: `ed25519:${scene.alice.selfSigning?.publicKey}` }),
  "signed by the identity of another user, in this one's name": (scene) =>
    scene.signed({ key: mallory.selfSigning }),
  "signed by the identity of another user, in that one's name": (scene) =>
    scene.signed({ key: mallory.selfSigning, userId: MALLORY }),
  "signed by the user's identity in another user's name": (scene) => scene.signed({ userId: MALLORY }),
  "signed by the user's master key": (scene) => scene.signed({ key: scene.alice.master }),
  "signed by the user's user-signing key": (scene) => scene.signed({ key: scene.alice.userSigning }),
  "whose good signature is among more than anybody has": (scene) => {
    let keys: JsonObject = { ...scene.phone.deviceKeys };
    for (let count = 0; count < 4; count++) {
      keys = scene.signed({ keys: keys as unknown as DeviceKeys, key: signingKey() });
    }
    return scene.signed({ keys: keys as unknown as DeviceKeys });
  },
};

for (const [what, keysIn] of Object.entries(WORTHLESS)) {
  Deno.test(`T120: keys ${what} do not make a device one that its user vouches for`, async () => {
    for (const accept of ["cross-signed", "cross-signed-or-legacy", "all"] as const) {
      const scene = await Unlisted.open({ policy: { accept } });
      await scene.sendKey(keysIn(scene));
      const decryption = await scene.bot.engine.decrypt(await scene.say());
      const seen = "encryption" in decryption ? decryption.encryption.senderTrust : decryption.code;
      assertEquals(seen, accept === "all" ? "unknown-device" : "UNTRUSTED");
    }
  });
}

Deno.test("T120: the signature on another device's keys proves nothing for this one: its message is dropped", async () => {
  const scene = await Unlisted.open();
  const { server, phone } = scene;
  const other = new RawDevice(server, ALICE, "PHONE");
  const { keys: own } = phone.deviceKeys, { keys: others } = other.deviceKeys;
  const mixed = (keys: JsonObject) =>
    scene.signed({ keys: { ...phone.deviceKeys, keys } as unknown as DeviceKeys });
  const cases = [
    scene.signed({ keys: other.deviceKeys }),
    mixed({ ...own, "curve25519:PHONE": others["curve25519:PHONE"] }),
    mixed({ ...own, "ed25519:PHONE": others["ed25519:PHONE"] }),
    scene.signed({ keys: { ...phone.deviceKeys, user_id: MALLORY } }),
    scene.signed({ keys: { ...phone.deviceKeys, device_id: "TABLET" } }),
    // Good, but the device has not signed what it is.
    (({ signatures, ...keys }) => {
      const { [`ed25519:PHONE`]: _, ...ofOthers } = (signatures as DeviceKeys["signatures"])[ALICE] ?? {};
      return { ...keys, signatures: { [ALICE]: ofOthers } };
    })(scene.signed()),
  ];
  for (const keys of cases) assertEquals(await scene.reads(keys), "MISSING_KEY");
  assertEquals(await scene.reads(), "text: hello");
});

Deno.test("T120: keys that an identity has signed which was replaced prove nothing, nor when it is shown again", async () => {
  for (const isShown of [false, true]) {
    const scene = await Unlisted.open();
    const { server, bot, alice, phone } = scene;
    const old = scene.signed();
    const { master, selfSigning, userSigning } = alice;
    alice.crossSign();
    server.show(phone.own, "hidden");
    await bot.sync();
    if (isShown) Object.assign(alice, { master, selfSigning, userSigning });
    server.show(phone.own, "hidden");
    await bot.sync();
    assertEquals(await scene.reads(old), "UNTRUSTED");
  }
});

Deno.test("T120: keys that a self-signing key has signed which was replaced prove nothing, and what was read by them is not read again", async () => {
  const scene = await Unlisted.open();
  const { server, bot, alice, phone } = scene;
  assertEquals(await scene.reads(), "text: hello");
  alice.selfSigning = signingKey();
  server.show(phone.own, "hidden");
  await bot.sync();
  assertEquals(bot.outcome(await scene.say()), "UNTRUSTED");
});

for (const isGone of [false, true]) {
  Deno.test(`T120: a device that is ${isGone ? "gone, and was " : ""}listed with other keys is not the one that sends, whoever has signed that`, async () => {
    const scene = await Unlisted.open({ isStranger: true });
    const { server, bot, phone, alice } = scene;
    server.show(phone.own, alice.deviceKeys(fakeDevice("PHONE")) as unknown as DeviceKeys);
    await scene.meet();
    if (isGone) {
      server.show(phone.own, "hidden");
      await bot.sync();
    }
    assertEquals(await scene.reads(), isGone ? "UNTRUSTED" : "MISSING_KEY");
  });
}

Deno.test("T120: what a device has shown of itself is void once the server lists its name with other keys", async () => {
  const scene = await Unlisted.open();
  const { server, bot, phone, alice } = scene;
  assertEquals(await scene.reads(), "text: hello");
  server.show(phone.own, alice.deviceKeys(fakeDevice("PHONE")) as unknown as DeviceKeys);
  await bot.sync();
  assertEquals(bot.outcome(await scene.say()), "UNTRUSTED");
});

Deno.test("T120: a dehydrated device must not send, and nothing that came with its key makes it a sender", async () => {
  assertEquals(await (await Unlisted.open({ dehydrated: true })).reads(), "UNTRUSTED");
});

Deno.test("T120: a device that is called like a key shows nothing: its own signature could pass for the key's", () => {
  const alice = new FakeUser(ALICE).crossSign();
  const device = fakeDevice(signingKey().publicKey);
  const keysOf = (which: typeof device) => alice.deviceKeys(which) as unknown as DeviceKeys;
  assertEquals(credentialsIn(vodozemac, keysOf(device)), undefined);
  const phone = { ...device, deviceId: "PHONE" };
  assertEquals(credentialsIn(vodozemac, keysOf(phone)), {
    deviceId: "PHONE",
    ed25519: device.signing.publicKey,
    signedBy: [alice.selfSigning?.publicKey ?? ""],
  });
});

Deno.test("T120: an own identity that was not accepted vouches for no device, and no device is this one by name", async () => {
  const stage = new DeviceStage();
  const me = new FakeUser("@me:example.org").crossSign();
  await stage.learn(me);
  const { curve25519, signing: { publicKey: ed25519 } } = fakeDevice("");
  const signedBy = [me.selfSigning?.publicKey ?? ""];
  const trustOf = (deviceId: string) =>
    stage.run(async (tx) => {
      const { lists } = stage;
      return (await lists.everByIdentityKey(tx, me.userId, curve25519, { deviceId, ed25519, signedBy }))
        ?.trust;
    });
  assertEquals(await trustOf("GONE"), undefined);
  await stage.prove(me.userId);
  assertEquals(await trustOf("GONE"), "verified");
  assertEquals(await trustOf("OWNDEVICE"), undefined);
});

Deno.test("T120: a signature on keys of another name, or with another signing key, says nothing of a device that is known", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  alice.unsigned.add("PHONE");
  await stage.learn(alice);
  const { deviceId, curve25519, signing: { publicKey: ed25519 } } = alice.device("PHONE");
  const good = { deviceId, ed25519, signedBy: [alice.selfSigning?.publicKey ?? ""] };
  const trustWith = (change: Partial<typeof good>) =>
    stage.run(async (tx) =>
      (await stage.lists.everByIdentityKey(tx, ALICE, curve25519, { ...good, ...change }))?.trust
    );
  for (const isGone of [false, true]) {
    if (isGone) alice.replace("PHONE");
    await stage.learn(alice);
    assertEquals(await trustWith({ deviceId: "TABLET" }), "unsigned");
    assertEquals(await trustWith({ ed25519: signingKey().publicKey }), "unsigned");
    assertEquals(await trustWith({}), "cross-signed");
  }
});

Deno.test("T120: of signatures without number four are looked at", () => {
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const keys = alice.deviceKeys(alice.device("PHONE")) as unknown as DeviceKeys;
  const junk = Array.from({ length: 500 }, () => [`ed25519:${signingKey().publicKey}`, "A".repeat(86)]);
  const signatures = { [ALICE]: { ...Object.fromEntries(junk), ...keys.signatures[ALICE] } };
  let looks = 0;
  const counting = { keys: { verify: () => ++looks < 0 } } as unknown as Vodozemac;
  assertEquals(credentialsIn(counting, { ...keys, signatures }), undefined);
  assertEquals(looks, 4);
});
