import { assertEquals } from "@std/assert";
import { BOTH, type Story } from "../story.ts";
import { TRANSPORTS } from "../transports/transport.ts";

/** What a bot and people say to each other, whatever happens meanwhile. */
export const conversation: readonly Story[] = [
  {
    name: "A bot answers what several people say, at once and in two rooms, in the order of each room",
    rooms: BOTH,
    transports: TRANSPORTS,
    talkative: true,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      const carol = await world.person("carol");
      const other = await world.talk(carol, bot);
      await Promise.all([talk.say(25), other.say(25)]);
      await talk.answered();
      await other.answered();
      for (const { room, person, said } of [talk, other]) {
        if (world.keepsBack) break; // what is kept back comes after what was said later
        const expected = said.map((text, index) => `${index + 1}: ${text}`);
        assertEquals(person.of(room, bot.userId), expected);
      }
      assertEquals(alice.of(talk.room, bot.userId).length, 25);
      assertEquals(bot.told, []);
    },
  },
  {
    name: "A bot that is killed while it works answers each message once, and counts without a gap",
    slidesOften: true,
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      for (let kill = 1; kill <= 2; kill++) {
        const asked = talk.say(4);
        await bot.until("it is at work", ({ handled }) => handled.includes(`text ${talk.said.length}`));
        await bot.kill();
        await asked;
        await bot.start();
        await bot.isBack();
      }
      await talk.answered();
    },
  },
  {
    name: "Two processes of a bot on one store answer once, and one goes on when the other is killed",
    slidesOften: true,
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      await talk.say(3);
      const second = await world.bot({ account: bot.account, store: bot.store });
      const starting = second.start(); // where it polls, it waits for the device
      await talk.say(6);
      await talk.answered();
      await bot.kill();
      await starting;
      await second.isBack();
      await talk.say(3);
      await talk.answered();
    },
  },
  {
    name: "A message whose key comes late is answered then, and what came after it did not wait",
    rooms: ["encrypted"],
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      await talk.say(1);
      await talk.answered();
      const withheld = await world.late("carol");
      const { person: carol, deliver } = withheld;
      await alice.client.inviteUser(talk.room, carol.userId);
      await carol.client.joinRoom(talk.room);
      await alice.sees(talk.room, carol.userId, "join");
      await carol.client.sendText(talk.room, "from Carol");
      await bot.until("the bot is to see it", ({ told }) => told.includes("UNDECRYPTABLE"));
      await alice.client.sendText(talk.room, "from Alice");
      await alice.reads(talk.room, bot.userId, "2: from Alice");
      await deliver();
      await alice.reads(talk.room, bot.userId, "3: from Carol");
    },
  },
];
