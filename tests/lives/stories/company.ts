import { assert, assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import type { Bot } from "../bot.ts";
import type { Person } from "../person.ts";
import { BOTH, type Story } from "../story.ts";
import { OF_ACCOUNTS, TRANSPORTS } from "../transports/transport.ts";

/** Waits until the bot is in a room again. */
async function returns(alice: Person, bot: Bot, room: RoomID): Promise<void> {
  await alice.client.inviteUser(room, bot.userId);
  await alice.sees(room, bot.userId, "join");
}

/** What people do to a bot. */
export const company: readonly Story[] = [
  {
    name:
      "A bot that is invited and kicked again and again obeys each message once, and none from its absence",
    slidesOften: true,
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const [alice, carol, bot] = [
        await world.person("alice"),
        await world.person("carol"),
        await world.bot(),
      ];
      await bot.start();
      const room = await alice.room(world.encrypted, carol.userId);
      await carol.client.joinRoom(room);
      await alice.client.sendText(room, "!leave"); // said before the bot is there
      await returns(alice, bot, room);
      await alice.client.sendText(room, "one");
      await alice.reads(room, bot.userId, "1: one");
      await alice.client.sendText(room, "!leave");
      await alice.sees(room, bot.userId, "leave");
      await alice.client.sendText(room, "!leave");
      await returns(alice, bot, room);
      await alice.client.sendText(room, "two");
      await alice.reads(room, bot.userId, "3: two");
      await alice.client.kickUser(room, bot.userId);
      await alice.sees(room, bot.userId, "leave");
      await alice.client.sendText(room, "sent while the bot is away");
      await returns(alice, bot, room);
      await alice.client.banUser(room, bot.userId);
      await alice.sees(room, bot.userId, "ban");
      await alice.client.unbanUser(room, bot.userId);
      await alice.sees(room, bot.userId, "leave");
      await returns(alice, bot, room);
      await alice.client.sendText(room, "three");
      await alice.reads(room, bot.userId, "4: three");
      const words = bot.handled.filter((what) => !what.startsWith("thrown out") && what !== "invited");
      assertEquals(words, ["one", "!leave", "two", "three"]);
      assertEquals(bot.handled.filter((what) => what === "invited").length, 4);
      assertEquals(bot.handled.filter((what) => what === `thrown out ${bot.userId}`).length, 1);
      assertEquals(bot.told, [], "what it was not there for is no fault");
    },
  },
  {
    name: "A bot that is stopped while it is kicked and invited again does nothing twice",
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      await talk.say(2);
      await talk.answered();
      await bot.stop();
      await alice.client.kickUser(talk.room, bot.userId);
      await alice.sees(talk.room, bot.userId, "leave");
      await talk.sayUnheard(3);
      await alice.client.inviteUser(talk.room, bot.userId);
      await bot.start();
      await talk.joined();
      await talk.say(2);
      await talk.answered();
    },
  },
  {
    name: "A bot shares its account with a person on another device: it answers others, and not itself",
    rooms: BOTH,
    transports: OF_ACCOUNTS,
    async tell(world) {
      const [alice, bot] = [await world.person("alice"), await world.bot()];
      await bot.start();
      const owner = world.client({});
      const { userId: identifier, password } = bot.account;
      await owner.login({ identifier, password });
      const seen: string[] = [];
      owner.on("m.room.message", ({ content }) => void seen.push(String(content.body)));
      owner.start().catch(() => {});
      const talk = await world.talk(alice, bot);
      await talk.say(2);
      await talk.answered();
      await owner.sendText(talk.room, "3: text 3"); // in the bot's name
      talk.said.push("text 3");
      await alice.reads(talk.room, bot.userId, 3);
      await owner.setFullyReadMarker(talk.room, alice.readings.at(-1)?.event ?? "$");
      await alice.client.sendText(talk.room, "who answers?");
      await alice.reads(talk.room, bot.userId, "3: who answers?");
      assertEquals(bot.handled.filter((what) => what === "3: text 3"), []);
      await owner.leaveRoom(talk.room);
      await alice.sees(talk.room, bot.userId, "leave");
      await owner.logout();
      await owner.close();
      const next = await world.talk(alice, bot);
      await next.say(2);
      await next.answered();
      assert(seen.includes("1: text 1"), "the person reads what the bot says");
    },
  },
  {
    name: "A bot whose handler fails says so, and answers what comes next",
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      await talk.say(1);
      await alice.client.sendText(talk.room, "!throw");
      await talk.say(1);
      await alice.reads(talk.room, bot.userId, 2);
      assertEquals(bot.told, ["HANDLER_ERROR"]);
      assert(bot.printed.some((line) => line.includes("handler")));
      await bot.stop();
      await bot.start();
      await talk.say(1);
      await alice.reads(talk.room, bot.userId, 3);
      assertEquals(bot.handled.filter((what) => what === "!throw").length, 1, "it has had its chance");
    },
  },
  {
    name: "A bot moves on into the room that its room is upgraded to",
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      await talk.say(1);
      await talk.answered();
      const next = await alice.client.upgradeRoom(talk.room, "11");
      await returns(alice, bot, next);
      await alice.client.sendText(next, "here?");
      await alice.reads(next, bot.userId, "1: here?");
    },
  },
];
