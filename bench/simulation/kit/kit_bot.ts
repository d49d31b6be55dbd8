/**
 * A bot of the kit in a process: the functions that an author has added, and the client of it as the
 * world uses it.
 *
 * Over 300 lines because what an author adds to a bot stands in one place.
 *
 * @module
 */

import { type Client, type HandlerContext, MatrixError } from "@greenroom/matrix";
import {
  Bot,
  type BotStoreKey,
  type Context,
  ConversationEndedError,
  ConversationError,
  defineSession,
  type WithSession,
} from "@greenroom/matrix/bot";
import type { RoomID, RoomMessageContent, SendOptions } from "@greenroom/matrix/types";
import { isCutOff } from "../../../src/bot/run/mod.ts";
import { nextJoin } from "../../../src/bot/policy/policy.ts";
import { describe } from "../../kill/answering.ts";
import type { Chance } from "../core/chance.ts";
import type { Device } from "../world/device.ts";
import type { Process } from "../world/process.ts";
import type { Surroundings } from "../world/surroundings.ts";
import { isOpenToAll, numberOf, readAnswer, SEVERAL, timeoutOf } from "./kit_texts.ts";
import { isTakenBack } from "./taken_back.ts";

/** What was counted in a room, in order. */
export const totals = defineSession({ name: "totals", per: "room", initial: () => ({ by: [] as string[] }) });
/** The orders of a user, in order. */
export const orders = defineSession({ name: "orders", per: "user", initial: () => ({ by: [] as number[] }) });

/** What the bot's functions have as `c.session`: the orders of a user in a room. */
const session = { name: "own", per: "member", initial: () => ({ by: [] as number[] }) } as const;
/** The same, for those who judge. */
export const own = defineSession(session);
type Taught = Context & WithSession<{ by: number[] }>;

/** The key in `bot.store` of what functions have counted in a room, in order. */
export const countedKey = (room: string): BotStoreKey => ["counted", room];

/** How soon a reminder is due, in milliseconds. */
const [REMINDER, LATER_REMINDER] = [3_000, 4_000];
/** How many pieces a streamed text has, and how long each takes at most, in milliseconds. */
const [PIECES, PIECE] = [5, 1_500];
/** When the schedule is due: once in most worlds. */
const SCHEDULE = "1 * * * *";
/** What models fail with. */
const DEAD = new TypeError("the model died");
/** How long a bot waits for what was said while it was away, once it has asked for that, in milliseconds. */
const PATIENCE = 60_000;
/** How much later than it says a function for reminders may be called, in milliseconds. */
const PROMPT = 60_000;

/** Where a bot runs. */
export interface KitPlace {
  readonly device: Device;
  readonly process: Process;
  readonly world: Surroundings;
  /** Decides how long things take. */
  readonly pace: Chance;
}

/** A bot, and its client as the world uses it. */
export interface KitBot {
  readonly bot: Bot;
  readonly client: Client;
}

