/** What a bot remembers does not grow with how often it does something. */

import { assertEquals } from "@std/assert";
import { abortable } from "@std/async/abortable";
import { MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { TestClock } from "@greenroom/matrix/testing";
import { grownBy } from "../../support/growth.ts";

const ROOM = "!room:localhost";
const BOT = "@bot:localhost";
/** How often something is done before it counts, and how often then. */
const [WARM, TIMES] = [1_500, 1_500];

/**
 * What has a bound of its own: sessions that were read, and entities of HTML, which are loaded when they are
 * needed.
 */
const BOUNDED = /\["session",|&Tab;/;

/** A homeserver that remembers nothing: events come as they are asked for. */
function forgetfulServer() {
  const clock = new TestClock(1_700_000_000_000);
  let [shown, wanted, sent] = [0, 0, 0];
  let more = Promise.withResolvers<void>();
  const event = (number: number) => ({
    type: "m.room.message",
    event_id: `$event${number}`,
    sender: `@user${number % 3}:localhost`,
    origin_server_ts: clock.now(),
    content: { msgtype: "m.text", body: ["!ping", "!count", "hello", "!fails", "!remind"][number % 5] },
  });
  const sync = async (since: string | null, signal: AbortSignal) => {
    if (since === null) {
      return { next_batch: "s0", rooms: { join: { [ROOM]: { timeline: { events: [] } } } } };
    }
    while (shown >= wanted) await abortable(more.promise, signal);
    const events = Array.from({ length: Math.min(10, wanted - shown) }, () => event(++shown));
    await clock.tick(60_000);
    return { next_batch: `s${shown}`, rooms: { join: { [ROOM]: { timeline: { events } } } } };
  };
  const fetch = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.endsWith("/whoami")) return Response.json({ user_id: BOT, device_id: "BOT" });
    if (pathname.endsWith("/versions")) return Response.json({ versions: ["v1.16"] });
    if (pathname.endsWith("/filter")) return Response.json({ filter_id: "1" });
    if (pathname.includes("/send/")) return Response.json({ event_id: `$sent${++sent}` });
    if (pathname.endsWith("/sync")) {
      return Response.json(await sync(searchParams.get("since"), request.signal));
    }
    return Response.json({ errcode: "M_NOT_FOUND", error: "There is none" }, { status: 404 });
  };
  return {
    clock,
    fetch,
    /** How many messages the bot has sent. */
    get sent() {
      return sent;
    },
    /** Whether all have been shown. */
    get isDone() {
      return shown === wanted;
    },
    /** Shows more events. */
    show(count: number) {
      wanted += count;
      more.resolve();
      more = Promise.withResolvers();
    },
  };
}

Deno.test("A bot that has done the same thousands of times remembers no more than before", async () => {
  const server = forgetfulServer();
  const { clock, fetch } = server;
  await using bot = new Bot({
    baseUrl: "https://localhost",
    accessToken: "token",
    fetch,
    clock,
    store: new MemoryStore(),
    rateLimit: { count: 5, window: 60_000 },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  let done = 0;
  bot.command("ping", (c) => {
    done++;
    return c.reply("pong");
  });
  bot.command("count", async (c) => {
    done++;
    await c.step(() => 1);
    c.reply("counted"); // not awaited
  });
  bot.command("fails", () => {
    done++;
    throw new TypeError("it fails");
  });
  bot.command("remind", async (c) => {
    done++;
    await c.remind({ in: 1_000 }, "now");
  });
  bot.on("message:text", () => void done++);
  const running = bot.start({ signals: false });
  const exchange = async (count: number) => {
    server.show(count);
    while (!server.isDone) await clock.tick(1_000);
    for (let turn = 0; turn < 50; turn++) await clock.tick(5_000);
  };
  await exchange(WARM);
  const grown = await grownBy(() => exchange(TIMES), TIMES / 5);
  assertEquals(grown.filter(({ sample }) => !BOUNDED.test(sample)), []);
  assertEquals(done, WARM + TIMES);
  await bot.stop();
  await running;
});
