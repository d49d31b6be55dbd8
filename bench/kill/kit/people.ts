/**
 * People who order and listen, one thing after the other in a room.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import type { Random } from "../random.ts";
import { isWholeTale, type KitText, readKitText } from "./script.ts";

/** A message of the bot, as it reads now. */
export interface Shown {
  readonly eventId: EventID;
  readonly roomId: RoomID;
  readonly text: string;
  /** What it said at first. */
  readonly first: string;
  /** When it was sent, by the server's clock, in milliseconds since the epoch. */
  readonly at: number;
}

/** Something that a person began. */
export interface Begun {
  readonly kind: "order" | "tell";
  readonly number: number;
  readonly roomId: RoomID;
  readonly eventId: EventID;
}

/** How often a person asks for a stream, does so in a thread, and answers by a reaction. */
const ODDS = { tell: 0.35, thread: 0.3, reaction: 0.5 };
/** The longest pause between two things, in milliseconds. */
const PAUSE_MS = 1_500;
/** After how long without a word of the bot a person says again that they are sure, in milliseconds. */
const REPEAT_MS = 30_000;

/** What somebody hears of the bot. */
export class Hearing {
  /** Whose ears it has. */
  readonly client: Client;
  /** The messages of the bot, in the order in which they came first. */
  readonly shown = new Map<EventID, Shown>();
  #news = Promise.withResolvers<void>();

  /**
   * @param client Whose ears it has.
   * @param bot The bot.
   */
  constructor(client: Client, bot: string) {
    this.client = client;
    client.on("m.room.message", (event) => {
      const { sender, event_id: eventId, room_id: roomId, content, origin_server_ts: at } = event;
      if (sender !== bot) return;
      const relation = content["m.relates_to"];
      const replaced = relation?.rel_type === "m.replace" ? relation.event_id : undefined;
      const before = replaced === undefined ? undefined : this.shown.get(replaced);
      if (replaced === undefined) {
        this.shown.set(eventId, { eventId, roomId, text: content.body, first: content.body, at });
      } else if (before !== undefined) {
        this.shown.set(replaced, { ...before, text: content["m.new_content"]?.body ?? "" });
      }
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  /** Waits until the bot has said something that will do. */
  async until(
    isIt: (said: KitText, text: string) => boolean,
    ending: AbortSignal,
  ): Promise<Shown | undefined> {
    const ended = new Promise<void>((resolve) => ending.addEventListener("abort", () => resolve()));
    for (;;) {
      const { promise } = this.#news;
      const found = [...this.shown.values()].find(({ text }) => isIt(readKitText(text), text));
      if (found !== undefined || ending.aborted) return found;
      await Promise.race([promise, ended]);
    }
  }
}

/** People in rooms. */
export class People {
  /** What they began, in order. */
  readonly begun: Begun[] = [];
  /** What they could not send, with the reason. */
  readonly failed: string[] = [];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #givingUp = new AbortController();
  readonly #all: Promise<void>[] = [];
  #number = 0;

  /** @param random Draws what they do. */
  constructor(random: Random) {
    this.#random = random;
  }

  /** Has somebody be in a room, and do things there until all stop. */
  enter(hearing: Hearing, roomId: RoomID): void {
    this.#all.push(this.#live(hearing, roomId));
  }

  /**
   * Waits until all have done what they began.
   *
   * @param patience For how long, in milliseconds.
   * @returns Whether they have.
   */
  async stop(patience: number): Promise<boolean> {
    this.#stopping.abort();
    const done = Promise.all(this.#all).then(() => true);
    const late = delay(patience, { signal: this.#givingUp.signal }).then(() => false, () => true);
    const isDone = await Promise.race([done, late]);
    this.#givingUp.abort();
    await done;
    return isDone;
  }

  async #live(hearing: Hearing, roomId: RoomID): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const number = this.#number++;
      try {
        await (this.#random() < ODDS.tell ? this.#tell(hearing, { roomId, number }) : this.#order(hearing, {
          roomId,
          number,
        }));
      } catch (error) {
        this.failed.push(`${number}: ${error}`);
      }
      await delay(this.#random() * PAUSE_MS, { signal }).catch(() => {});
    }
  }

  async #tell(
    hearing: Hearing,
    { roomId, number }: { readonly roomId: RoomID; readonly number: number },
  ): Promise<void> {
    const eventId = await hearing.client.sendText(roomId, `!tell ${number}`);
    this.begun.push({ kind: "tell", number, roomId, eventId });
    await hearing.until((_, text) => isWholeTale(text, number), this.#givingUp.signal);
  }

  async #order(
    hearing: Hearing,
    { roomId, number }: { readonly roomId: RoomID; readonly number: number },
  ): Promise<void> {
    const { client } = hearing;
    const ending = this.#givingUp.signal;
    const root = this.#random() < ODDS.thread
      ? await client.sendText(roomId, `about order ${number}`)
      : undefined;
    const relatesTo = root === undefined ? undefined : {
      rel_type: "m.thread",
      event_id: root,
      is_falling_back: true,
      "m.in_reply_to": { event_id: root },
    } as const;
    const say = (body: string) =>
      client.sendMessage(roomId, {
        msgtype: "m.text",
        body,
        ...relatesTo && { "m.relates_to": relatesTo },
      });
    const eventId = await say(`!order ${number}`);
    this.begun.push({ kind: "order", number, roomId, eventId });
    const asked = await hearing.until((said) => said.kind === "asks" && said.number === number, ending);
    if (asked === undefined) return;
    await say(`tea ${number}`);
    // An answer that the bot left out for a time is handled anew, with another count: it asks once more.
    const answered = new Set<string>();
    for (;;) {
      const next = await hearing.until(
        (said, text) =>
          said.kind === "takes" && said.number === number ||
          said.kind === "confirms" && said.number === number && !answered.has(text),
        AbortSignal.any([ending, AbortSignal.timeout(REPEAT_MS)]),
      );
      if (ending.aborted) return;
      if (next === undefined) {
        // It asks with the same message if that had been sent, and has left out what was said to it since.
        if (answered.size > 0) await say("yes");
        continue;
      }
      if (readKitText(next.text).kind === "takes") return;
      answered.add(next.text);
      if (this.#random() < ODDS.reaction) await client.react(roomId, next.eventId, "👍");
      else await say("yes");
    }
  }
}