/** Makes a bot of a client. */
export function kitBot(client: Client, place: KitPlace): KitBot {
  const { start, close } = client;
  countWork(client, place);
  watchSends(client, place);
  let settings: Parameters<Client["start"]>[0] = {};
  const bot = new Bot<Taught>({
    session,
    appservice: {
      botClient: client,
      fetch: (request) => client.fetch(request), // who reads it says that no process stays
      start: ({ signal } = {}) => start({ ...settings, signal }),
      stop: () => client.stop(),
      close: () => close.call(client),
    },
    rateLimit: false,
    saysFailures: false,
  });
  teachKit(bot, place);
  const instead: Partial<Client> = {
    start: (options) => {
      settings = options;
      return bot.start({ signals: false });
    },
    close: () => bot.close(),
    syncOnce: (options) => bot.syncOnce({ ignoreInitialSync: false, ...options }),
    fetch: (request) => bot.fetch(request),
  };
  const acting = new Proxy(client, {
    get(target, name) {
      const own = Reflect.get(instead, name);
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { bot: bot as unknown as Bot, client: acting }; // the world looks at it from outside of functions
}

/** Has a process know how many functions of the kit are at work. */
function countWork(client: Client, { process }: KitPlace): void {
  const counted = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    process.handlers++;
    try {
      return await work();
    } finally {
      process.handlers--;
    }
  };
  const add = client.addEventHandler.bind(client) as (...args: unknown[]) => unknown;
  client.addEventHandler =
    ((type: unknown, handler: (...args: unknown[]) => Promise<unknown>, ...options: unknown[]) =>
      add(
        type,
        (...args: unknown[]) => counted(() => handler(...args)),
        ...options,
      )) as Client["addEventHandler"];
  const run = client.runTask.bind(client);
  client.runTask = (name, work) =>
    run(name, (context: HandlerContext) => counted(() => work(context) as never));
}

/** Has the device remember what it knew when it was asked to send something, and where it could not join. */
function watchSends(client: Client, { device, world }: KitPlace): void {
  const send = client.sendMessage.bind(client);
  client.sendMessage = (room: RoomID, content: string | RoomMessageContent, options?: SendOptions) => {
    if (typeof content === "string") return send(room, content, options); // the kit sends whole contents
    const isEdit = content["m.relates_to"]?.rel_type === "m.replace";
    device.knownAt.getOrInsert(`${isEdit ? "* " : ""}${content.body}`, device.seen);
    device.kit?.putAt.set(String(content.body), world.timeline.now);
    const sent = send(room, content, options);
    if (String(content.body).startsWith("said of ")) { // no function awaits it
      sent.catch((error) => isCutOff(error) || device.kit?.failed.set(String(content.body), describe(error)));
    }
    return sent;
  };
  const join = client.joinRoom.bind(client);
  client.joinRoom = (room, options) =>
    join(room, options).catch((error) => {
      if (nextJoin(error, 0) === undefined) device.account.unjoined.add(room as RoomID);
      throw error;
    });
}

/** Adds the functions. */
function teachKit(bot: Bot<Taught>, { device, process, world, pace }: KitPlace): void {
  const { kit } = device;
  if (kit === undefined) return;
  const { clock } = process;
  const problem = (what: string): void => {
    if (!device.loss.isSuffered) world.violate(`${device.name}: ${what}`); // it has forgotten what it took
  };

  /** Notes how something failed that could go on. */
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!isCutOff(error)) {
        world.note(`${device.name} fails with "${what}": ${describe(error)}`);
        kit.failed.set(what, describe(error));
        if (!(error instanceof MatrixError) || error instanceof ConversationError) {
          if (error !== DEAD) problem(`"${what}" failed: ${describe(error)}`);
        }
      }
      throw error;
    }
  };

  /** Does not await something, as an author who forgets to. */
  const forget = (what: string, work: Promise<unknown>): void => {
    world.reach("kit: a step is not awaited");
    work.catch((error) => {
      if (!isCutOff(error)) kit.failed.set(what, describe(error));
    });
  };

  /** Counts in the session of the room, and in `bot.store`; returns how much was counted. */
  const count = async (c: Context, entry: string): Promise<number> => {
    const total = await c.getSession(totals);
    total.by.push(entry);
    const key = countedKey(c.roomId);
    await bot.store.set(key, [...await bot.store.get<string[]>(key) ?? [], entry]);
    return total.by.length;
  };

  /** Asks; other texts are told so. */
  const ask = async (c: Context, number: number, question: string): Promise<void> => {
    const answer = await c.ask(`${question} of ${number}`, {
      from: isOpenToAll(number) ? "anyone" : c.sender,
      timeout: timeoutOf(number),
      check: ({ text }) => {
        const read = readAnswer(text);
        return read?.command === number && read.question === question
          ? undefined
          : `nothing of ${/ \d+$/.test(text) ? numberOf(text) : text}`; // another bot's words have no number
      },
    });
    const isGone = (before: number): boolean => isTakenBack(world, kit, before);
    kit.take(`${question} of ${number}`, numberOf(answer.text), { isGone, onProblem: problem });
    kit.takenSince.getOrInsert(`${question} of ${number}`, process.askedAt);
  };

  /** Has a conversation, which may end without an answer. */
  const converse = async (c: Context, number: number, talk: () => Promise<unknown>): Promise<void> => {
    const begun = await c.step(() => clock.now());
    try {
      await talk();
    } catch (error) {
      if (!(error instanceof ConversationEndedError)) throw error;
      const { reason } = error;
      const at = clock.now();
      if (reason === "timeout" && !kit.isSkewed && at < begun + timeoutOf(number)) {
        problem(`the conversation ${number} timed out ${begun + timeoutOf(number) - at} ms early`);
      }
      world.reach(`kit: a conversation ended by ${reason}`);
      const isDeaf = !process.isTold && world.timeline.now < process.askedAt + PATIENCE;
      kit.ended.set(number, { reason, at, since: process.askedAt, isDeaf });
      await c.send(`ended of ${number} by ${reason}`);
    }
  };

  bot.command("order [text...]", (c) => {
    const number = numberOf(c.text);
    return attempt(`order of ${number}`, () =>
      converse(c, number, async () => {
        await ask(c, number, "what");
        const mine = await c.getSession(orders);
        mine.by.push(number);
        c.session.by.push(number);
        const token = await c.step(() => pace.below(1_000_000));
        await ask(c, number, "many");
        const isSure = number % 2 === 0 || await c.confirm(`sure of ${number}`, {
          timeout: timeoutOf(number),
          clearReactions: true,
        });
        const place = await count(c, `ordered of ${number}`);
        if (number % 5 === 1) await clock.delay(pace.below(4_000));
        await c.reply(`ordered of ${number} ${isSure} with ${token} as ${place}`);
        await c.remind({ in: REMINDER + (number % 4) * LATER_REMINDER }, `remind of ${number}`);
        world.reach("kit: a conversation came to its end");
      }));
  });
  bot.command("survey [text...]", (c) => {
    const number = numberOf(c.text);
    return attempt(`survey of ${number}`, () =>
      converse(c, number, async () => {
        await ask(c, number, "any");
        await c.send(`surveyed of ${number}`);
      }));
  });
  bot.command("tell [text...]", (c) => {
    const number = numberOf(c.text);
    const pieces = async function* (): AsyncGenerator<string> {
      yield `told of ${number}`;
      for (let piece = 1; piece <= PIECES; piece++) {
        await clock.delay(pace.below(PIECE));
        if (number % 5 === 0 && piece === PIECES) throw DEAD;
        yield ` piece ${piece}`;
      }
    };
    return attempt(`tell of ${number}`, () => c.stream(pieces(), { interval: 500 }));
  });
  bot.command("remind [text...]", (c) => {
    const number = numberOf(c.text);
    return attempt(`remind of ${number}`, async () => {
      const due = clock.now() + REMINDER + (number % 4) * LATER_REMINDER;
      await c.remind(new Date(due), { name: "told", data: { number, due } });
      await c.reply(`noted of ${number}`);
    });
  });
  bot.command("later [text...]", (c) => {
    const number = numberOf(c.text);
    return attempt(`later of ${number}`, async () => {
      await c.later({ in: REMINDER + (number % 4) * LATER_REMINDER }, `said of ${number}`);
      await c.reply(`set of ${number}`);
    });
  });
  bot.command("several [text...]", (c) => {
    const number = numberOf(c.text);
    for (const [index, part] of SEVERAL.entries()) {
      const format = index % 2 === 0 ? "html" : "plain"; // which takes less time
      forget(`several of ${number}`, c.send(`${part} of ${number}`, { format }));
    }
  });
  bot.reminder("told", (c) => {
    const { number, due } = c.data as { readonly number: number; readonly due: number };
    const now = clock.now();
    if (c.due.getTime() !== due) problem(`reminder ${number} is for ${c.due.getTime()}, and not ${due}`);
    if (!kit.isSkewed) {
      if (now < due) problem(`reminder ${number} is ${due - now} ms early`);
      if (c.late < 0 || Math.abs(now - due - c.late) > PROMPT) {
        problem(`reminder ${number} says that it is ${c.late} ms late, and is ${now - due}`);
      }
    }
    if (c.late > 300_000) world.reach("kit: a reminder came late");
    return attempt(`reminded of ${number}`, () => c.send(`reminded of ${number}`));
  });
  bot.every(SCHEDULE, async (c) => {
    const due = c.due.getTime();
    if (!kit.isSkewed && clock.now() < due) problem(`what comes again and again came at ${due} too early`);
    const before = kit.ticks.at(-1);
    if (before !== undefined && !kit.isSkewed && due < before) problem(`what was due at ${due} came again`);
    kit.ticks.push(due);
    const { room } = kit;
    if (room !== undefined) await attempt(`tick at ${due}`, () => c.in(room).send(`tick at ${due}`));
  });
  bot.on("reaction", ({ sender, event }) => {
    const { event_id: to, key } = event.content["m.relates_to"];
    kit.untakenReactions.push({ to, key, sender, at: clock.now() });
  });
  bot.on("message:text", async (c) => {
    const answer = readAnswer(c.text);
    if (answer !== undefined) {
      kit.untaken.push({ ...answer, at: clock.now() });
      await attempt(`nobody of ${answer.answer}`, () => c.reply(`nobody of ${answer.answer}`));
    } else if (/^peer \S+ \d+$/.test(c.text)) {
      const number = numberOf(c.text);
      await attempt(`reply to ${number}`, async () => {
        const place = await count(c, `reply to ${number}`);
        if (number % 4 === 0) await clock.delay(pace.below(3_000));
        const said = c.reply(`reply ${place} to ${number}`);
        if (number % 6 === 1) forget(`reply to ${number}`, said);
        else await said;
      });
    }
  });
}
