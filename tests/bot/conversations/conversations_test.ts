import { assertEquals } from "@std/assert";
import { type Bot, ConversationEndedError, defineSession } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

Deno.test("A question that nobody answers in time ends the conversation, and the function may say so", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      try {
        await c.ask("Well?", { timeout: 60_000 });
      } catch (error) {
        if (!(error instanceof ConversationEndedError)) throw error;
        await c.send(`ended: ${error.reason}`);
      }
    })
  );
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("Well?");
  await tester.pass(59_000);
  await room.expectNothing();
  await tester.restart();
  await tester.pass(1_000);
  await room.expect("ended: timeout");
  await room.say("late");
  await room.expectNothing();
});

Deno.test("A command that is begun anew takes the place of the conversation that it began before", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      const answer = await c.ask("Well?").catch((error) => error);
      await c.send(answer instanceof ConversationEndedError ? answer.reason : `thanks, ${answer}`);
    })
  );
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("Well?");
  await room.say("!ask");
  await room.expect("Well?");
  await room.expect("replaced");
  await room.say("one");
  await room.expect("thanks, one");
  await room.say("two");
  await room.expectNothing();
});

for (const how of ["is thrown out", "leaves"]) {
  Deno.test(`A conversation ends when the bot ${how}, and nothing of it is left when it comes again`, async () => {
    const ends: unknown[] = [];
    let made: Bot | undefined;
    await using tester = trying((bot) => {
      made = bot;
      bot.command("ask", (c) => c.ask("Well?").catch((error) => ends.push(error.reason)));
    });
    const room = await tester.room("alice");
    const path = `/rooms/${encodeURIComponent(room.id)}`;
    await room.say("!ask");
    await room.expect("Well?");
    const user_id = tester.mxid;
    if (how === "leaves") await made?.client.leaveRoom(room.id);
    else await tester.request("alice", "POST", `${path}/kick`, { user_id });
    await tester.settle();
    assertEquals(ends, ["left"]);
    await tester.request("alice", "POST", `${path}/invite`, { user_id });
    await tester.until(() => room.view().membership(tester.mxid) === "join", "not joined");
    await tester.settle();
    await room.say("hello");
    await room.expectNothing();
  });
}

Deno.test("A conversation stays in its thread, and threads of one user do not disturb each other", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      const answer = await c.ask("Well?");
      await answer.reply(`thanks, ${answer}`);
    })
  );
  const room = await tester.room("alice");
  const [first, second] = [await room.say("first thread"), await room.say("second thread")];
  await room.say("!ask", { thread: first });
  assertEquals((await room.expect("Well?")).thread, first);
  await room.say("!ask", { thread: second });
  await room.expect("Well?");
  await room.say("outside");
  await room.expectNothing();
  await room.say("one", { thread: first });
  assertEquals((await room.expect("thanks, one")).thread, first);
  await room.say("two", { thread: second });
  assertEquals((await room.expect("thanks, two")).thread, second);
});

Deno.test("Of two answers at once to one question the first counts, the second is a message like any other", async () => {
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => {
      const first = await c.ask("Who?", { from: "anyone" });
      await c.send(`first: ${first}`);
      const second = await c.ask("And who?", { from: "anyone" });
      await c.send(`second: ${second}`);
    });
    bot.on("message:text", (c) => c.send(`other: ${c}`));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!ask");
  await room.expect("Who?");
  await Promise.all([room.say("alice"), room.as("bob").say("bob")]);
  await tester.settle();
  const said = room.messages.map(({ text }) => text).slice(1).toSorted();
  assertEquals(said, ["And who?", "first: alice", "other: bob"]);
});

Deno.test("menu() takes a reaction to its question, or the reaction as text; others go on", async () => {
  await using tester = trying((bot) => {
    bot.command("pick", async (c) => {
      const colour = await c.menu("Which?", { "🔴": "red", "🔵": "blue" });
      await c.reply(`You like ${colour}`);
    });
    bot.on("message:text", (c) => c.send(`other: ${c}`));
  });
  const room = await tester.room("alice", "bob");
  for (const answer of ["reaction", "text"]) {
    await room.say("!pick");
    const { eventId } = await room.expect(/^Which\?/);
    await room.expectReaction("🔴");
    await room.expectReaction("🔵");
    await room.as("bob").react(eventId, "🔴");
    await room.react(eventId, "💚");
    await room.say("green");
    await room.expect("other: green");
    if (answer === "text") await room.say(" 🔵️ ");
    else await room.react(eventId, "🔵");
    await room.expect("You like blue");
  }
});

