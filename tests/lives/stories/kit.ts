import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { BOTH, type Story } from "../story.ts";
import { TRANSPORTS } from "../transports/transport.ts";
import { WrongClock } from "../wrong_clock.ts";

const DAY = 24 * 3_600_000;

/** A copy of what a store has now. */
async function copyOf(store: MemoryStore): Promise<MemoryStore> {
  const copy = new MemoryStore();
  for await (const { key, value } of store.list([])) await copy.commit([{ type: "set", key, value }]);
  return copy;
}

/** What only a bot of the kit has: conversations and reminders. */
export const kit: readonly Story[] = [
  {
    name: "A conversation goes on over redeployments, and what was answered meanwhile counts",
    rooms: BOTH,
    kinds: ["kit"],
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk: { room } } = await world.conversation();
      for (const ends of ["stop", "kill"] as const) {
        const before = alice.of(room, bot.userId).length;
        await alice.client.sendText(room, "!order");
        await alice.reads(room, bot.userId, before + 1);
        await bot[ends]();
        await bot.start();
        await bot.isBack();
        await alice.client.sendText(room, "tea");
        await alice.reads(room, bot.userId, before + 2);
        await bot[ends]();
        await alice.client.sendText(room, "2");
        await bot.start();
        await bot.isBack();
        await alice.reads(room, bot.userId, before + 3);
        assertEquals(alice.of(room, bot.userId).slice(before), ["What?", "How many?", "2 × tea"]);
      }
      assertEquals(bot.handled.filter((what) => what !== "invited"), [], "answers are no messages");
    },
  },
  {
    name: "A bot that is thrown out in the middle of a conversation, and invited again, begins anew",
    rooms: BOTH,
    kinds: ["kit"],
    transports: TRANSPORTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      const { room } = talk;
      for (const isThere of [true, false]) {
        const before = alice.of(room, bot.userId).length;
        await alice.client.sendText(room, "!order");
        await alice.reads(room, bot.userId, before + 1);
        if (!isThere) await bot.stop();
        await alice.client.kickUser(room, bot.userId);
        await alice.sees(room, bot.userId, "leave");
        await alice.client.sendText(room, "tea");
        await alice.client.inviteUser(room, bot.userId);
        if (!isThere) {
          await bot.start();
          await bot.isBack();
        }
        await talk.joined();
        await alice.client.sendText(room, "hello");
        await alice.reads(room, bot.userId, before + 2);
        await alice.client.sendText(room, "!order");
        await alice.reads(room, bot.userId, before + 3);
        await alice.client.sendText(room, "coffee");
        await alice.client.sendText(room, "1");
        await alice.reads(room, bot.userId, before + 5);
        const number = isThere ? 1 : 2;
        assertEquals(
          alice.of(room, bot.userId).slice(before),
          ["What?", `${number}: hello`, "What?", "How many?", "1 × coffee"],
        );
        // One that is ended may be cut off before the wait is stored; then it puts the question again,
        // in a room that it is not in.
        assertEquals(bot.told.filter((type) => isThere || type !== "HANDLER_ERROR"), []);
      }
    },
  },
  {
    name: "A bot that is ended while it puts a question, thrown out and invited again, begins anew",
    rooms: BOTH,
    kinds: ["kit"],
    transports: TRANSPORTS,
    async tell(world) {
      let isAsking = false;
      let ended: Promise<void> | undefined;
      const { alice, bot, talk } = await world.conversation({
        fetch: async (input, init) => {
          const request = new Request(input, init);
          const response = await world.host.fetch(request);
          if (isAsking && request.url.includes("/send/m.room.")) ended ??= bot.stop();
          return response;
        },
      });
      const { room } = talk;
      isAsking = true;
      await alice.client.sendText(room, "!order");
      await alice.reads(room, bot.userId, "What?");
      isAsking = false;
      await ended;
      await alice.client.kickUser(room, bot.userId);
      await alice.sees(room, bot.userId, "leave"); // behind workers this can take longer than all of the rest
      await alice.client.inviteUser(room, bot.userId);
      await bot.start();
      await bot.isBack();
      await talk.joined();
      await alice.client.sendText(room, "hello");
      await alice.reads(room, bot.userId, "1: hello");
      assertEquals(alice.of(room, bot.userId), ["What?", "1: hello"]);
    },
  },
  {
    name: "A bot that is offline for a day reminds of what was due then, once, and says that it is late",
    rooms: BOTH,
    kinds: ["kit"],
    transports: ["polling", "sliding", "wake"], // an application service has its host's clock
    async tell(world) {
      const [alice, bot] = [await world.person("alice"), await world.bot()];
      const clock = new WrongClock();
      bot.options = { clock };
      await bot.start();
      const { room } = await world.talk(alice, bot);
      for (const [count, text] of [`${DAY / 2} tea`, `${DAY * 2} coffee`].entries()) {
        await alice.client.sendText(room, `!remind ${text}`);
        await alice.reads(room, bot.userId, count + 1);
      }
      await bot.stop();
      clock.offset = DAY;
      await bot.start();
      await alice.reads(room, bot.userId, 3);
      await bot.kill();
      await bot.start();
      await bot.stop();
      // The command may have been cut off by the first stop: then its two days began after that.
      clock.offset = DAY * 4;
      await bot.start();
      await alice.reads(room, bot.userId, 4);
      const [, , tea, coffee] = alice.of(room, bot.userId).map((text) =>
        text.replace(/ \(due .* UTC\)$/, ", late")
      );
      assertEquals([tea, coffee?.replace(", late", "")], ["tea, late", "coffee"]);
      await alice.client.sendText(room, "and now?");
      await alice.reads(room, bot.userId, "1: and now?");
      assertEquals(alice.of(room, bot.userId).length, 5);
    },
  },
  {
    name: "A bot that is started with an older copy of its disk says nothing again that it has said since",
    rooms: ["in clear"],
    kinds: ["kit"],
    async tell(world) {
      const store = new MemoryStore();
      const { alice, bot, talk: { room } } = await world.conversation({ store });
      await alice.client.sendText(room, "!order");
      await alice.reads(room, bot.userId, 1);
      await bot.stop();
      const older = await copyOf(store);
      await bot.start();
      await alice.client.sendText(room, "tea");
      await alice.client.sendText(room, "2");
      await alice.reads(room, bot.userId, "2 × tea");
      await alice.client.sendText(room, "!remind 1 Tea!");
      await alice.reads(room, bot.userId, "Tea!");
      await bot.stop();
      bot.store = older;
      await bot.start();
      await alice.client.sendText(room, "hello");
      await alice.reads(room, bot.userId, "1: hello");
      await alice.client.sendText(room, "!remind 1 Coffee!");
      await alice.reads(room, bot.userId, "Coffee!");
      assertEquals(
        alice.of(room, bot.userId),
        ["What?", "How many?", "2 × tea", "I will", "Tea!", "1: hello", "I will", "Coffee!"],
      );
    },
  },
];
