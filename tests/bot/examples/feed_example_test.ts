import { assert, assertEquals, assertMatch } from "@std/assert";
import { Bot } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { feed } from "../../../examples/bots/feed/feed.ts";
import { type get, GetError } from "../../../examples/bots/feed/get.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { clientStage } from "../../client/support/stage.ts";
import { trying } from "../support.ts";

const MINUTE = 60_000;
const URL_OF_FEED = "https://news.example.org/feed";

/** A feed on a server that knows what it has answered. */
class Source {
  items: string[] = [];
  failure: string | undefined;
  readonly asked: (string | undefined)[] = [];

  readonly load: typeof get = (url, { etag } = {}) => {
    this.asked.push(etag);
    if (this.failure !== undefined) return Promise.reject(new GetError(this.failure));
    const now = `"${this.items.join()}"`;
    if (etag === now) return Promise.resolve(undefined);
    return Promise.resolve({ text: rss(...this.items), url, etag: now });
  };
}

/** RSS; the last of the items is the newest. */
function rss(...items: readonly string[]): string {
  const all = items.map((name) =>
    `<item><guid>${name}</guid><title>${name}</title><link>/${name}</link>` +
    `<description>&lt;b onclick="x()"&gt;${name}&lt;/b&gt;</description></item>`
  );
  return `<rss version="2.0"><channel><title>News</title>${all.reverse().join("")}</channel></rss>`;
}

/** A bot that follows feeds, and its door for HTTP. */
function following(
  source: Source,
): { tester: BotTester; post: (path: string, init?: RequestInit) => Promise<Response> } {
  let door: (request: Request) => Promise<Response> = () => Promise.reject(new TypeError("not made yet"));
  const tester = trying(
    (bot) => door = feed(bot, { address: "https://bot.example.org", load: source.load }),
    { admins: { powerLevel: 50 } },
  );
  const post = (path: string, init: RequestInit = {}) =>
    door(new Request(`https://bot.example.org${path}`, { method: "POST", ...init }));
  return { tester, post };
}

/** What a bot says of an item. */
const said = (name: string) => `News: ${name} (https://news.example.org/${name})\n\n> ${name}`;

Deno.test("The feed bot says the latest of a feed, then what is new once each, through restarts, and asks for nothing that it has", async () => {
  const source = new Source();
  source.items = ["old", "first"];
  const { tester } = following(source);
  await using _ = tester;
  const room = await tester.room("alice", "bob");
  await room.as("bob").say(`!feed add ${URL_OF_FEED}`);
  await room.expect("Only who moderates this room may do that.");
  await room.say(`!feed add ${URL_OF_FEED}`);
  await room.expect("This room follows News now.");
  const first = await room.expect(said("first"));
  assertMatch(first.html ?? "", /^<strong>News<\/strong>: <a [^>]*>first<\/a><blockquote><b>first<\/b>/);
  assertEquals(first.content["m.mentions"], {});
  await room.say(`!feed add ${URL_OF_FEED}`);
  await room.expect("This room follows it.");
  await tester.pass(10 * MINUTE);
  await room.expectNothing();
  source.items.push("second", "third");
  await tester.restart();
  await tester.pass(10 * MINUTE);
  await room.expect(said("second"));
  await room.expect(said("third"));
  await tester.restart();
  await tester.pass(20 * MINUTE);
  await room.expectNothing();
  assertEquals(source.asked.at(-1), '"old,first,second,third"');
  source.items.push(...Array.from({ length: 8 }, (_, index) => `n${index}`));
  await tester.pass(10 * MINUTE);
  await room.expect("News has 3 more.");
  for (const name of ["n3", "n4", "n5", "n6", "n7"]) await room.expect(said(name));
  await room.as("bob").say("!feed list");
  await room.expect(`1. News: ${URL_OF_FEED}`);
  await room.say("!feed remove 2");
  await room.expect("There is no such feed; `!feed list` has their numbers.");
  await room.say("!feed remove 1");
  await room.expectReaction("👍");
  const asked = source.asked.length;
  source.items.push("after");
  await tester.pass(30 * MINUTE);
  await room.expectNothing();
  assertEquals(source.asked.length, asked);
});

Deno.test("A feed that fails is asked less and less, the room is told once, and it goes on where it was", async () => {
  const source = new Source();
  source.items = ["first"];
  const { tester } = following(source);
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say(`!feed add ${URL_OF_FEED}`);
  await room.expect("This room follows News now.");
  await room.expect(said("first"));
  source.failure = "the server can't be reached";
  await tester.pass(60 * MINUTE);
  await room.say("!feed list");
  await room.expect(`1. News: ${URL_OF_FEED} (failed 4 times)`);
  await tester.pass(120 * MINUTE);
  await room.expect(`I can't read News (${URL_OF_FEED}): the server can't be reached. I go on trying.`);
  const asked = source.asked.length;
  assert(asked <= 7, `asked ${asked} times`);
  source.failure = undefined;
  source.items.push("second");
  await tester.pass(180 * MINUTE);
  await room.expect(said("second"));
  await room.expectNothing();
});

