import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, Composer } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { trying } from "./support.ts";

Deno.test("Queries tell messages, edits, notices, reactions, polls and members apart", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    const queries = [
      "message",
      "message:text",
      "message:notice",
      "message:image",
      "edit",
      "edit:text",
      "reaction",
      "redaction",
      "member:join",
      "member:leave",
      "poll:start",
      "m.room.topic",
    ] as const;
    for (const query of queries) {
      bot.on(query, (c, next) => {
        heard.push(`${query} ${c.text}`.trim());
        return next();
      });
    }
  });
  const room = await tester.room("alice", "bob");
  heard.length = 0; // Bob's own join
  const first = await room.say("one");
  await room.send("m.room.message", {
    msgtype: "m.text",
    body: "* two",
    "m.new_content": { msgtype: "m.text", body: "two" },
    "m.relates_to": { rel_type: "m.replace", event_id: first },
  });
  await room.send("m.room.message", { msgtype: "m.notice", body: "noted" });
  await room.send("m.room.message", { msgtype: "m.image", body: "a.png", url: "mxc://localhost/a" });
  await room.react(first, "👍");
  await room.send("org.matrix.msc3381.poll.start", {});
  await tester.request("alice", "PUT", `/rooms/${encodeURIComponent(room.id)}/state/m.room.topic`, {
    topic: "Tea",
  });
  await tester.settle();
  await tester.request("bob", "POST", `/rooms/${encodeURIComponent(room.id)}/leave`, {});
  await tester.settle();
  assertEquals(heard, [
    "message one",
    "message:text one",
    "edit two",
    "edit:text two",
    "message:notice noted",
    "message",
    "message:image",
    "reaction",
    "poll:start",
    "m.room.topic",
    "member:leave",
  ]);
});

Deno.test("A query that is none is refused when the function is added", () => {
  const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
  for (const query of ["mesage", "message:tex", "poll:x"]) {
    try {
      bot.on(query as "message", () => {});
    } catch (error) {
      if (error instanceof ValueError) continue;
    }
    throw new ValueError(`${query} was taken`);
  }
});

Deno.test("What was said before the bot's very first start is not answered, what was said while it was away is", async () => {
  await using tester = trying((bot) => bot.on("message:text", (c) => c.reply(`heard ${c.text}`)));
  const room = await tester.room("alice");
  await room.say("one");
  await room.expect("heard one");
  await tester.restart();
  await room.expectNothing();
  const away = tester as unknown as { restart(): Promise<void> };
  await room.say("two");
  await room.expect("heard two");
  await away.restart();
  await room.expectNothing();
});

