import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { Bot, BotStoreEntry } from "@greenroom/matrix/bot";
import { atEachCrashInRoom, countTwice } from "../conversations/crashing_room.ts";
import { living } from "../conversations/living.ts";
import { trying } from "../support.ts";

/** What a bot lists. */
async function listed(bot: Bot, prefix?: string | readonly (string | number)[]): Promise<unknown[]> {
  const entries: BotStoreEntry<unknown>[] = [];
  for await (const entry of bot.store.list(prefix)) entries.push(entry);
  return entries.map(({ key, value }) => [...key, value]);
}

Deno.test("bot.store keeps values by their keys, outside of functions and through restarts", async () => {
  let bot: Bot | undefined;
  await using tester = trying((each) => void (bot = each));
  await tester.room("alice");
  const values = [["a", 1], ["ab", 2], [["a", "b"], { deep: [3] }], [["a", 12, "x"], "four"], [
    ["a", "b,c"],
    5,
  ]] as const;
  for (const [key, value] of values) await bot?.store.set(key, value);
  await tester.restart();
  const own = bot as Bot | undefined;
  if (own === undefined) throw new TypeError("there is no bot");
  for (const [key, value] of values) assertEquals(await own.store.get(key), value);
  assertEquals(await listed(own, "a"), [["a", "b", { deep: [3] }], ["a", "b,c", 5], ["a", 12, "x", "four"]]);
  assertEquals(await listed(own, ["a", "b"]), []);
  assertEquals(await listed(own, ["a", 12]), [["a", 12, "x", "four"]]);
  assertEquals((await listed(own)).length, 5);
  await own.store.delete(["a", "b"]);
  await own.store.set("ab", undefined);
  assertEquals([await own.store.get(["a", "b"]), await own.store.get("ab"), await own.store.get("none")], [
    ...[undefined, undefined, undefined],
  ]);
  assertEquals((await listed(own)).length, 3);
});

Deno.test("bot.store keeps a value as it was when it was set, and refuses what is no plain data", async () => {
  const bots: Bot[] = [];
  const kept: unknown[] = [];
  const set = async ({ store }: Bot, key: string) => {
    const value = { count: 1 };
    const isSet = store.set(key, value);
    value.count = 2;
    await isSet;
    const { message } = await assertRejects(() => store.set(key, () => value), ValueError);
    kept.push(await store.get(key), message);
  };
  await using tester = trying((bot) => {
    bots.push(bot);
    bot.command("set", () => set(bot, "inside"));
  });
  const room = await tester.room("alice");
  await room.say("!set");
  await tester.settle();
  for (const bot of bots) await set(bot, "outside");
  const refusal = "Cannot set a value of bot.store: it is no plain data; leave out functions and the like";
  assertEquals(kept, [{ count: 1 }, refusal, { count: 1 }, refusal]);
});

Deno.test("After an answer, what a function has set before its question leaves alone what others have set since", async () => {
  let bot: Bot | undefined;
  await using tester = trying((each) => {
    bot = each;
    each.command("ask", async (c) => {
      await each.store.set("turn", "asked");
      await c.ask("Well?");
      await c.reply("So it is");
    });
  });
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("Well?");
  await tester.settle();
  await bot?.store.set("turn", "changed");
  await room.say("yes");
  await room.expect("So it is");
  await tester.settle();
  assertEquals(await bot?.store.get("turn"), "changed");
});

Deno.test("What is no key is refused", async () => {
  let bot: Bot | undefined;
  await using tester = trying((each) => void (bot = each));
  await tester.room("alice");
  for (const key of [[], [NaN], [undefined], 7, "x".repeat(300)] as unknown as string[]) {
    await assertRejects(
      async () => await bot?.store.set(key, 1),
      ValueError,
      "Cannot use a key of bot.store",
    );
  }
});

Deno.test("A function sees what it has changed, and has a key for itself: no count of two users is lost", async () => {
  await using tester = trying((bot) => {
    bot.command("count", async (c) => {
      const count = await bot.store.get<number>("count") ?? 0;
      await c.typing(); // takes a while
      void bot.store.set("count", count + 1); // awaited or not
    });
    bot.command("list", async (c) => {
      await bot.store.set(["n", 1], "one");
      await bot.store.set(["n", 2], "two");
      await bot.store.delete(["n", 1]);
      await c.reply(`${await bot.store.get("count")} ${JSON.stringify(await listed(bot, "n"))}`, {
        format: "plain",
      });
    });
  });
  const room = await tester.room("alice", "bob");
  for (let each = 0; each < 3; each++) {
    await room.say("!count");
    await room.as("bob").say("!count");
  }
  await tester.settle();
  await room.say("!list");
  await room.expect('6 [["n",2,"two"]]');
});

Deno.test("A function that throws changes nothing in bot.store", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", async () => {
      await bot.store.set("count", 100);
      throw new TypeError("no");
    });
    bot.command("count", async (c) => c.reply(`${await bot.store.get("count")}`));
  });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  await room.say("!count");
  await room.expect("undefined");
});

Deno.test("bot.store counts each event once, through answers and a crash at any moment", async () => {
  await atEachCrashInRoom({
    isEncrypted: false,
    setUp(client) {
      const bot = living(client);
      const more = async () => {
        const count = (await bot.store.get<number>("count") ?? 0) + 1;
        await bot.store.set("count", count);
        return count;
      };
      bot.command("count", async (c) => {
        await c.ask(`${await more()}, and then?`);
        await c.reply(`${await more()}`);
      });
      bot.start({ signals: false });
    },
  }, async (stage) => {
    await countTwice(stage);
    const { bot } = stage;
    const left = (await bot.records("session")).filter(({ key }) => key.at(-2) === "bot.store");
    assertEquals(left.map(({ value }) => value), [{ value: 2 }], bot.crashes.join());
  });
});
