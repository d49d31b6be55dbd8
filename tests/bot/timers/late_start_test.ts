import { assertEquals } from "@std/assert";
import { MemoryStore, type Store } from "@greenroom/matrix";
import { Bot, ConversationEndedError } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const HOUR = 3_600_000;

/** A store that a process can read only when it is opened, as one whose device another process has. */
class LateStore {
  readonly inner = new MemoryStore();
  opened = Promise.withResolvers<void>();

  get store(): Store {
    const { inner } = this;
    const open = () => this.opened.promise;
    return {
      getMany: async (keys) => {
        await open();
        return await inner.getMany(keys);
      },
      list: async function* (prefix, options) {
        await open();
        yield* inner.list(prefix, options);
      },
      commit: async (mutations, checks) => {
        await open();
        return await inner.commit(mutations, checks);
      },
      close: () => {},
    };
  }
}

for (
  const [also, isAway, wait] of [
    ["if another process has the device first", false, 20],
    ["if that has it for longer, and the homeserver was away before", true, 80],
  ] as const
) {
  Deno.test(`What was answered in time is heard before the time is over, also ${also}`, async () => {
    const disk = new LateStore();
    let failing = false;
    await using tester = new BotTester((given) => {
      const send: typeof fetch = async (input, init) => {
        const { url } = new Request(input, init);
        if (failing && url.endsWith("/whoami")) return new Response(null, { status: 502 });
        return await given.fetch(input, init);
      };
      const bot = new Bot({ ...given, fetch: send, retry: false, store: disk.store });
      bot.command("ask", async (c) => {
        try {
          await c.reply(`You said ${await c.ask("What?", { timeout: 30_000 })}`);
        } catch (error) {
          if (!(error instanceof ConversationEndedError)) throw error;
          await c.send(`Over by ${error.reason}`);
        }
      });
      return bot;
    });
    disk.opened.resolve();
    const room = await tester.room("alice");
    await room.say("!ask");
    await room.expect("What?");
    await tester.stop();
    await room.say("tea");
    await tester.clock.tick(60_000);
    disk.opened = Promise.withResolvers();
    failing = isAway;
    const starting = tester.start();
    for (let second = 0; second < wait; second++) {
      await tester.clock.tick(1_000);
      await tester.settle();
      failing = false;
    }
    disk.opened.resolve();
    await starting;
    await room.expect("You said tea");
    await room.expectNothing();
  });
}

Deno.test("A reminder that is said more than five minutes late says when it was due", async () => {
  for (const [late, isTold] of [[5 * HOUR, true], [301_000, true], [299_000, false]] as const) {
    await using tester = trying((bot) => bot.command("remind", (c) => void c.remind({ in: HOUR }, "Tea!")));
    const room = await tester.room("alice");
    await room.say("!remind");
    await room.expectNothing();
    const due = new Date(tester.clock.now() + HOUR).toISOString().slice(0, 16).replace("T", " ");
    await tester.stop();
    await tester.clock.tick(HOUR + late);
    await tester.start();
    await room.expect(isTold ? `Tea! (due ${due} UTC)` : "Tea!");
  }
});

Deno.test("A pass ends in time, though what is due takes longer", async () => {
  const forever = Promise.withResolvers<void>();
  const bots: Bot[] = [];
  await using tester = trying((bot) => {
    bots.push(bot);
    bot.reminder("long", () => forever.promise);
    bot.command("remind", async (c) => void await c.remind({ in: 60_000 }, { name: "long" }));
  });
  const room = await tester.room("alice");
  await room.say("!remind");
  await tester.settle();
  await bots[0]?.stop();
  await tester.settle();
  await tester.clock.tick(120_000);
  let left: string | undefined = "nothing yet";
  const pass = bots[0]?.syncOnce({ passTimeout: 1_000 }).then((made) => left = made.left);
  for (let second = 0; second < 3; second++) {
    await tester.settle();
    await tester.clock.tick(1_000);
  }
  await tester.settle();
  assertEquals(left, "handlers");
  forever.resolve();
  await pass;
});

Deno.test("A conversation that is begun anew twice has one timer that ends it, so that its end is said once", async () => {
  const gate = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("ask [text...]", async (c) => {
      try {
        await c.ask("What?");
      } catch {
        await gate.promise; // it is still ending when the next one begins
      }
    });
  });
  const ending = async (): Promise<number> => {
    const records = await Array.fromAsync(tester.store.list([]));
    return records.filter(({ key }) => key.at(-2) === "bot.timers" && String(key.at(-1)).includes("1970"))
      .length;
  };
  const room = await tester.room("alice");
  for (const text of ["one", "two", "three"]) {
    await room.say(`!ask ${text}`);
    await room.expect("What?");
    await tester.settle();
  }
  assertEquals(await ending(), 2); // of the first, and of the second
  gate.resolve();
  await tester.settle();
  assertEquals(await ending(), 0);
});