Deno.test("Rooms that follow the same feed ask for it once, and a room that the bot was thrown out of is forgotten", async () => {
  const source = new Source();
  source.items = ["first"];
  const { tester, post } = following(source);
  await using _ = tester;
  const rooms = [await tester.room("alice"), await tester.room("carol")] as const;
  const [one, other] = rooms;
  for (const room of rooms) {
    await room.say(`!feed add ${URL_OF_FEED}`);
    await room.expect("This room follows News now.");
    await room.expect(said("first"));
  }
  await one.say("!hook new");
  const { text } = await one.expect(/hooks/);
  const path = /\/hooks\/[\w-]+/.exec(text)?.[0] ?? "";
  const asked = source.asked.length;
  source.items.push("second");
  await tester.pass(10 * MINUTE);
  for (const room of rooms) await room.expect(said("second"));
  assertEquals(source.asked.length, asked + 1);
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(one.id)}/kick`, {
    user_id: tester.mxid,
  });
  source.items.push("third");
  await tester.pass(20 * MINUTE);
  await other.expect(said("third"));
  await one.expectNothing();
  assertEquals((await post(path, { body: "Hello" })).status, 404);
  await tester.request("carol", "POST", `/rooms/${encodeURIComponent(other.id)}/kick`, {
    user_id: tester.mxid,
  });
  await tester.pass(20 * MINUTE);
  const last = source.asked.length;
  await tester.pass(60 * MINUTE);
  assertEquals(source.asked.length, last);
});

Deno.test("A webhook posts to its room, takes no wrong secret and no bad body, and what it took is said though the homeserver is away", async () => {
  const { tester, post } = following(new Source());
  await using _ = tester;
  const room = await tester.room("alice", "bob");
  await room.as("bob").say("!hook");
  await room.expectNothing();
  await room.say("!hook");
  const { text } = await room.expect(/^Post text, or JSON/);
  const path = /https:\/\/bot\.example\.org(\/hooks\/[\w-]{59})`/.exec(text)?.[1] ?? "";
  await room.say("!hook");
  await room.expect("This room has a webhook. `!hook new` replaces its secret, `!hook off` ends it.");
  const json = { "content-type": "application/json" };
  const large = "a".repeat(20_000);
  const refused: [status: number, path: string, init: RequestInit][] = [
    [404, `${path.slice(0, -1)}${path.endsWith("A") ? "B" : "A"}`, { body: "Hello" }],
    [404, `/hooks/${"a".repeat(59)}`, { body: "Hello" }],
    [404, "/hooks/", { body: "Hello" }],
    [405, path, { method: "GET" }],
    [413, path, { body: large }],
    [415, path, { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    [400, path, { body: " " }],
    [400, path, {}],
    [400, path, { body: "{", headers: json }],
    [400, path, { body: '{"text":1}', headers: json }],
    [400, path, { body: "null", headers: json }],
  ];
  for (const [status, where, init] of refused) {
    const response = await post(where, init);
    assertEquals([response.status, where], [status, where]);
    assert(!(await response.text()).includes("aaa"));
  }
  assertEquals((await post("/health", { method: "GET" })).status, 200);
  await room.expectNothing();
  const mention = "[@bob](https://matrix.to/#/@bob:localhost) @room **done**";
  assertEquals((await post(path, { body: JSON.stringify({ text: mention }), headers: json })).status, 200);
  const done = await room.expect(mention);
  assertEquals([done.content["m.mentions"], done.html?.includes("<strong>done</strong>")], [{}, true]);
  assertEquals((await post(path, { body: "**plain**" })).status, 200);
  assertEquals((await room.expect("**plain**")).html, undefined);
  tester.homeserver.faults.add({ match: { method: "PUT", path: "/send/" }, kind: "status", status: 502 });
  let answer: Response | undefined;
  post(path, { body: "kept" }).then((response) => answer = response);
  while (answer === undefined) await tester.pass(1_000); // it waits until it is said, but not for ever
  assertEquals(answer.status, 200);
  await room.expectNothing();
  await tester.stop();
  tester.homeserver.faults.clear();
  await tester.start();
  await tester.pass(2 * MINUTE);
  await room.expect("kept");
  await room.say("!hook off");
  await room.expect("Nobody posts to this room by a webhook now.");
  assertEquals((await post(path, { body: "Hello" })).status, 404);
});

Deno.test("What is new in a feed is said once, though the bot crashes at any moment", async () => {
  await atEachCrashPoint(async (plan) => {
    const source = new Source();
    source.items = ["first"];
    await using here = clientStage();
    const alice = here.client("alice", {});
    const heard: string[] = [];
    alice.on("m.room.message", ({ sender, content }) => {
      if (sender === "@bot:localhost") heard.push(content.body);
    });
    alice.start();
    await here.settle();
    const bot = new RestartingBot(here, {
      plans: [plan],
      setUp(client) {
        const forever = new Promise<void>(() => {});
        const none = () => Promise.resolve();
        const door = () => Promise.reject(new TypeError("nobody asks"));
        const appservice = { botClient: client, fetch: door, start: () => forever, stop: none, close: none };
        const made = new Bot({ appservice, admins: { powerLevel: 50 } });
        feed(made, { address: "https://bot.example.org", load: source.load, schedule: "*/5 * * * * *" });
        made.start({ signals: false }); // it never ends
      },
    });
    const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
    await bot.until(() => here.homeserver.room(room).membership("@bot:localhost") === "join");
    await bot.settle();
    await alice.sendText(room, `!feed add ${URL_OF_FEED}`);
    await bot.until(() => heard.includes(said("first")));
    source.items.push("second", "third");
    // Hashing is done by other threads, in a time of its own.
    await bot.until(() => heard.includes(said("third")));
    for (let seconds = 0; seconds < 15; seconds += 5) {
      await here.clock.tick(5_000);
      await bot.settle();
    }
    assertEquals(
      heard,
      ["This room follows News now.", ...["first", "second", "third"].map(said)],
      bot.crashes.join(),
    );
    await bot.client.close();
    await here.clock.tick(10_000);
    return bot.log;
  });
});