Deno.test("Of two users, one is answered while the function for the other's message still runs, and each in order", async () => {
  const gate = Promise.withResolvers<void>();
  await using tester = trying((bot) =>
    bot.on("message:text", async (c) => {
      if (c.text === "slow") await gate.promise;
      await c.reply(`${c.sender} ${c.text}`);
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("slow");
  await room.say("after");
  await room.as("bob").say("fast");
  await room.expect("@bob:localhost fast");
  await room.expectNothing();
  gate.resolve();
  await room.expect("@alice:localhost slow");
  await room.expect("@alice:localhost after");
});

Deno.test("A function that never ends is given up, reported, and the user's next message is handled", async () => {
  let signal: AbortSignal | undefined;
  await using tester = trying((bot) =>
    bot.on("message:text", (c) => {
      if (c.text !== "hang") return c.reply("here");
      signal = c.signal;
      return new Promise(() => {});
    }), { handlerTimeout: 60_000 });
  const room = await tester.room("alice");
  await room.say("hang");
  await room.say("hello");
  await room.expectNothing();
  await tester.pass(60_000);
  await room.expect("here");
  assertEquals(signal?.aborted, true as boolean);
  assertEquals(tester.logged.filter((line) => line.includes("took more than 60000 ms")).length, 1);
});

Deno.test("A user who floods is told once, and heard again later; others are not concerned", async () => {
  let count = 0;
  await using tester = trying((bot) => {
    bot.on("message:text", () => void count++);
    bot.command("ping", (c) => c.reply("pong"));
  }, { rateLimit: { count: 3, window: 10_000 } });
  const room = await tester.room("alice", "bob");
  for (let index = 0; index < 10; index++) await room.say(`${index}`);
  await room.expectNothing(); // nobody has asked the bot for anything
  await room.say("!ping");
  await room.expect("That was too much at once: I take more from you in a while.");
  await room.as("bob").say("hello");
  await room.expectNothing();
  assertEquals(count, 4);
  await tester.pass(10_000);
  await room.say("again");
  await room.expectNothing();
  assertEquals(count, 5);
  for (let index = 0; index < 20; index++) {
    await room.say("ping?");
    await room.say("!ping");
    await tester.pass(2_500);
  }
  const texts = room.messages.map(({ text }) => text).filter((text) => text !== "pong");
  assertEquals(texts.length, 1, "who floods on and on is not told again and again");
});

Deno.test("allow, deny and rooms say who is heard; who is not can't invite the bot either", async () => {
  const options = { allow: ["@*:localhost"], deny: ["@mallory:*"] };
  await using tester = trying((bot) => bot.on("message:text", (c) => c.reply("heard")), options);
  const room = await tester.room("alice", "mallory");
  await room.as("mallory").say("hello");
  await room.expectNothing();
  await room.say("hello");
  await room.expect("heard");
  const { room_id } = await tester.request("mallory", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  assertEquals(tester.homeserver.room(String(room_id) as `!${string}`).membership(tester.mxid), "invite");
});

Deno.test("bot.inviter() says who has invited the bot, until it has left", async () => {
  let bot: Bot | undefined;
  await using tester = trying((made) => bot = made);
  const room = await tester.room("alice");
  assertEquals((await bot?.inviter(room.id))?.by, "@alice:localhost");
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(room.id)}/kick`, {
    user_id: tester.mxid,
  });
  await tester.settle();
  assertEquals(await bot?.inviter(room.id), undefined);
});

Deno.test("bot.inviter() also knows an invitation that is accepted when its function has ended", async () => {
  const gate = Promise.withResolvers<void>();
  let bot: Bot | undefined;
  await using tester = trying((made) => {
    bot = made;
    made.on("invite", (c) => void gate.promise.then(() => c.join()));
  }, { autoJoin: false });
  await tester.start();
  const { room_id } = await tester.request("alice", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  gate.resolve();
  await tester.settle();
  const room = room_id as `!${string}`;
  assertEquals(tester.homeserver.room(room).membership(tester.mxid), "join");
  assertEquals((await bot?.inviter(room))?.by, "@alice:localhost");
});

Deno.test("Middleware goes on with next(); boundaries and catch() get what is thrown", async () => {
  const caught: string[] = [];
  await using tester = trying((bot) => {
    bot.use(async (c, next) => {
      if (c.text !== "stop") await next();
    });
    const inside = new Composer();
    inside.on("message:text").filter((c) => c.text === "inside", () => Promise.reject(new ValueError("in")));
    bot.errorBoundary((error, _, next) => {
      caught.push(`boundary: ${(error as Error).message}`);
      return next();
    }, inside);
    bot.hears(/^count (\d+)$/, (c) => c.reply(`counted ${c.match[1]}`));
    bot.hears("throw", () => Promise.reject(new ValueError("out")));
    bot.on("message:text", (c) => c.send(`last ${c.text}`));
    bot.catch((error) => void caught.push(`bot: ${(error as Error).message}`));
  });
  const room = await tester.room("alice");
  for (const text of ["stop", "inside", "count 7", "throw", "else"]) await room.say(text);
  await room.expect("last inside");
  await room.expect("counted 7");
  await room.expect("last else");
  assertEquals(caught, ["boundary: in", "bot: out"]);
});

Deno.test("next() that is called twice is an error", async () => {
  const composer = new Composer().use(async (_, next) => {
    await next();
    await next();
  });
  await assertRejects(
    () => Promise.resolve(composer.middleware()({} as never, () => Promise.resolve())),
    ValueError,
    "called twice",
  );
});

Deno.test("A reply stays in the thread that it was asked in, and replyInThread() begins one", async () => {
  await using tester = new BotTester((options) => {
    const bot = new Bot(options);
    bot.command("here", (c) => c.reply("here"));
    bot.command("thread", (c) => c.replyInThread("there"));
    bot.command("send", (c) => c.send("plain"));
    return bot;
  });
  const room = await tester.room("alice");
  const root = await room.say("a thread");
  const asked = await room.say("!here", { thread: root });
  const here = await room.expect("here");
  assertEquals([here.thread, here.replyTo], [root, asked]);
  const begun = await room.say("!thread");
  const there = await room.expect("there");
  assertEquals([there.thread, there.replyTo], [begun, undefined]);
  await room.say("!send", { thread: root });
  assertEquals((await room.expect("plain")).thread, root);
  await room.say("!send");
  assertEquals((await room.expect("plain")).thread, undefined);
});

for (
  const [where, add] of [
    ["catch()", (bot: Bot) => bot.catch(() => {})],
    ["a boundary", (bot: Bot) => bot.errorBoundary(() => {})],
    ["the function itself", (bot: Bot) => bot],
  ] as const
) {
  Deno.test(`What the end of the bot cuts off is done by the next start, though ${where} catches everything`, async () => {
    let calls = 0;
    await using tester = trying((bot) => {
      add(bot).command("slow", async (c) => {
        if (++calls > 1) return void await c.reply("done");
        await new Promise((resolve) => c.signal.addEventListener("abort", resolve));
        await c.reply("too late").catch((error) => {
          if (where !== "the function itself") throw error;
        });
      });
    });
    const room = await tester.room("alice");
    await room.say("!slow");
    await tester.settle();
    await tester.restart();
    await room.expect("done");
    await room.expectNothing();
  });
}

Deno.test("An invitation that the bot does not accept leaves no record, and one that a function accepts does", async () => {
  let bot: Bot | undefined;
  await using tester = trying((made) => {
    bot = made;
    made.on("invite", (c) => c.sender.startsWith("@alice") ? c.join() : undefined);
  }, { autoJoin: false });
  await tester.start();
  const inviters: unknown[] = [];
  for (const user of ["alice", "bob"]) {
    tester.homeserver.createUser(user);
    const { room_id } = await tester.request(user, "POST", "/createRoom", { invite: [tester.mxid] });
    await tester.settle();
    inviters.push((await bot?.inviter(room_id as `!${string}`))?.by);
  }
  assertEquals(inviters, ["@alice:localhost", undefined]);
});
