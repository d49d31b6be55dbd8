/**
 * Messages that are sent later: by the homeserver where it can, and by the bot where it can't.
 *
 * Over 300 lines because a third of it is the documentation of what applications see.
 *
 * @module
 */

import {
  type Client,
  defineSession,
  type HandlerContext,
  MatrixRequestError,
  NotFoundError,
} from "../../mod.ts";
import { PaginationDirection, type RoomID, type RoomMessageContent, type UserID } from "../../types.ts";
import { isCutOff, type Run, type RunTime } from "./run/mod.ts";
import { memberOf } from "./text/mod.ts";
import {
  isPassing,
  keyOf,
  readFilter,
  type Reminders,
  type RemindersFilter,
  type Timers,
} from "./timers/timers.ts";

/** A text that is sent later. */
export interface PendingText {
  /** Names it, as `c.later()` returned it. */
  readonly id: string;
  /** The time at which it is sent. */
  readonly due: Date;
  /** The room that it is sent to. */
  readonly roomId: RoomID;
  /** Who asked for it; undefined: nobody. */
  readonly by: UserID | undefined;
  /** The text, without its formatting. */
  readonly text: string;
}

/** The messages of a bot that are sent later. */
export interface LaterAPI {
  /**
   * Lists texts that have not been sent yet, the next one first.
   * {@linkcode RemindersAPI.list} lists reminders.
   *
   * @param filter Which ones. Default: all.
   * @throws {ValueError} If there is no such option.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addPlanned(bot: Bot): void {
   *   bot.command("planned", async (c) => {
   *     const [next] = await bot.later.list({ roomId: c.roomId });
   *     await c.reply(next === undefined ? "Nothing" : `${next.due.toISOString()}: ${next.text}`, { format: "plain" });
   *   });
   * }
   * ```
   */
  list(filter?: RemindersFilter): Promise<PendingText[]>;
  /**
   * Takes a message back that has not been sent.
   *
   * @param id Its ID, as `c.later()` returned it.
   * @returns Whether it was pending.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addUnsay(bot: Bot): void {
   *   bot.command("unsay <id>", async (c) => {
   *     await c.reply(await bot.later.cancel(c.args.id) ? "It won't be said." : "There is no such message.");
   *   });
   * }
   * ```
   */
  cancel(id: string): Promise<boolean>;
  /**
   * Has the time of a message begin again: it is sent as long after now as it was to be when it was set.
   *
   * @param id Its ID, as `c.later()` returned it.
   * @returns Whether it was pending.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addAlarm(bot: Bot): void {
   *   bot.command("watch", async (c) => {
   *     await c.reply(await c.later("10m", "Nobody has come by for ten minutes!"));
   *   });
   *   bot.command("here <id>", async (c) => void await bot.later.restart(c.args.id));
   * }
   * ```
   */
  restart(id: string): Promise<boolean>;
}

/** A message to be sent later. */
interface LaterMessage {
  readonly room: RoomID;
  readonly content: RoomMessageContent;
  /** Who asked for it; undefined: nobody. */
  readonly by: UserID | undefined;
  /** The ID of its delay at the homeserver; `null`: the bot sends it. */
  readonly delayId: string | null;
  /** When it is sent, in milliseconds since the epoch. */
  readonly due: number;
  /** After how long, in milliseconds. */
  readonly delay: number;
}

/** The same as it is kept. */
interface KeptMessage extends LaterMessage {
  /** Counts it among the reminders of its user. */
  readonly counted: string;
  readonly isCancelled: boolean;
  /**
   * Its time before it was to begin again, which it may have at the homeserver still; undefined: it has not.
   */
  readonly before?: number | undefined;
}

const LATER = defineSession<{ message: KeptMessage | undefined }>({
  name: "bot.later",
  per: () => undefined,
  initial: () => ({ message: undefined }),
});

/** The feature of homeservers that send events later. */
const DELAYED_EVENTS = "org.matrix.msc4140";
/** Names a message in the content that the homeserver has of it. */
const MARK = "greenroom.later";
/** Names the delay of an event that was delayed, where the homeserver says it. */
const DELAY_ID = "org.matrix.msc4140.delay_id";
/** Statuses of a homeserver that does not send this later: too late, too many, or nothing at all. */
const REFUSALS: readonly number[] = [400, 403, 404];
/** How long after its time the bot looks whether the homeserver has sent it, in milliseconds. */
const GRACE = 10_000;
/** How many of the bot's own messages are looked at, and how many are asked for at once. */
const [LOOKED_AT, PAGE] = [1_000, 100];

/** Has messages sent later. */
export class Later implements LaterAPI {
  readonly #client: Client;
  readonly #timers: Timers;
  readonly #reminders: Reminders;

