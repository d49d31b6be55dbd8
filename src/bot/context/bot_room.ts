/**
 * A room in which a bot speaks: as a step of a function, or outside of its functions.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { relationTo } from "../../../mod.ts";
import type { ContentURI, EventID, ImageInfo, RoomID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import type { Kit } from "../kit.ts";
import { endPoll, POLL, type PollTally, sendPoll, type SendPollOptions } from "../polls/mod.ts";
import { Begun, currentRun, Run } from "../run/mod.ts";
import { STREAM, type Streamed, type StreamOptions, streamText } from "./stream.ts";
import {
  type BotMedia,
  captioned,
  checkText,
  contentOf,
  FILE,
  type FileOptions,
  IMAGE,
  type ImageOptions,
  mentionsOf,
  notifiedBy,
  type Placing,
  sendPicture,
  STICKER,
  type StickerOptions,
  WRITE,
  write,
  writeOne,
  type WriteOptions,
  writePlain,
  type Written,
} from "./writing.ts";

/** A room, or a thread in it. */
export interface Place {
  readonly room: RoomID;
  readonly thread?: EventID;
}

/**
 * A room, or a thread in it, in which a bot speaks. {@linkcode Bot.in} makes one to speak in outside of the bot's
 * functions: what is called first is done first, awaited or not.
 */
export class BotRoom {
  /** The room that it sends to. */
  readonly roomId: RoomID;
  /** The first event of the thread; undefined: none. */
  readonly thread: EventID | undefined;
  /** @internal What the bot is made of. */
  protected readonly kit: Kit;
  readonly #outside: BotRooms | undefined;

  /** @internal Made by the bot. */
  constructor(kit: Kit, { room, thread }: Place, outside?: BotRooms) {
    this.kit = kit;
    this.roomId = room;
    this.thread = thread;
    this.#outside = outside;
  }

  /** @internal Does something in a run: that of the function in which this is called, or one of its own. */
  protected async within<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const run = currentRun();
    return await (run === undefined ? this.#outside?.act(this.roomId, work) : work(run)) as Result;
  }

  /**
   * Sends text: into the thread, if it is in one.
   *
   * The text is Markdown, and a link to a user notifies that user. What others wrote is sent with
   * `format: "plain"`, so that nobody is notified by it; or, within Markdown, by `escapeMarkdown()`.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The ID of the event, or of the first.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer, escapeMarkdown } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("say <words...>", (c) => c.send(c.args.words, { format: "plain" }));
   * plugin.command("shout <words...>", (c) => c.send(`**${escapeMarkdown(c.args.words)}**`));
   * ```
   */
  send(text: string, options: WriteOptions = {}): Promise<EventID> {
    return this.sendTo(text, options, { thread: this.thread });
  }

