import { assertInstanceOf, assertStringIncludes } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { ActorError, DeviceConflictError, StoreInUseError } from "@greenroom/matrix/errors";
import { BOTH, type Story } from "../story.ts";
import { OF_ACCOUNTS, TRANSPORTS } from "../transports/transport.ts";

/** What an error that ended a client was caused by. */
export function causeOf(error: unknown): unknown {
  return error instanceof ActorError ? error.cause : error;
}

/** A bot is deployed, again and again, and not always as it should be. */
export const deployment: readonly Story[] = [
  {
    name: "A bot that is redeployed again and again, stopped or killed, answers each message once",
    slidesOften: true,
    rooms: BOTH,
    transports: TRANSPORTS,
    talkative: true,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      for (
        const [deployments, ends] of (["stop", "kill", "stop", "kill", "stop", "kill"] as const).entries()
      ) {
        await talk.say(2);
        if (deployments % 3 === 0) await talk.answered();
        await bot[ends]();
        await talk.say(1);
        await bot.start();
      }
      await talk.say(1);
      await talk.answered();
    },
  },
  {
    name:
      "A bot that is deployed twice by mistake on one store answers once, and goes on when the first is gone",
    rooms: BOTH,
    async tell(world) {
      const lease = { duration: 5_000 }; // a busy machine may not renew a short one in time
      const { bot, talk } = await world.conversation({ client: { lease } });
      await talk.say(3);
      const { account, store } = bot;
      const impatient = await world.bot({
        account,
        store,
        client: { lease: { held: "refuse", duration: 1_000 } },
      });
      await impatient.start();
      assertInstanceOf(causeOf(await impatient.ended()), StoreInUseError);
      const second = await world.bot({ account, store });
      const waiting = second.start();
      await second.until("the second is to say that it waits", ({ printed }) => printed.length > 0);
      await talk.answered();
      await bot.kill();
      await waiting;
      await talk.say(3);
      await talk.answered();
    },
  },
  {
    name: "A bot that is deployed twice with a store each: what both send is shown once",
    rooms: ["in clear"],
    transports: OF_ACCOUNTS,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      const second = await world.bot({ account: bot.account, store: new MemoryStore() });
      await second.start({ ignoreInitialSync: true });
      await talk.say(5);
      await talk.answered();
      await second.until("the second is to hear all", ({ handled }) => handled.includes("text 5"));
      await second.stop();
      talk.check();
    },
  },
  {
    name:
      "A bot that is started without its volume is refused, and with its volume goes on as if nothing had been",
    rooms: ["encrypted"],
    transports: OF_ACCOUNTS,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      await talk.say(2);
      await talk.answered();
      const bare = await world.bot({ account: bot.account, store: new MemoryStore() });
      await bare.start();
      const conflict = causeOf(await bare.ended());
      assertInstanceOf(conflict, DeviceConflictError);
      assertStringIncludes(conflict.message, "store");
      await bare.stop();
      await talk.say(2); // the one with its store is still there, and has not noticed
      await talk.answered();
      await bot.stop();
      await talk.say(1);
      await bot.start();
      await talk.say(1);
      await talk.answered();
    },
  },
  {
    name: "A bot that has lost its volume logs in again, and decrypts messages from then on",
    rooms: ["encrypted"],
    transports: OF_ACCOUNTS,
    async tell(world) {
      const { alice, bot, talk } = await world.conversation();
      await talk.say(2);
      await talk.answered();
      await bot.stop();
      const { account } = bot;
      const login = world.client({ encryption: false });
      const { access_token, device_id } = await login.login({
        identifier: account.userId,
        password: account.password,
      });
      await login.close();
      const reborn = await world.bot({
        account: { ...account, accessToken: access_token, deviceId: device_id },
        store: new MemoryStore(),
      });
      await reborn.start({ ignoreInitialSync: true });
      const after = await world.talk(alice, reborn);
      await after.say(3);
      await after.answered();
    },
  },
  {
    name: "A bot that Deno.cron wakes handles what was said between two wakes, however much that was",
    rooms: BOTH,
    talkative: true,
    async tell(world) {
      const { bot, talk } = await world.conversation();
      // Behind workers, a pass may be shown less than was said: the next is shown it.
      for (const count of [3, 40, 0]) {
        await bot.stop();
        await talk.say(count);
        await bot.wake().syncOnce();
      }
      await talk.answered();
    },
  },
];
