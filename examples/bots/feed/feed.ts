/** Says in rooms what is new in feeds, and what programs post to them. */

import type { Bot, CommandContext } from "@greenroom/matrix/bot";
import { FEEDS, feedsOf, look } from "./feeds.ts";
import { checkUrl, get, GetError } from "./get.ts";
import { hooks } from "./hooks.ts";
import { Outbox } from "./outbox.ts";
import { hash, messageOf, readFeed } from "./read_feed.ts";

/** How the bot works. */
export interface FeedOptions {
  /** Where programs reach the bot, like `https://bot.example.org`. */
  address: string;
  /** When to look, as cron writes it. Default: every ten minutes. */
  schedule?: string;
  /** Hosts on the bot's own machine and network that may have feeds, like `intranet:8080`. Default: none. */
  allow?: readonly string[];
  /** What loads feeds. Default: `get()` of `get.ts`, over the network. */
  load?: typeof get;
}

const MAX_FEEDS = 20;
const MAX_URL = 500;

/** Adds commands and schedules to a bot, and returns what answers HTTP requests. */
export function feed(bot: Bot, options: FeedOptions): (request: Request) => Promise<Response> {
  const { address, schedule = "*/10 * * * *", allow, load = get } = options;
  const outbox = new Outbox(bot);
  const hook = hooks(bot, outbox, address);
  bot.command(
    "feed <action> [what]",
    { description: "Follows a feed: `add <url>`, `list`, `remove <number>`" },
    async (c) => {
      const { action, what = "" } = c.args;
      if (action === "list") return await list(bot, c);
      if (action !== "add" && action !== "remove") return await c.reply("Say add, list, or remove.");
      if (!await c.isAdmin(c.sender)) return await c.reply("Only who moderates this room may do that.");
      return action === "add" ? await add(bot, c, { what, allow, load }) : await remove(bot, c, what);
    },
  );
  bot.every(schedule, (c) => look(bot, outbox, { allow, load, signal: c.signal }), { name: "feeds" });
  bot.every("* * * * *", () => outbox.send(), { name: "outbox" }); // what could not be said before
  return async (request) => await hook(request) ?? await bot.fetch(request);
}

async function add(bot: Bot, c: CommandContext, { what, allow, load }: {
  readonly what: string;
  readonly allow: readonly string[] | undefined;
  readonly load: typeof get;
}): Promise<unknown> {
  const feeds = await feedsOf(bot, c.roomId);
  if (feeds.length >= MAX_FEEDS) {
    return await c.reply(`This room follows ${MAX_FEEDS} feeds; remove one first.`);
  }
  try {
    const { href } = checkUrl(what, allow);
    if (href.length > MAX_URL) throw new GetError("the address is too long");
    if (feeds.some(({ url }) => url === href)) return await c.reply("This room follows it.");
    const loaded = await c.typing(load(href, { allow, signal: c.signal }));
    if (loaded === undefined) throw new GetError("the server answers 304 to who has nothing");
    const { title, items } = await readFeed(loaded.text, loaded.url);
    const { etag, lastModified } = loaded;
    const seen = items.map(({ id }) => id);
    const since = c.client.api.clock.now();
    const session = await c.getSession(FEEDS, [c.roomId, await hash(href)]);
    Object.assign(session, { url: href, title, since, etag, lastModified, seen });
    await c.reply(`This room follows ${title} now.`, { format: "plain" });
    const [latest] = items; // the others are no news
    if (latest === undefined) return;
    const message = await messageOf(title, latest);
    return await c.client.sendMessage(c.roomId, { msgtype: "m.notice", ...message }, { key: "latest" });
  } catch (error) {
    if (!(error instanceof GetError)) throw error;
    return await c.reply(`That can't be followed: ${error.message}.`, { format: "plain" });
  }
}

async function list(bot: Bot, c: CommandContext): Promise<unknown> {
  const lines = (await feedsOf(bot, c.roomId)).map(({ title, url, failures }, index) =>
    `${index + 1}. ${title}: ${url}${failures === 0 ? "" : ` (failed ${failures} times)`}`
  );
  return await c.reply(lines.join("\n") || "This room follows no feed.", { format: "plain" });
}

async function remove(bot: Bot, c: CommandContext, what: string): Promise<unknown> {
  const chosen = (await feedsOf(bot, c.roomId))[Number(what) - 1];
  if (chosen === undefined) return await c.reply("There is no such feed; `!feed list` has their numbers.");
  await c.endSession(FEEDS, [c.roomId, await hash(chosen.url)]);
  return await c.react("👍");
}
