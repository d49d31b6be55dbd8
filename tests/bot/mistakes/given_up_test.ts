import { assertEquals, assertRejects } from "@std/assert";
import { defineSession } from "@greenroom/matrix";
import { ClientEndedError } from "@greenroom/matrix/errors";
import type { Bot, BotOptions, Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const LIMIT = 60_000;
const LONG = 10 * LIMIT;
const SEND = { method: "PUT", path: "/send/", user: "@bot:localhost" } as const;
const COUNT = defineSession({ name: "count", per: "room", initial: () => ({ count: 0 }) });
const ONCE = defineSession<object>({ name: "bot.once", per: () => undefined, initial: () => ({}) });

type Called = Context & { readonly args: { readonly text?: string } };

/** A bot whose command `!go` has a minute. */
function limited(go: (c: Called, bot: Bot) => unknown, options: Partial<BotOptions> = {}) {
  const made: Bot[] = [];
  const tester = trying((bot) => {
    made.push(bot);
    bot.command("go [text]", (c) => go(c, bot));
  }, { handlerTimeout: LIMIT, saysFailures: false, ...options });
  return { tester, bot: () => made.at(-1) as Bot };
}

/** Says three texts, and awaits none. */
function sayThree(c: Pick<Context, "send">): void {
  for (const text of ["1", "2", "3"]) c.send(text).catch(() => {});
}

Deno.test("When a function is given up, nothing of it is sent any more: not what is tried again, nor what waits", async () => {
  const { tester } = limited(sayThree);
  await using _ = tester;
  const room = await tester.room("alice");
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  await room.say("!go");
  await tester.pass(LIMIT);
  away.remove();
  await tester.pass(LONG);
  assertEquals(room.messages.map(({ text }) => text), []);
});

Deno.test("When a bot has closed, nothing is sent any more, of a function or from outside", async () => {
  const { tester, bot } = limited(sayThree, { handlerTimeout: LONG });
  await using _ = tester;
  const [room, other] = [await tester.room("alice"), await tester.room("bob")];
  const away = tester.homeserver.faults.add({ kind: "html", match: SEND });
  await room.say("!go");
  await tester.settle();
  const outside = bot().in(other.id).send("outside");
  outside.catch(() => {});
  await tester.settle();
  let isClosed = false;
  bot().close().then(() => isClosed = true);
  while (!isClosed) await tester.pass(1_000);
  away.remove();
  await tester.pass(LONG);
  await assertRejects(() => outside, ClientEndedError);
  const said = [room, other].flatMap(({ id }) => tester.homeserver.room(id).messages);
  assertEquals(said.map(({ content }) => content.body), ["!go"]);
});

Deno.test("What is on its way when a bot is closed arrives", async () => {
  const { tester, bot } = limited((c) => c.send("Goodbye"));
  await using _ = tester;
  const room = await tester.room("alice");
  const slow = tester.homeserver.faults.add({ kind: "hold", match: SEND, times: 1 });
  await room.say("!go");
  await tester.until(() => slow.hits === 1, "It was to send");
  const closing = bot().close();
  slow.release();
  await closing;
  assertEquals(tester.homeserver.room(room.id).messages.map(({ content }) => content.body), [
    "!go",
    "Goodbye",
  ]);
});

Deno.test("What a function does elsewhere after it was given up is refused", async () => {
  const gate = Promise.withResolvers<void>();
  const refused: string[] = [];
  const note = ({ message }: Error) => void refused.push(message.slice(0, 20));
  const { tester, bot } = limited(async (c, bot) => {
    await gate.promise;
    await bot.in(c.roomId).send("late").catch(note);
    await bot.store.set("late", 1).catch(note);
    await bot.session(COUNT, c.roomId).update((state) => void state.count++).catch(note);
  });
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.pass(LIMIT);
  gate.resolve();
  await room.expectNothing();
  assertEquals(refused, Array(3).fill("A bot's function too"));
  assertEquals(await bot().store.get("late"), undefined);
  assertEquals(await bot().session(COUNT, room.id).read(), undefined);
});

Deno.test("A function that is given up while it waits for a session does not hold it", async () => {
  const gates = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const went: unknown[] = [];
  const { tester, bot } = limited(async (c, bot) => {
    if (c.args.text === "second") {
      await c.getSession(COUNT);
      return await gates.second.promise;
    }
    await gates.first.promise;
    if (c.args.text === "first") await c.getSession(COUNT);
    else await bot.session(COUNT, c.roomId).update((state) => void (state.count += 100));
    went.push(c.args.text);
  });
  await using _ = tester;
  const room = await tester.room("alice", "bob", "carol");
  await room.say("!go first"); // which has asked for the session later, but has less time left
  await room.as("carol").say("!go other");
  await tester.pass(LIMIT / 2);
  await room.as("bob").say("!go second");
  await tester.settle();
  gates.first.resolve();
  await tester.pass(LIMIT / 2);
  gates.second.resolve();
  await tester.settle();
  await bot().session(COUNT, room.id).update((state) => void state.count++);
  assertEquals([went, await bot().session(COUNT, room.id).read()], [[], { count: 1 }]);
});

Deno.test("What a step comes to when its function was given up is not kept, since nobody would remove it", async () => {
  const gate = Promise.withResolvers<void>();
  const { tester, bot } = limited((c) => c.step(() => gate.promise));
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.pass(LIMIT);
  gate.resolve();
  await tester.settle();
  assertEquals(await Array.fromAsync(bot().client.sessions.list(ONCE)), []);
});

Deno.test("A text for later is not sent if its function is given up while the homeserver is asked", async () => {
  const { tester } = limited((c) => c.later("10m", "Curtain"));
  await using _ = tester;
  const room = await tester.room("alice");
  await tester.settle();
  const slow = tester.homeserver.faults.add({ kind: "hold-after", match: SEND, times: 1 });
  await room.say("!go");
  await tester.until(() => slow.hits === 1, "It was to be asked");
  await tester.pass(LIMIT);
  slow.release();
  await tester.settle();
  await tester.pass(LONG);
  assertEquals(room.messages.map(({ text }) => text), []);
});

Deno.test("Nobody sees a bot type any more whose function was given up", async () => {
  const { tester } = limited((c) => c.typing(new Promise(() => {})));
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.settle();
  const typing = () => tester.homeserver.room(room.id).typing;
  assertEquals(typing(), [tester.mxid]);
  for (let passed = 0; passed < 2 * LIMIT; passed += 10_000) await tester.pass(10_000);
  assertEquals(typing(), []);
});
