/**
 * A room in which a bot speaks outside of its functions.
 *
 * @module
 */

import type { EventID, RoomID } from "../../../types.ts";
import type { Client } from "../../../mod.ts";
import { Begun, currentRun, Run, RunTime } from "../run/mod.ts";
import type { BotParts } from "../bot_parts.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type { BotMedia, FileOptions, ImageOptions } from "./pictures.ts";
import { RoomContext } from "./room_context.ts";
import type { WriteOptions } from "./writing.ts";

/** A room, or a thread in it. */
interface Place {
  readonly room: RoomID;
  readonly thread?: EventID;
}

/** Does something in a room, when the bot has started. */
type Act = <Result>(work: (c: RoomContext) => Promise<Result>) => Promise<Result>;

/**
 * A room, or a thread in it, in which a bot speaks outside of its functions, as it does in them: made by
 * {@linkcode Bot.in}. What is called first is done first, awaited or not.
 */
export class BotRoom {
  /** Where it acts. */
  readonly roomId: RoomID;
  /** The first event of the thread; undefined: none. */
  readonly thread: EventID | undefined;
  readonly #act: Act;

  /** @internal Made by the bot. */
  constructor({ room, thread }: Place, act: Act) {
    this.roomId = room;
    this.thread = thread;
    this.#act = act;
  }

  /** Sends text: see {@linkcode RoomContext.send}. */
  send(text: string, options?: WriteOptions): Promise<EventID> {
    return this.#act((c) => c.send(text, options));
  }

  /** Replaces a message of the bot's: see {@linkcode RoomContext.edit}. */
  edit(eventId: EventID, text: string, options?: WriteOptions): Promise<EventID> {
    return this.#act((c) => c.edit(eventId, text, options));
  }

  /** Reacts to an event: see {@linkcode RoomContext.reactTo}. */
  reactTo(eventId: EventID, key: string): Promise<EventID> {
    return this.#act((c) => c.reactTo(eventId, key));
  }

  /** Redacts an event: see {@linkcode RoomContext.redact}. */
  redact(...args: Parameters<RoomContext["redact"]>): ReturnType<RoomContext["redact"]> {
    return this.#act((c) => c.redact(...args));
  }

  /** Sends an image: see {@linkcode RoomContext.sendImage}. */
  sendImage(data: BotMedia, options?: ImageOptions): Promise<EventID> {
    return this.#act((c) => c.sendImage(data, options));
  }

  /** Sends a file: see {@linkcode RoomContext.sendFile}. */
  sendFile(data: BotMedia, options?: FileOptions): Promise<EventID> {
    return this.#act((c) => c.sendFile(data, options));
  }

  /** Begins a poll: see {@linkcode RoomContext.sendPoll}. */
  sendPoll(...args: Parameters<RoomContext["sendPoll"]>): ReturnType<RoomContext["sendPoll"]> {
    return this.#act((c) => c.sendPoll(...args));
  }

  /** Ends a poll, and counts the votes: see {@linkcode RoomContext.endPoll}. */
  endPoll(poll: EventID): ReturnType<RoomContext["endPoll"]> {
    return this.#act((c) => c.endPoll(poll));
  }

  /** Sends a text that grows: see {@linkcode RoomContext.stream}. */
  stream(text: AsyncIterable<string>, options?: StreamOptions): Promise<Streamed> {
    return this.#act((c) => c.stream(text, options));
  }
}

/** What {@link BotRooms} work with. */
interface BotRoomsOptions {
  readonly client: Client;
  readonly parts: BotParts;
  /** Resolves when the bot may speak. */
  readonly started: () => Promise<void>;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/** Makes rooms to speak in, and keeps the order of each. */
export class BotRooms {
  readonly #options: BotRoomsOptions;
  /** What is under way, by room. */
  readonly #begun = new Map<RoomID, Begun>();

  /** @param options What they work with. */
  constructor(options: BotRoomsOptions) {
    this.#options = options;
  }

  /** A room, or a thread in it. */
  in(place: Place): BotRoom {
    return new BotRoom(place, (work) => this.#act(place, work));
  }

  async #act<Result>(place: Place, work: (c: RoomContext) => Promise<Result>): Promise<Result> {
    const { parts } = this.#options;
    const inside = currentRun(); // of a function, whose step it is
    if (inside !== undefined) return await work(new RoomContext(parts, inside, place));
    const { room } = place;
    const begun = this.#begun.get(room) ?? new Begun();
    this.#begun.set(room, begun);
    try {
      return await begun.during(() => begun.inTurn(() => this.#outside(place, work)));
    } finally {
      if (begun.isIdle) this.#begun.delete(room);
    }
  }

  async #outside<Result>(place: Place, work: (c: RoomContext) => Promise<Result>): Promise<Result> {
    const { client, parts, started, signal } = this.#options;
    await started();
    return await client.runTask(`in ${crypto.randomUUID()}`, async (context) => {
      const run = new Run({ context, time: new RunTime(signal) });
      try {
        const result = await work(new RoomContext(parts, run, place));
        await run.begun.settled();
        return result;
      } finally {
        for (const call of run.atEnd) call();
      }
    });
  }
}