  /**
   * @param client Sends, and stores.
   * @param timers Send what the homeserver does not.
   * @param reminders Count that.
   */
  constructor(client: Client, timers: Timers, reminders: Reminders) {
    this.#client = client;
    this.#timers = timers;
    this.#reminders = reminders;
    timers.handle("later", ({ id }, context) => this.#send(id, context));
  }

  /**
   * Has the homeserver send a message.
   *
   * @param id Names it, the same when the handler runs again.
   * @param key Names it for the homeserver, if its content may differ then.
   * @param time Of the function: none is sent when it is over.
   * @returns The ID of the delay; `null` if the homeserver can't:
   *   a message to an encrypted room is encrypted when it leaves.
   */
  async atServer(
    id: string,
    { room, content, delay }: Pick<LaterMessage, "room" | "content" | "delay">,
    key: string | undefined,
    time: RunTime,
  ): Promise<string | null> {
    const client = this.#client;
    if (!await client.supports(DELAYED_EVENTS) || await client.isRoomEncrypted(room)) return null;
    const options = { delay: Math.max(1, Math.round(delay)), key };
    const marked = { ...content, [MARK]: id };
    time.check();
    try {
      return await client.createDelayedEvent(room, "m.room.message", marked, options);
    } catch (error) {
      if (error instanceof MatrixRequestError && REFUSALS.includes(error.status)) return null;
      throw error;
    }
  }

  /**
   * Has the bot send a message, or see that the homeserver does, from the commit of a handler on.
   *
   * @param id Names it, the same when the handler runs again.
   * @param atServer Has the homeserver send it, once it is counted. Returns the ID of the delay, or `null`.
   * @returns Takes it back, when the handler has failed.
   * @throws {ValueError} If who asks has as many reminders as may be.
   */
  async add(
    { context, time }: Pick<Run, "context" | "time">,
    id: string,
    message: Omit<LaterMessage, "delayId">,
    atServer: () => Promise<string | null>,
  ): Promise<() => Promise<void>> {
    const counted = keyOf(message.due, id);
    await this.#reminders.take(context, message, counted);
    let delayId: string | null = null;
    try {
      delayId = await atServer();
      if (time.isOver) time.check(); // nobody undoes any more what it has begun
    } catch (error) {
      try {
        this.#reminders.release(context, message, counted);
      } catch { /* the handler has settled, and counts nothing */ }
      await this.#cancel(id, delayId);
      throw error;
    }
    const kept = { ...message, delayId, counted, isCancelled: false };
    context.updateSession(LATER, id, () => ({ message: kept }));
    this.#timers.add(context, timeOf(kept), { kind: "later", id }, id);
    if (delayId !== null) this.#checkSoon(id, context); // the room may have been encrypted since then
    return async () => {
      if (!await this.#cancel(id, delayId)) return;
      context.updateSession(LATER, id, () => null);
      this.#reminders.release(context, kept, counted);
    };
  }

  /** Takes a message back whose function has failed; returns whether the homeserver does not send it. */
  async #cancel(id: string, delayId: string | null): Promise<boolean> {
    try {
      if (delayId !== null) await found(this.#client.cancelDelayedEvent(delayId));
      return true;
    } catch (error) {
      if (isCutOff(error)) throw error;
      this.#client.log.warn("A text for later may be sent though its command has failed", { id, error });
      return false;
    }
  }

  async list(filter: RemindersFilter = {}): Promise<PendingText[]> {
    const isWanted = readFilter(filter, "list texts for later");
    const listed: PendingText[] = [];
    for await (const { key, state: { message } } of this.#client.sessions.list(LATER)) {
      if (message === undefined || message.isCancelled) continue;
      const { room, by, due, content } = message;
      const pending = { id: String(key), due: new Date(due), roomId: room, by, text: content.body };
      if (isWanted(pending)) listed.push(pending);
    }
    return listed.sort((one, other) => one.due.getTime() - other.due.getTime());
  }

  /** Has texts taken back from the homeserver whose room is encrypted by now: it would send them in clear. */
  async encrypted(room: RoomID, context: HandlerContext): Promise<void> {
    for await (const { key, state: { message } } of this.#client.sessions.list(LATER)) {
      if (message?.room === room && message.delayId !== null) this.#checkSoon(String(key), context);
    }
    await context.settle();
    this.#timers.wake();
  }

  /** Adds a timer, in the commit of a handler, that takes a message back if its room is encrypted by now. */
  #checkSoon(id: string, context: HandlerContext, delay = 0): void {
    this.#timers.add(context, this.#client.api.clock.now() + delay, { kind: "later", id }, id);
  }

  /**
   * Takes a message back that the homeserver would send in clear into an encrypted room.
   *
   * @returns Whether the bot sends it now.
   */
  async #takeBack(id: string, { room, delayId, isCancelled }: KeptMessage): Promise<boolean> {
    if (delayId === null || isCancelled || !await this.#client.isRoomEncrypted(room)) return false;
    if (!await found(this.#client.cancelDelayedEvent(delayId))) return false; // it was sent
    return await this.#change(id, (kept) => ({ ...kept, delayId: null }));
  }

  async cancel(id: string): Promise<boolean> {
    const { sessions } = this.#client;
    const { message } = await sessions.read(LATER, id) ?? {};
    if (message === undefined) return false;
    const { delayId, counted } = message;
    let isFound = true;
    if (delayId !== null) { // what is not found there any more is not sent by the bot
      if (!await this.#change(id, (kept) => ({ ...kept, isCancelled: true }))) return false;
      isFound = await found(this.#client.cancelDelayedEvent(delayId));
    }
    const wasThere = await this.#change(id, () => undefined);
    await this.#reminders.releaseNow(message, counted);
    return isFound && wasThere;
  }

  async restart(id: string): Promise<boolean> {
    const { api: { clock }, sessions } = this.#client;
    const { message } = await sessions.read(LATER, id) ?? {};
    if (message === undefined || message.isCancelled) return false;
    const { delayId, delay, due, before = delayId === null ? undefined : due } = message;
    // Kept first: after a crash the bot does not look too early.
    if (!await this.#change(id, (kept) => ({ ...kept, due: clock.now() + delay, before }))) return false;
    if (delayId === null) return true;
    const isFound = await found(this.#client.restartDelayedEvent(delayId));
    const wasThere = await this.#change(
      id,
      (kept) => ({ ...kept, due: isFound ? kept.due : before ?? due, before: undefined }),
    );
    return isFound && wasThere;
  }

  /** Changes what is kept; `undefined` removes it. Returns whether it was there. */
  async #change(id: string, change: (kept: KeptMessage) => KeptMessage | undefined): Promise<boolean> {
    let wasThere = false;
    await this.#client.sessions.update(LATER, id, ({ message }) => {
      wasThere = message !== undefined;
      const changed = message && change(message);
      return changed === undefined ? null : { message: changed };
    });
    return wasThere;
  }

  /** Sends a message whose time has come; one whose time has begun again waits for that. */
  async #send(id: string, context: HandlerContext): Promise<void> {
    const { message } = await this.#client.sessions.read(LATER, id) ?? {};
    if (message === undefined) return; // it was cancelled
    const at = timeOf(message);
    if (at > this.#client.api.clock.now()) return await this.#wait(id, message, context);
    try {
      if (!message.isCancelled && !await this.#hasArrived(id, message)) {
        await this.#client.sendMessage(message.room, message.content);
      }
    } catch (error) {
      if (!isPassing(error) && !isCutOff(error)) await this.cancel(id); // nobody tries it again
      throw error;
    }
    context.updateSession(LATER, id, () => null);
    this.#reminders.release(context, message, message.counted);
  }

  /** Has a message wait for its time, where it is safe until then. */
  async #wait(id: string, message: KeptMessage, context: HandlerContext): Promise<void> {
    try {
      const isTaken = await this.#takeBack(id, message);
      const at = isTaken ? message.due : timeOf(message);
      this.#timers.add(context, at, { kind: "later", id }, id);
    } catch (error) {
      if (isCutOff(error)) throw error;
      this.#client.log.warn("A text for later may be sent in clear: it is tried again to take it back", {
        id,
        error,
      });
      this.#checkSoon(id, context, GRACE);
    }
  }

  /** Whether the homeserver has sent a message. One that could not, at its time, does not try again. */
  async #hasArrived(id: string, { room, delayId, due, before = due }: KeptMessage): Promise<boolean> {
    if (delayId === null || await found(this.#client.cancelDelayedEvent(delayId))) return false;
    const senders = [this.#client.mxid as UserID]; // a bot that has started knows it
    const options = { limit: PAGE, filterJson: { senders, types: ["m.room.message"] } };
    let left = LOOKED_AT;
    const events = this.#client.iterateMessages(room, PaginationDirection.BACKWARD, options);
    for await (const { content, unsigned, origin_server_ts: sentAt } of events) {
      if (memberOf(content, MARK) === id || memberOf(unsigned, DELAY_ID) === delayId) return true;
      // A redaction takes the mark away: this may have been it.
      if (memberOf(content, "msgtype") === undefined && sentAt >= before - GRACE) return true;
      if (--left === 0) break;
    }
    return false;
  }
}

/** When the bot has to do something about it, in milliseconds since the epoch. */
function timeOf({ delayId, due }: LaterMessage): number {
  return delayId === null ? due : due + GRACE;
}

async function found(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}