  /** @internal Sends text; without `mentions`, to the notice of those who are linked, and others. */
  protected async sendTo(text: string, options: WriteOptions, placing: Placing): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, WRITE, "send");
      checkText(text, "write a message"); // while the application's line is known
      const plain = writePlain(text, options.format);
      return run.act(
        "send",
        () =>
          plain === undefined
            ? this.#sendParts(text, options, placing)
            : this.#sendPart(plain, 0, options, placing),
      );
    });
  }

  async #sendParts(text: string, options: WriteOptions, placing: Placing): Promise<EventID> {
    let first: EventID | undefined;
    for (const [index, part] of (await write(text, options.format)).entries()) {
      const id = await this.#sendPart(part, index, options, placing);
      first ??= id;
    }
    return first as EventID; // there is one at least
  }

  #sendPart(
    part: Written,
    index: number,
    { msgtype = this.kit.msgtype, mentions: asked, sendKey: key }: WriteOptions,
    placing: Placing,
  ): Promise<EventID> {
    const relatesTo = relationTo(index === 0 ? placing : { thread: placing.thread });
    const mentions = notifiedBy(part, index, asked, placing.notifies);
    const content = contentOf(part, { msgtype, mentions, relatesTo });
    const options = key === undefined ? undefined : { key: key && `${key} ${index}` };
    return this.kit.client.sendMessage(this.roomId, content, options);
  }

  /**
   * Replaces a message of the bot's.
   *
   * @param eventId The message.
   * @param text What it says from now on: as much as one message holds.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The ID of the edit.
   * @throws {ValueError} If the text does not fit into one message.
   */
  async edit(eventId: EventID, text: string, options: WriteOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, WRITE, "send");
      return run.act("edit", () => this.#edit(eventId, text, options));
    });
  }

  async #edit(eventId: EventID, text: string, options: WriteOptions): Promise<EventID> {
    const { format, msgtype = this.kit.msgtype, sendKey: key } = options;
    const part = await writeOne(text, format, {
      action: "edit a message",
      mend: "edit it to what fits into one, and send the rest",
    });
    const relatesTo = { rel_type: "m.replace", event_id: eventId } as const;
    const mentions = notifiedBy(part, 0, options.mentions);
    const content = contentOf(part, { msgtype, mentions, relatesTo });
    return await this.kit.client.sendMessage(this.roomId, content, { key });
  }

  /**
   * Reacts to an event.
   *
   * @param eventId The event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   */
  async reactTo(eventId: EventID, key: string): Promise<EventID> {
    return await this.within((run) =>
      run.act("react", () => this.kit.client.react(this.roomId, eventId, key))
    );
  }

  /**
   * Redacts an event.
   *
   * @param eventId The event.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   */
  async redact(eventId: EventID, reason?: string): Promise<EventID> {
    return await this.within((run) =>
      run.act("redact", () => this.kit.client.redact(this.roomId, eventId, { reason }))
    );
  }

  /**
   * Sends an image, with its size, a smaller version and a blurred one, as far as they can be made.
   *
   * @param data The image: PNG, JPEG, GIF or WebP.
   * @param options Its name, what it shows, its caption, and what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If the caption does not fit into one message.
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("cat", async (c) => {
   *   const response = await fetch("https://cats.example/cat.png", { signal: c.signal });
   *   await c.sendImage(await response.blob(), { fileName: "cat.png", caption: "**A cat**" });
   * });
   * ```
   */
  async sendImage(data: BotMedia, options: ImageOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, IMAGE, "sendImage");
      return run.act(
        "image",
        async () => sendPicture(this.kit.client, this.roomId, data, await captioned(options, this.thread)),
      );
    });
  }

  /**
   * Sends a file.
   *
   * @param data The file.
   * @param options Its name, kind, media type and caption, and what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If the caption does not fit into one message.
   */
  async sendFile(data: BotMedia, options: FileOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, FILE, "sendFile");
      return run.act("file", async () => {
        const { fileName, fileType, mimeType, ...more } = await captioned(options, this.thread);
        const info = mimeType === undefined ? undefined : { mimetype: mimeType };
        return await this.kit.client.sendFile(this.roomId, data, { fileName, fileType, info, ...more });
      });
    });
  }

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  async sendSticker(url: ContentURI, info: ImageInfo = {}, options: StickerOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, STICKER, "sendSticker");
      const { mentions, thread = this.thread, ...more } = options;
      const placed = { ...more, thread, mentions: mentions && mentionsOf(mentions) };
      return run.act("sticker", () => this.kit.client.sendSticker(this.roomId, url, info, placed));
    });
  }

  /**
   * Begins a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param question The question.
   * @param answers The answers, 1 to 20.
   * @param options How many a user may choose, and whether votes are shown before the end.
   * @returns The ID of the poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are too many answers, or none.
   */
  async sendPoll(
    question: string,
    answers: readonly string[],
    options: SendPollOptions = {},
  ): Promise<EventID> {
    return await this.within((run) => {
      checkOptions(options, POLL, "sendPoll");
      const poll = { ...options, question, answers, relatesTo: relationTo({ thread: this.thread }) };
      return run.act("poll", () => sendPoll(this.kit.client, this.roomId, poll));
    });
  }

  /**
   * Ends a poll of the bot's, and says in it what it came to.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll Its ID.
   * @returns The votes by answer, and who has won.
   * @throws {ValueError} If it is no poll.
   */
  async endPoll(poll: EventID): Promise<PollTally> {
    return await this.within((run) => run.act("end poll", () => endPoll(this.kit.client, this.roomId, poll)));
  }

  /**
   * Sends text as it comes, a model's answer for one: a message that grows by edits.
   *
   * Each edit is whole Markdown, however the text was cut. Edits come no more often than `interval`
   * says, and no faster than the server takes them; the last one is always sent. A text that
   * outgrows a message goes on in the next one. If the text fails midway, what came is kept, with a
   * note. After a crash the handler runs again, and what it streams then replaces what the message
   * said.
   *
   * @param text The pieces of the text.
   * @param options How often to edit, and as for {@linkcode BotRoom.send}.
   * @returns The messages, and the text.
   * @throws What the text throws.
   */
  async stream(text: AsyncIterable<string>, options: StreamOptions = {}): Promise<Streamed> {
    return await this.within((run) => {
      checkOptions(options, STREAM, "stream");
      const begun = options.inThread === true ? this.answered : undefined;
      const placing = { thread: this.thread ?? begun, replyTo: this.answered };
      const { client } = this.kit;
      const { msgtype = this.kit.msgtype } = options;
      const parts = { ...options, msgtype, client, room: this.roomId, signal: run.time.signal, placing };
      return run.step("stream", (at) => streamText(text, { ...parts, name: `stream ${at}` }));
    });
  }

  /** @internal The event that is answered. */
  protected get answered(): EventID | undefined {
    return undefined;
  }
}

/** Makes rooms to speak in outside of functions, and keeps the order of each. */
export class BotRooms {
  readonly #kit: Kit;
  readonly #started: () => Promise<void>;
  /** What is under way, by room. */
  readonly #begun = new Map<RoomID, Begun>();

  /**
   * @param kit Of the bot.
   * @param started Resolves when the bot may speak.
   */
  constructor(kit: Kit, started: () => Promise<void>) {
    this.#kit = kit;
    this.#started = started;
  }

  /** A room, or a thread in it. */
  in(place: Place): BotRoom {
    return new BotRoom(this.#kit, place, this);
  }

  /** Does something in a run of its own, after what was begun in the room before. */
  async act<Result>(room: RoomID, work: (run: Run) => Promise<Result>): Promise<Result> {
    const begun = this.#begun.get(room) ?? new Begun();
    this.#begun.set(room, begun);
    try {
      return await begun.during(() => begun.inTurn(() => this.#act(work)));
    } finally {
      if (begun.isIdle) this.#begun.delete(room);
    }
  }

  async #act<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    await this.#started();
    return await this.#kit.client.runTask(`in ${crypto.randomUUID()}`, async (context) => {
      const run = new Run({ context, time: this.#kit.newTime() });
      try {
        const result = await work(run);
        await run.begun.settled();
        return result;
      } finally {
        for (const call of run.atEnd) call();
      }
    });
  }
}
