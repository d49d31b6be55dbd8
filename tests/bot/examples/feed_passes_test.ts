import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { feed } from "../../../examples/bots/feed/feed.ts";
import { look } from "../../../examples/bots/feed/feeds.ts";
import { Outbox } from "../../../examples/bots/feed/outbox.ts";
import { clientStage } from "../../client/support/stage.ts";

Deno.test("Where no process stays, instances of the feed bot say what is new once, and what is posted before they answer", async () => {
  await using stage = clientStage();
  const { homeserver, clock, log } = stage;
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token, userId: mxid } = homeserver.createUser("bot");
  const store = new MemoryStore();
  const items = ["first"];
  let speed = 50;
  const load = async (url: string) => {
    const all = items.map((name) => `<item><guid>${name}</guid><title>${name}</title></item>`).reverse();
    const text = `<rss version="2.0"><channel><title>News</title>${all.join("")}</channel></rss>`;
    await clock.delay(speed);
    return { text, url };
  };
  const instance = () => {
    const bot = new Bot({
      baseUrl,
      fetch,
      accessToken: token,
      mxid,
      clock,
      log,
      store,
      admins: { powerLevel: 50 },
    });
    return { bot, door: feed(bot, { address: "https://bot.example.org", load }) };
  };
  /** Lets time pass until something is done. */
  const done = async <Result>(work: Promise<Result>): Promise<Result> => {
    let isOver = false;
    work.finally(() => isOver = true).catch(() => {}); // the caller gets that
    while (!isOver) await clock.tick(10);
    return await work;
  };
  const alice = stage.client("alice");
  const room = await alice.createRoom({ invitees: [mxid] });
  const said = () =>
    homeserver.room(room).messages.filter(({ sender }) => sender === mxid).map(({ content }) =>
      String(content.body)
    );

  const first = instance();
  await done(first.bot.syncOnce());
  await alice.sendText(room, "!feed add https://news.example.org/feed");
  await alice.sendText(room, "!hook");
  await done(first.bot.syncOnce());
  const path = /\/hooks\/[\w-]+/.exec(said().at(-1) ?? "")?.[0];
  assertEquals(said().slice(0, 2), ["This room follows News now.", "News: first"]);
  await done(first.bot.close());

  const others = [instance(), instance(), instance()];
  await done(Promise.all(others.map(({ bot }) => bot.syncOnce())));
  items.push("second");
  await clock.tick(600_000);
  await done(Promise.all(others.map(({ bot }) => bot.syncOnce())));
  assertEquals(said().slice(3), ["News: second"]);
  const posts = others.map(({ door }, index) =>
    door(new Request(`https://bot.example.org${path}`, { method: "POST", body: `post ${index}` }))
  );
  assertEquals((await done(Promise.all(posts))).map(({ status }) => status), [200, 200, 200]);
  assertEquals(said().slice(4).toSorted(), ["post 0", "post 1", "post 2"]);
  items.push("third");
  speed = 20_000; // meanwhile the others take the device, and load it too
  const { signal } = new AbortController();
  await done(Promise.all(others.map(({ bot }) => look(bot, new Outbox(bot), { load, signal, allow: [] }))));
  assertEquals(said().slice(7), ["News: third"]); // though all of them have seen it
  await done(Promise.all(others.map(({ bot }) => bot.close())));
});
