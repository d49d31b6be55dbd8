/** Bots with a recovery key whose server fails, whose clock is wrong, or whose devices were logged out. */

import { assert, assertEquals, assertFalse, assertInstanceOf } from "@std/assert";
import { type Client, encryptionOf, MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { recordingLogger } from "../actors/kernel/support.ts";
import { faltering, FALTERING_WAYS } from "../support/faltering_fetch.ts";
import { roomWith, talk } from "./support/faulty/talk.ts";
import { Ours } from "./support/ours.ts";
import { newDevice } from "./support/peer/peer_device.ts";
import { newUser, synapseTest } from "./support/synapse.ts";
import { newRecoveryKey } from "../crypto/secrets/recovery_keys.ts";
import { WrongClock } from "../lives/wrong_clock.ts";

const DAY = 86_400_000;

/** What a bot is given. */
function secrets() {
  const recoveryKey = newRecoveryKey();
  return { recoveryKey, dehydratedDevice: true, sendTo: undefined, accept: undefined } as const;
}

/** What the doctor finds wrong. */
async function errors({ crypto }: Ours): Promise<string[]> {
  return (await crypto.doctor()).filter(({ level }) => level === "error").map(({ code }) => code);
}

/** What a device reads of an event that was sent before it was there, and where the key is from. */
async function read(client: Client, roomId: RoomID, text: string): Promise<unknown[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const found: unknown[] = [];
  for (const event of chunk.filter(({ type }) => type === "m.room.encrypted")) {
    const decryption = await client.crypto?.decrypt(event as MessageEvent);
    if (decryption === undefined || !("event" in decryption)) continue;
    if (decryption.event.content.body === text) found.push(encryptionOf(decryption.event)?.keySource);
  }
  return found;
}

for (const way of FALTERING_WAYS) {
  synapseTest(
    `A first start with a recovery key and a dehydrated device, and a talk in a new room, come to their end although each request fails once: ${way}`,
    async (server) => {
      const encryption = secrets();
      const { fetch: wire, failed } = faltering(fetch, way);
      const retry = { base: 20, cap: 20 };
      await using bot = await Ours.start(server, "bot", { encryption, fetch: wire, retry });
      const report = await bot.crypto.ensureVerified();
      assertEquals([report.state, report.backup, report.dehydratedDevice], ["verified", "on", "on"]);
      assert(failed.size > 20, [...failed].join());
      await using friend = await Ours.start(server, "friend", { encryption: secrets() });
      await talk(bot, friend, await roomWith(friend, [bot]), "hello");
      assert(failed.has("POST /_matrix/client/v3/keys/claim"), [...failed].join());
      const user = await newDevice(server, bot.user);
      await using next = await Ours.start(server, "next", { user, encryption });
      assertEquals(await next.crypto.ensureVerified(), report);
      assertEquals(await errors(next), []);
    },
  );
}

for (const ahead of [DAY, -DAY]) {
  synapseTest(
    `A bot whose clock is a day ${
      ahead > 0 ? "ahead" : "behind"
    } from its first start on is verified, talks, and says what is wrong; when it is set right, nothing is lost`,
    async (server) => {
      const encryption = secrets();
      const [clock, store] = [new WrongClock(), new MemoryStore()];
      clock.offset = ahead;
      const log = recordingLogger();
      await using bot = await Ours.start(server, "bot", { encryption, clock, store, log });
      const report = await bot.crypto.ensureVerified();
      assertEquals([report.state, report.backup, report.dehydratedDevice], ["verified", "on", "on"]);
      assertEquals(await errors(bot), []);
      const warned = log.lines.filter(([, message]) => message.startsWith("The clock of this machine"));
      assertEquals(warned.map(([, message]) => /ahead|behind/.exec(message)?.[0]), [
        ahead > 0 ? "ahead" : "behind",
      ]);
      const [finding] = (await bot.crypto.doctor()).filter(({ code }) => code === "clock-wrong");
      assert(finding?.message.includes(ahead > 0 ? "ahead" : "behind"), finding?.message);
      await using friend = await Ours.start(server, "friend", { encryption: secrets() });
      const roomId = await roomWith(bot, [friend]);
      await talk(bot, friend, roomId, "hello");
      clock.offset = 0;
      await talk(bot, friend, roomId, "hello");
      await bot.stop();
      await bot.resume();
      assertEquals(await bot.crypto.ensureVerified(), report);
      await talk(bot, friend, roomId, "hello");
      await bot.crypto.idle();
      const user = await newDevice(server, bot.user);
      await using next = await Ours.start(server, "next", { user, encryption });
      assertEquals(await next.crypto.ensureVerified(), report);
      assertEquals(await errors(next), []);
    },
  );
}

/** How the bot's device comes to its end, and how the next one reads what that one has read. */
const ENDINGS = {
  "password was changed, which logs all devices out": {
    async end(elsewhere: Client, { user }: Ours) {
      const authentication = { password: user.password };
      user.password = crypto.randomUUID();
      await elsewhere.changePassword(user.password, { authentication });
    },
    by: "backup", // the dehydrated device is gone, too
  },
  "device was deleted": {
    end: async (elsewhere: Client, { user, deviceId }: Ours) =>
      await elsewhere.deleteDevice(deviceId, { authentication: { password: user.password } }),
    by: "direct", // to the dehydrated device
  },
};

for (const [name, { end, by }] of Object.entries(ENDINGS)) {
  synapseTest(
    `A bot whose ${name} says that its token is dead, again with its store, and goes on as a new device that reads what it read`,
    async (server) => {
      const encryption = secrets();
      const store = new MemoryStore();
      const user = await newUser(server, "bot");
      await using bot = await Ours.start(server, "bot", { user, encryption, store });
      await using friend = await Ours.start(server, "friend", { encryption: secrets() });
      const roomId = await roomWith(bot, [friend]);
      await talk(bot, friend, roomId, "hello");
      const said = await friend.sendText(roomId, "before");
      await bot.message(({ eventId }) => eventId === said);
      await bot.crypto.idle();
      const { master } = await bot.crypto.ensureVerified();

      const ended = bot.client.done.then(() => undefined, (error: Error) => error);
      await using elsewhere = await Ours.start(server, "elsewhere", {
        user: await newDevice(server, user),
        encryption: false,
      });
      await end(elsewhere.client, bot);
      const why = (await ended)?.cause;
      assertInstanceOf(why, UnknownTokenError);
      assertFalse(why.isSoftLogout);
      assert(why.message.includes("log in again"), why.message);
      await bot.stop();
      await using again = await Ours.launch(server, "bot", { user, encryption, store });
      assertInstanceOf(await again.running, UnknownTokenError);
      await again.stop();

      const young = await newDevice(server, bot.user);
      await using next = await Ours.start(server, "bot", { user: young, encryption, store });
      const report = await next.crypto.ensureVerified();
      assertEquals(report, { state: "verified", master, backup: "on", dehydratedDevice: "on" });
      assertEquals(await read(next.client, roomId, "before"), [by]);
      await talk(next, friend, roomId, "hello");
      assertEquals(await errors(next), []);
      const devices = await next.crypto.getDevices(next.userId);
      assert(devices.every(({ deviceId, trust }) => deviceId !== bot.deviceId && trust === "verified"));
    },
  );
}
