import { assertEquals, assertInstanceOf } from "@std/assert";
import { MemoryStore, type Store, UnknownTokenError } from "@greenroom/matrix";
import { StoreFullError } from "@greenroom/matrix/errors";
import { BOTH, type Story } from "../story.ts";
import { TRANSPORTS } from "../transports/transport.ts";
import { WrongClock } from "../wrong_clock.ts";
import { causeOf } from "./deployment.ts";

const YEAR = 365 * 24 * 3_600_000;

/** A store whose disk a story can fill. */
function fullable(inner: Store): Store & { isFull: boolean } {
  return {
    isFull: false,
    getMany: (keys) => inner.getMany(keys),
    list: (prefix, options) => inner.list(prefix, options),
    commit(mutations, checks) {
      if (this.isFull) {
        return Promise.reject(new StoreFullError("Cannot keep anything: the disk is full; make room"));
      }
      return inner.commit(mutations, checks);
    },
    close() {},
  };
}

/** Something that a bot needs is away for a while, or wrong. */
export const absence: readonly Story[] = [
  {
    name: "A bot that is offline for a day handles each message of that day once when it is back",
    slidesOften: true,
    rooms: BOTH,
    transports: TRANSPORTS,
    talkative: true,
    async tell(world) {
      const [alice, carol, bot] = [
        await world.person("alice"),
        await world.person("carol"),
        await world.bot(),
      ];
      await bot.start({ backoff: { base: 100, cap: 1_000 } });
      const [one, other] = [await world.talk(alice, bot), await world.talk(alice, bot)];
      await one.say(1);
      await one.answered();
      await bot.network.settled();
      bot.network.weather = "down";
      await one.say(30);
      await alice.client.inviteUser(one.room, carol.userId);
      await carol.client.joinRoom(one.room);
      await other.say(3);
      await carol.client.leaveRoom(one.room);
      await one.say(5);
      if (world.transport !== "transactions") { // who is sent them need not notice
        await bot.until(
          "the bot is to say that the homeserver can't be reached",
          ({ printed }) => printed.length > 0,
        );
      }
      bot.network.weather = "fair";
      await bot.isBack();
      await one.answered();
      await other.answered();
      await bot.until(
        "carol is to be welcomed",
        ({ handled }) => handled.includes(`welcome ${carol.userId}`),
      );
      assertEquals(bot.handled.filter((what) => what.startsWith("welcome")), [`welcome ${carol.userId}`]);
    },
  },
  {
    name: "A bot outlives a restart of its homeserver, with a proxy in front that says so",
    rooms: BOTH,
    transports: TRANSPORTS,
    restarts: true,
    async tell(world) {
      const [alice, bot] = [await world.person("alice"), await world.bot()];
      await bot.start({ backoff: { base: 100, cap: 1_000 } });
      const talk = await world.talk(alice, bot);
      await talk.say(3);
      await talk.answered();
      await bot.network.settled();
      bot.network.weather = "bad gateway";
      await world.host.restart();
      await talk.say(3);
      if (world.transport !== "transactions") { // who is sent them need not notice
        await bot.until("the bot is to say that a sync failed", ({ printed }) => printed.length > 0);
      }
      bot.network.weather = "fair";
      await bot.isBack();
      await talk.say(1);
      await talk.answered();
    },
  },
  {
    name: "A bot whose clock goes a year wrong, and is set right, answers all the time",
    rooms: BOTH,
    transports: TRANSPORTS,
    talkative: true,
    async tell(world) {
      const [alice, bot] = [await world.person("alice"), await world.bot()];
      const clock = new WrongClock();
      bot.options = { clock };
      await bot.start();
      const talk = await world.talk(alice, bot);
      for (const wrong of [0, YEAR, -YEAR, 0]) {
        clock.offset = wrong;
        await talk.say(2);
        await talk.answered();
        await bot.stop();
        await talk.say(1);
        await bot.start();
      }
      const carol = await world.person("carol"); // whose devices were not queried yet
      await alice.client.inviteUser(talk.room, carol.userId);
      await carol.client.joinRoom(talk.room);
      await alice.sees(talk.room, carol.userId, "join");
      await talk.say(2);
      await talk.answered();
      await carol.reads(talk.room, bot.userId, alice.of(talk.room, bot.userId).at(-1) ?? 1);
    },
  },
  {
    name:
      "A bot whose disk is full says so, ends where a process stays, and goes on where it was when there is room",
    rooms: BOTH,
    transports: TRANSPORTS,
    async tell(world) {
      const store = fullable(new MemoryStore());
      const { bot, talk } = await world.conversation({ store });
      await talk.say(2);
      await talk.answered();
      store.isFull = true;
      await talk.say(3);
      if (world.transport === "wake") { // each pass fails for itself
        await bot.until(
          "the bot is to say so",
          ({ printed }) => printed.some((line) => line.includes("the disk is full")),
        );
      } else assertInstanceOf(causeOf(await bot.ended()), StoreFullError);
      await bot.stop();
      store.isFull = false;
      await talk.say(1);
      await bot.start();
      await talk.answered();
    },
  },
  {
    name: "A bot whose token is revoked ends and says so, and answers what was said since with a new login",
    rooms: ["in clear"],
    async tell(world) {
      const { bot, talk } = await world.conversation();
      await talk.say(2);
      await talk.answered();
      const elsewhere = world.client({ accessToken: bot.token, encryption: false });
      await elsewhere.logout();
      await elsewhere.close();
      assertInstanceOf(causeOf(await bot.ended()), UnknownTokenError);
      await bot.stop();
      await talk.say(2);
      const login = world.client({ encryption: false });
      const { userId: identifier, password, deviceId } = bot.account;
      bot.token = (await login.login({ identifier, password, deviceId })).access_token;
      await login.close();
      await bot.start();
      await talk.answered();
    },
  },
];
