import { assertEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { defineSession } from "@greenroom/matrix/bot";
import { passTimes, trying } from "../support.ts";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

Deno.test("What is due has the sessions of who asked for it, and none of nobody's", async () => {
  const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      (await c.getSession(points)).points = 7;
      await c.remind({ in: 1_000 }, { name: "tell" });
    });
    bot.reminder("tell", async (c) => void await c.send(`${(await c.getSession(points)).points}`));
    bot.every("* * * * *", async (c) => {
      for (const each of [points, counter]) {
        await c.getSession(each as typeof points).catch(({ message }) => failures.push(message));
      }
    });
  });
  await passTimes(tester, "7");
  assertEquals(failures, [
    'Cannot use the session "points": there is no user here; give the key with it',
    'Cannot use the session "counter": there is no room here; give the key with it',
  ]);
});

Deno.test("A session that a function has ended begins anew when it takes it again", async () => {
  await using tester = trying((bot) =>
    bot.command("reset", async (c) => {
      (await c.getSession(counter)).count += 5;
      await c.endSession(counter);
      const state = await c.getSession(counter);
      await c.reply(`${++state.count}`);
    })
  );
  const room = await tester.room("alice");
  await room.say("!reset");
  await room.expect("1");
  await room.say("!reset");
  await room.expect("1");
});

Deno.test("A function that never ends gives its session back when it is given up, and changes nothing", async () => {
  const points = defineSession({ name: "points", per: "room", initial: () => ({ points: 0 }) });
  await using tester = trying((bot) => {
    bot.command("hang", async (c) => {
      (await c.getSession(points)).points = 100;
      await new Promise(() => {});
    });
    bot.command("more", async (c) => {
      const state = await c.getSession(points);
      await c.reply(`${++state.points}`);
    });
  }, { handlerTimeout: 60_000 });
  const room = await tester.room("alice", "bob");
  await room.say("!hang");
  await tester.pass(30_000);
  await room.as("bob").say("!more");
  await room.expectNothing();
  await tester.pass(30_000);
  await room.expect("1");
});

Deno.test("bot.session() refuses at once to change a session that the same handler has taken", async () => {
  const points = defineSession({ name: "points", per: "room", initial: () => ({ points: 0 }) });
  await using tester = trying((bot) =>
    bot.command("add", async (c) => {
      const other = bot.session(points, "!other:localhost");
      await Promise.all([
        other.update((state) => void state.points++),
        other.update((state) => void state.points++),
      ]);
      const state = await c.getSession(points);
      state.points++;
      const outside = bot.session(points, c.roomId);
      for (const change of [() => outside.update((each) => void each.points++), () => outside.end()]) {
        const error = await change().then(() => undefined, (error) => error);
        await c.reply(error instanceof ValueError ? error.message : "changed");
      }
    })
  );
  const room = await tester.room("alice");
  await room.say("!add");
  for (let each = 0; each < 2; each++) {
    await room.expect(/this handler has taken it; change what c\.getSession\(\) has returned/);
  }
});

Deno.test("Handlers that would wait for each other by bot.session() for ever: one gets an error that names the mend", async () => {
  const [one, two] = ["one", "two"].map((name) =>
    defineSession({ name, per: "room", initial: () => ({ count: 0 }) })
  ) as [typeof counter, typeof counter];
  const both = Promise.withResolvers<void>();
  await using tester = trying((bot) => {
    bot.command("first", async (c) => {
      await c.getSession(one);
      await both.promise;
      await bot.session(two, c.roomId).update((state) => void state.count++);
      await c.reply("first is done");
    });
    bot.command("second", async (c) => {
      await c.getSession(two);
      both.resolve();
      await bot.session(one, c.roomId).update((state) => void state.count++);
      await c.reply("second is done");
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!first");
  await tester.settle();
  await room.as("bob").say("!second");
  await tester.until(() => room.messages.length === 2, "both end");
  const said = room.messages.map(({ text }) => text);
  assertEquals(said.filter((text) => text === "Sorry, that failed.").length, 1, said.join());
  assertEquals(tester.logged.filter((line) => line.includes("take both in the same order")).length, 1);
});

Deno.test("A session that is taken twice before a question is the same then, and taken anew after the answer", async () => {
  await using tester = trying((bot) => {
    bot.command("twice", async (c) => {
      (await c.getSession(counter)).count++;
      const again = await c.getSession(counter);
      await c.ask(`${++again.count}?`);
      (await c.getSession(counter)).count++;
      const last = await c.getSession(counter);
      await c.ask(`${++last.count}?`);
      await c.reply(`${(await c.getSession(counter)).count}`);
    });
    bot.command("more", async (c) => void ((await c.getSession(counter)).count += 10));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!twice");
  await room.expect("2?");
  await room.as("bob").say("!more");
  await room.say("yes");
  await room.expect("14?");
  await room.say("yes");
  await room.expect("14");
});
