/** What is to be said: kept until the homeserver has it, and said once. */

import { type HandlerContext, MatrixRequestError } from "@greenroom/matrix";
import { type Bot, defineSession, type FormattedMessage } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";

/** Messages, by their room, and a second part of the key that has their time. */
const OUTBOX = defineSession({
  name: "feed.outbox",
  per: "thread",
  initial: () => ({ messages: new Array<FormattedMessage>() }),
});
/** How much of a room may wait, and for how long it is tried. */
const MAX_WAITING = 100;
const PATIENCE = 86_400_000;

/** What a bot is to say in its rooms. */
export class Outbox {
  readonly #bot: Bot;
  #isAsked = false;
  #sending: Promise<void> | undefined;

  constructor(bot: Bot) {
    this.#bot = bot;
  }

  /**
   * Adds messages, in the commit of the work that has made them.
   *
   * @param messages Called in that commit: after what the work has changed before.
   */
  add(context: HandlerContext, room: RoomID, messages: () => FormattedMessage[]): void {
    const time = String(this.#bot.client.api.clock.now()).padStart(15, "0"); // they are listed in this order
    context.updateSession(OUTBOX, [room, `${time} ${crypto.randomUUID()}`], () => {
      const made = messages();
      return made.length === 0 ? null : { messages: made };
    });
  }

  /** Whether too much waits for a room. */
  async isFull(room: RoomID): Promise<boolean> {
    let count = 0;
    const within = { after: [room, ""], before: [room, "~"] } as const;
    for await (const _ of this.#bot.client.sessions.list(OUTBOX, within)) {
      if (++count >= MAX_WAITING) return true;
    }
    return false;
  }

  /** Says what waits: rooms side by side, each in order. What can't be said now waits for the next time. */
  async send(): Promise<void> {
    this.#isAsked = true;
    await (this.#sending ??= this.#sendAll().finally(() => this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      const waiting = await Array.fromAsync(this.#bot.client.sessions.list(OUTBOX), ({ key }) => key);
      const rooms = Map.groupBy(waiting as [RoomID, string][], ([room]) => room);
      await Promise.all(rooms.values().map((keys) => this.#sendRoom(keys)));
    }
  }

  async #sendRoom(keys: readonly [RoomID, string][]): Promise<void> {
    const { client } = this.#bot;
    for (const key of keys) {
      const [room, id] = key;
      try {
        // After a crash the task has the same name, and so what it sends the same transaction IDs.
        await client.runTask(`outbox ${id}`, async (context) => {
          const { messages } = await client.sessions.read(OUTBOX, key) ?? { messages: [] };
          for (const [index, message] of messages.entries()) {
            await client.sendMessage(room, { msgtype: "m.notice", ...message }, { key: String(index) });
          }
          context.updateSession(OUTBOX, key, () => null);
        });
      } catch (error) {
        const isHopeless = isRefused(error) || client.api.clock.now() - parseInt(id) > PATIENCE;
        client.log.warn(isHopeless ? "A message is dropped" : "A message waits", { room, error });
        if (!isHopeless) return;
        await client.sessions.end(OUTBOX, key);
      }
    }
  }
}

/** Whether the homeserver would say no again: the bot was thrown out of the room, for one. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof MatrixRequestError)) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status);
}
