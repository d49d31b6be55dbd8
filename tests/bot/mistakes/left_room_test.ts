import { assertEquals } from "@std/assert";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester, type TestRoom } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

/** A bot whose command waits until a test lets it go on, and then fails. */
async function failing(make: (bot: Bot) => void = () => {}) {
  const began: string[] = [];
  const gate = Promise.withResolvers<void>();
  const sync = { gate: Promise.resolve() };
  const tester = new BotTester((given) => {
    const { fetch } = given;
    const bot = new Bot({
      ...given,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (new Request(input, init).url.includes("/sync")) await sync.gate;
        return response;
      },
    });
    make(bot);
    bot.command("wait", async () => {
      began.push("wait");
      await gate.promise;
    });
    bot.command("fail", async (c) => {
      began.push("fail");
      await gate.promise;
      await c.react("👀");
      throw new Error("the kettle is broken");
    });
    return bot;
  });
  const room = await tester.room("alice");
  return { tester, room, began, gate, sync };
}

async function order(tester: BotTester, room: TestRoom, verb: "kick" | "invite"): Promise<void> {
  const path = `/rooms/${encodeURIComponent(room.id)}/${verb}`;
  await tester.request("alice", "POST", path, { user_id: tester.mxid });
}

/** Has the bot thrown out, and waits until it is back. */
async function throwOut(tester: BotTester, room: TestRoom): Promise<void> {
  await order(tester, room, "kick");
  await order(tester, room, "invite");
  await tester.until(() => room.view().membership(tester.mxid) === "join", "not joined");
  await tester.settle();
}

const catching = { "nobody catches it": false, "bot.catch() only notes it": true };

for (const [how, isCaught] of Object.entries(catching)) {
  const make = (bot: Bot) => void (isCaught && bot.catch(() => {}));

  Deno.test(`A command that fails when the bot was thrown out and invited again is answered by nothing: ${how}`, async () => {
    const { tester: made, room, began, gate } = await failing(make);
    await using tester = made;
    await room.say("!fail");
    await tester.until(() => began.length === 1, "not called");
    await throwOut(tester, room);
    gate.resolve();
    await tester.settle();
    assertEquals(room.messages.map(({ text }) => text), []);
    await room.say("!fail");
    await room.expect("Sorry, that failed.");
  });

  Deno.test(`So is one that waited for another when the bot was thrown out: ${how}`, async () => {
    const { tester: made, room, began, gate } = await failing(make);
    await using tester = made;
    await room.say("!wait");
    await room.say("!fail");
    await tester.until(() => began.length === 1, "not called");
    await throwOut(tester, room);
    gate.resolve();
    await tester.settle();
    assertEquals([began, room.messages.map(({ text }) => text)], [["wait", "fail"], []]);
  });

  Deno.test(`A bot that does not know yet that it was thrown out does not say into the room that it failed: ${how}`, async () => {
    const { tester: made, room, began, gate, sync } = await failing(make);
    await using tester = made;
    const { homeserver } = tester;
    await room.say("!fail");
    await tester.until(() => began.length === 1, "not called");
    const held = Promise.withResolvers<void>();
    sync.gate = held.promise;
    await order(tester, room, "kick");
    gate.resolve();
    const sent = () =>
      homeserver.requests.filter("PUT", "/send/m.room.message/").filter(({ user }) => user === tester.mxid);
    const asked = () => homeserver.requests.filter("GET", "/state/m.room.member/");
    await tester.until(() => asked().length + sent().length > 0, "not failed");
    assertEquals(sent(), []);
    held.resolve();
  });
}

Deno.test("A bot that can't find out whether it is in the room asks once, and says that it failed", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", () => Promise.reject(new RangeError("Failed")));
  });
  const { homeserver, mxid: user } = tester;
  const room = await tester.room("alice");
  const path = "/state/m.room.member/";
  homeserver.faults.add({ kind: "html", status: 502, match: { method: "GET", path, user } });
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  assertEquals(homeserver.requests.filter("GET", path).length, 1);
});
