/**
 * A server makes an identity up for the own user, when it is asked for one for the first time, and
 * own devices that it vouches for: with `sendTo: "cross-signed"` they would get every key of every
 * room, with `accept: "cross-signed"` they would speak as the user, and a dehydrated one among them
 * would get keys whatever the choice.
 *
 * What must hold: of the own user nothing counts but an identity that the application has accepted,
 * by its key.
 *
 * The class of mistake: "trust what was seen first" was extended to somebody whom one can ask. Of
 * others one may have nothing better; of oneself one has, so that a first sight must not be enough.
 */

import { assert, assertEquals } from "@std/assert";
import type { CryptoPolicy } from "../../../../src/crypto/context/context.ts";
import type { UserID } from "@greenroom/matrix/types";
import { Bot, silent } from "../../engine/bot.ts";
import { EngineServer, ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { FakeUser } from "../../support/fake_user.ts";

const ME: UserID = "@me:example.org", EVIL = { userId: ME, deviceId: "EVIL" };

/** The own client, an identity that the server has made up, and a device of it. */
async function impostor(policy: Partial<CryptoPolicy>) {
  const server = new EngineServer();
  const identity = new FakeUser(ME).crossSign();
  identity.unsigned.add("MINE");
  server.identities.set(ME, identity);
  const told: string[] = [];
  const log = { ...silent, warn: (text: string) => void told.push(text) };
  const bot = await Bot.open(server, { userId: ME, deviceId: "MINE", policy, log });
  const evil = new RawDevice(server, ME, "EVIL").publish();
  await bot.sync();
  const session = new RawSession();
  const key = evil.message(bot, "m.room_key", session.roomKey(ROOM));
  const events = [0, 1].map((count) =>
    server.publish(EVIL, session.event(ROOM, "in my name"), `txn${count}`)
  );
  await bot.sync({ toDevice: [key] });
  const acknowledge = () =>
    bot.engine.steps.acknowledgeIdentity({ userId: ME, master: identity.master?.publicKey ?? "" });
  return { server, identity, bot, events, acknowledge, told };
}

/** To which devices the key of the room goes, and to which not. */
async function reached(bot: Bot): Promise<string[]> {
  const { shared, withheld } = await bot.ready();
  return [
    ...shared.map(({ deviceId }) => `key to ${deviceId}`),
    ...withheld.map(({ device, code }) => `${code} to ${device.deviceId}`),
  ];
}

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`T75: with sendTo ${sendTo}, own devices of an identity that was not accepted get no key`, async () => {
    const { server, identity, bot } = await impostor({ sendTo });
    assertEquals(await reached(bot), ["m.unverified to EVIL"]);
    await bot.restart();
    assertEquals(await reached(bot), ["m.unverified to EVIL"], "after a restart");
    identity.crossSign(); // made up again
    server.show(EVIL);
    await bot.sync();
    await bot.restart();
    assertEquals(await reached(bot), ["m.unverified to EVIL"], "with another one");
    server.identities.delete(ME);
    server.show(EVIL);
    await bot.sync();
    server.identities.set(ME, identity);
    server.show(EVIL);
    await bot.sync();
    assertEquals(await reached(bot), ["m.unverified to EVIL"], "when it is there again");
  });
}

Deno.test("T75: own devices count as signed while the account never had an identity, and not once it is hidden again", async () => {
  const { server, bot, identity } = await impostor({ sendTo: "cross-signed", sparesOwn: true });
  assertEquals(await reached(bot), ["m.unverified to EVIL"]);
  server.identities.delete(ME);
  identity.unsigned.add("EVIL");
  server.show(EVIL);
  await bot.sync();
  assertEquals(await reached(bot), ["m.unverified to EVIL"], "hidden");
  await bot.restart();
  assertEquals(await reached(bot), ["m.unverified to EVIL"], "after a restart");

  const other = new EngineServer();
  const spared = await Bot.open(other, {
    userId: ME,
    deviceId: "MINE",
    policy: { sendTo: "cross-signed", sparesOwn: true },
  });
  new RawDevice(other, ME, "PHONE").publish();
  await spared.sync();
  assertEquals(await reached(spared), ["key to PHONE"], "there never was one");
});

Deno.test("T75: a dehydrated own device of an identity that was not accepted gets no key, whatever is chosen", async () => {
  const { server, identity, bot } = await impostor({ sendTo: "all" });
  identity.devices.push(new FakeUser(ME, "DRY").device("DRY"));
  const keys = identity.deviceKeys(identity.device("DRY"), { dehydrated: true });
  server.show({ userId: ME, deviceId: "DRY" }, keys as never); // as the server shows it
  await bot.sync();
  assertEquals(await reached(bot), ["key to EVIL", "m.unverified to DRY"]);
});

for (const accept of ["cross-signed", "cross-signed-or-legacy"] as const) {
  Deno.test(`T75: with accept ${accept}, own devices of an identity that was not accepted do not speak as the user`, async () => {
    const { server, bot, events, acknowledge } = await impostor({ accept });
    const outcomes = () => events.map((event) => bot.outcome(event));
    assertEquals(outcomes(), ["UNTRUSTED", "UNTRUSTED"]);
    server.show(EVIL, "hidden");
    await bot.sync();
    await bot.restart();
    const [first] = events;
    assertEquals(
      first && await bot.engine.decrypt(first).then((result) => "code" in result && result.code),
      "UNTRUSTED",
    );
    // Once it is known to be the user's, it counts, and what came before is handled.
    assertEquals((await acknowledge()).length, 2);
  });
}

Deno.test("T75: an own identity that was accepted vouches for devices, and another one in its place for none", async () => {
  const { server, identity, bot, acknowledge } = await impostor({ sendTo: "cross-signed" });
  assertEquals(await reached(bot), ["m.unverified to EVIL"]);
  await acknowledge();
  assertEquals(await reached(bot), ["key to EVIL"]);
  await bot.restart();
  assertEquals(await reached(bot), ["key to EVIL"]);
  identity.crossSign();
  server.show(EVIL);
  await bot.sync();
  assertEquals(await reached(bot), ["m.unverified to EVIL"]);
});

Deno.test("T75: an identity says whether it counts", async () => {
  const { bot, acknowledge, identity } = await impostor({});
  const master = identity.master?.publicKey ?? "";
  const shown = async () => {
    const { userId, master, pinned, hasChanged } = await bot.engine.steps.identityOf(ME) ?? {};
    return { userId, master, pinned, hasChanged };
  };
  assertEquals(await shown(), { userId: ME, master, pinned: undefined, hasChanged: false });
  await acknowledge();
  assertEquals(await shown(), { userId: ME, master, pinned: master, hasChanged: false });
});

Deno.test("T75: with a choice of trust, untrusted own devices are reported until the own identity is accepted", async () => {
  for (const policy of [{ sendTo: "cross-signed" }, { accept: "cross-signed" }] as const) {
    const { server, bot, acknowledge, told } = await impostor(policy);
    assert(told.length > 0 && told.every((text) => text.includes("acknowledgeIdentity()")), told.join());
    await acknowledge();
    told.length = 0;
    server.show(EVIL, "hidden");
    await bot.sync();
    assertEquals(told, []);
  }
  for (const policy of [{}, { sendTo: "verified" }] as const) assertEquals((await impostor(policy)).told, []);
});