Deno.test("A conversation whose function goes another way after an answer ends with an error that says so", async () => {
  let times = 0;
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      if (++times > 1) await c.step(() => 1);
      await c.ask("Well?");
    })
  );
  const room = await tester.room("alice");
  await room.say("!ask");
  await room.expect("Well?");
  await room.say("so");
  await room.expect("Sorry, that failed.");
  assertEquals(
    tester.logged.filter((line) => line.includes('step 1 was "send", and is "once" now')).length,
    1,
  );
  await room.say("so");
  await room.expectNothing();
});

Deno.test("Conversations of one user in many threads wait at once, and each takes its own answer", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      const answer = await c.ask("Well?");
      await c.send(`thanks, ${answer}`);
    }), { rateLimit: false });
  const room = await tester.room("alice");
  const threads: string[] = [];
  for (let index = 0; index < 100; index++) threads.push(await room.say(`thread ${index}`));
  for (const thread of threads.slice(0, 10)) await room.say("!ask", { thread: thread as `$${string}` });
  await tester.until(() => room.messages.length === 10, "it asks ten times");
  for (const [index, thread] of threads.slice(0, 10).entries()) {
    await room.say(`${index}`, { thread: thread as `$${string}` });
  }
  await tester.until(() => room.messages.length === 20, "it thanks ten times");
  const thanks = room.messages.slice(10).map(({ text, thread }) =>
    `${text} ${threads.indexOf(thread ?? "")}`
  );
  assertEquals(thanks, Array.from({ length: 10 }, (_, index) => `thanks, ${index} ${index}`));
});

const points = defineSession({ name: "points", per: "room", initial: () => ({ points: 0 }) });

Deno.test("Handlers of several users that take one session do so one after the other, and lose no change", async () => {
  await using tester = trying((bot) =>
    bot.command("score", async (c) => {
      const mine = await c.getSession(points);
      const { points: before } = mine;
      await c.react("👀");
      mine.points = before + 1;
      await c.send(`${mine.points}`);
    })
  );
  const room = await tester.room("alice", "bob");
  for (let index = 0; index < 5; index++) {
    await room.say("!score");
    await room.as("bob").say("!score");
  }
  for (let index = 1; index <= 10; index++) await room.expect(`${index}`);
  await tester.restart();
  await room.say("!score");
  await room.expect("11");
});

Deno.test("Two handlers that would wait for each other's sessions for ever: one gets an error that names the mend", async () => {
  const both = Promise.withResolvers<void>();
  const taken: string[] = [];
  const other = defineSession({ name: "other", per: "room", initial: () => ({ points: 0 }) });
  await using tester = trying((bot) => {
    bot.command("one", async (c) => {
      await c.getSession(points);
      taken.push("points");
      await both.promise;
      await c.getSession(other);
      await c.send("one is done");
    });
    bot.command("two", async (c) => {
      await c.getSession(other);
      both.resolve();
      await c.getSession(points);
      await c.send("two is done");
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!one");
  await tester.until(() => taken.length > 0, "one takes its first");
  await room.as("bob").say("!two");
  await tester.until(() => room.messages.length === 2, "both end");
  const said = room.messages.map(({ text }) => text).toSorted();
  assertEquals(said[0], "Sorry, that failed.");
  assertEquals(tester.logged.filter((line) => line.includes("take both in the same order")).length, 1);
});

Deno.test("What a function found out once is nothing to the handler of its failure", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", async (c) => {
      throw new Error(await c.step(() => "one"));
    });
    bot.catch(async (error, c) => c.send(`${(error as Error).message}, then ${await c.step(() => "two")}`));
  }, { saysFailures: false });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expect("one, then two");
});

Deno.test("A conversation that is begun anew, or left, gets no answer before it is told so", async () => {
  const ends: string[] = [];
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => {
      const answer = await c.ask("Well?").catch((error) => ends.push(error.reason));
      if (typeof answer !== "number") await c.send(`thanks, ${answer}`);
    });
    bot.on("message:text", (c) => c.send(`heard ${c}`));
  });
  const room = await tester.room("alice");
  await tester.stop();
  for (const text of ["!ask", "!ask", "one", "two"]) await room.say(text); // all in one response
  await tester.start();
  await room.expect("Well?");
  await room.expect("Well?");
  await room.expect("thanks, one");
  await room.expect("heard two");
  await room.expectNothing();
  assertEquals(ends, ["replaced"]);
});

Deno.test("ask() with the filter reaction takes a reaction to its question, and none to another event", async () => {
  await using tester = trying((bot) =>
    bot.command("ask", async (c) => {
      const { event } = await c.ask("How was it?", { filter: "reaction" });
      await c.send(`thanks for ${event.content["m.relates_to"].key}`);
    })
  );
  const room = await tester.room("alice");
  const command = await room.say("!ask");
  const { eventId } = await room.expect("How was it?");
  await room.react(command, "👎");
  await room.expectNothing();
  await room.react(eventId, "👍");
  await room.expect("thanks for 👍");
});
