/** The feeds of all rooms, and looking at them. */

import { type Bot, defineSession, formatText } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { type get, GetError } from "./get.ts";
import { HOOKS } from "./hooks.ts";
import type { Outbox } from "./outbox.ts";
import { messageOf, type ReadFeed, readFeed } from "./read_feed.ts";

/** A feed of a room, by the room and the hash of the address. */
export const FEEDS = defineSession({
  name: "feed.feeds",
  per: "thread",
  initial: () => ({
    /** Empty: the room does not follow it. */
    url: "",
    title: "",
    /** When it was added. */
    since: 0,
    /** By what the server knows what was loaded last. */
    etag: undefined as string | undefined,
    lastModified: undefined as string | undefined,
    /** The IDs of what was there, the latest first. */
    seen: new Array<string>(),
    /** How often in a row it could not be loaded, and when to try again. */
    failures: 0,
    next: 0,
  }),
});
type Feed = ReturnType<typeof FEEDS.initial>;
type Key = readonly [room: RoomID, hash: string];

/** How much of a feed is said at a time, and how many IDs are remembered. */
const MAX_NEW = 5;
const MAX_SEEN = 500;
/** How many feeds are loaded side by side. */
const AT_ONCE = 4;
/** How often in a row a feed fails before the bot tells the room. */
const TOLD = 5;
/** The shortest and the longest time to the next try, in milliseconds. */
const RETRY = 300_000;
const LONGEST_RETRY = 86_400_000;

/** The feeds of a room, in the order in which they were added. */
export async function feedsOf(bot: Bot, room: RoomID): Promise<Feed[]> {
  const within = { after: [room, ""], before: [room, "~"] } as const;
  const feeds = await Array.fromAsync(bot.client.sessions.list(FEEDS, within), ({ state }) => state);
  return feeds.sort((one, other) => one.since - other.since);
}

/** How feeds are looked at. */
export interface LookOptions {
  readonly allow: readonly string[] | undefined;
  readonly load: typeof get;
  readonly signal: AbortSignal;
}

/** A feed as it is; undefined: as it was; or why it can't be read. */
type News = (ReadFeed & { etag?: string; lastModified?: string }) | undefined | GetError;

/** Looks at all feeds whose time has come, and forgets what rooms had in which the bot is no more. */
export async function look(bot: Bot, outbox: Outbox, options: LookOptions): Promise<void> {
  const { client } = bot;
  const feeds = await Array.fromAsync(
    client.sessions.list(FEEDS),
    ({ key, state }) => ({ key: key as Key, state }),
  );
  const hooks = await Array.fromAsync(client.sessions.list(HOOKS));
  const joined = new Set<string>(await client.getJoinedRooms()); // asked after these were listed
  for (const { key } of feeds) if (!joined.has(key[0])) await client.sessions.end(FEEDS, key);
  for (const { key, state } of hooks) if (!joined.has(state.room)) await client.sessions.end(HOOKS, key);

  const loads = new Map<string, Promise<News>>(); // rooms that know the same ask once
  const now = client.api.clock.now();
  const due = feeds.filter(({ key, state }) => joined.has(key[0]) && state.next <= now).values();
  const work = async () => {
    for (const { key, state } of due) {
      if (await outbox.isFull(key[0])) continue;
      const known = JSON.stringify([state.url, state.etag, state.lastModified]);
      const loading = loads.get(known) ?? newsOf(state, options);
      loads.set(known, loading);
      await note(bot, outbox, { key, state, news: await loading });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await outbox.send();
}

async function newsOf(
  { url, etag, lastModified }: Feed,
  { load, allow, signal }: LookOptions,
): Promise<News> {
  try {
    const loaded = await load(url, { etag, lastModified, allow, signal });
    return loaded && { ...loaded, ...await readFeed(loaded.text, loaded.url) };
  } catch (error) {
    if (error instanceof GetError) return error;
    throw error; // the bot ends
  }
}

/** Notes what was found, and what is to be said of it, in one commit: all of it or nothing. */
async function note(
  bot: Bot,
  outbox: Outbox,
  { key, state, news }: { readonly key: Key; readonly state: Feed; readonly news: News },
): Promise<void> {
  const { client } = bot;
  const [room] = key;
  if (news === undefined && state.failures === 0) return;
  if (news instanceof GetError || news === undefined) {
    const failures = news === undefined ? 0 : state.failures + 1;
    const wait = failures === 0 ? 0 : Math.min(RETRY * 2 ** (failures - 1), LONGEST_RETRY);
    await client.runTask(`feed ${crypto.randomUUID()}`, (context) => {
      let isTold = false;
      context.updateSession(FEEDS, key, (feed) => {
        isTold = feed.url !== "" && failures === TOLD;
        return feed.url === "" ? null : { ...feed, failures, next: client.api.clock.now() + wait };
      });
      const said = `I can't read ${state.title} (${state.url}): ${news?.message}. I go on trying.`;
      outbox.add(context, room, () => isTold ? [formatText(said)] : []);
    });
    return;
  }
  const { title, items, etag, lastModified } = news;
  const before = new Set(state.seen);
  const added = items.filter(({ id }) => !before.has(id));
  const messages = await Promise.all(
    added.slice(0, MAX_NEW).map(async (item) => ({ id: item.id, message: await messageOf(title, item) })),
  );
  await client.runTask(`feed ${crypto.randomUUID()}`, (context) => {
    let known: ReadonlySet<string> = new Set();
    let isFollowed = false;
    context.updateSession(FEEDS, key, (feed) => {
      known = new Set(feed.seen); // another instance may have said some of it by now
      isFollowed = feed.url !== "";
      const seen = [...new Set([...items.map(({ id }) => id), ...feed.seen])].slice(0, MAX_SEEN);
      return isFollowed ? { ...feed, title, etag, lastModified, seen, failures: 0, next: 0 } : null;
    });
    outbox.add(context, room, () => {
      if (!isFollowed) return [];
      const fresh = messages.filter(({ id }) => !known.has(id)).map(({ message }) => message).reverse();
      const more = added.filter(({ id }) => !known.has(id)).length - fresh.length;
      return more > 0 ? [formatText(`${title} has ${more} more.`), ...fresh] : fresh;
    });
  });
}
