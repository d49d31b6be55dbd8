/**
 * What a bot says in a room: messages, edits, reactions, and text as it comes.
 *
 * @module
 */

import { relationTo } from "../../../mod.ts";
import type { EventID, RoomID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import type { Kit } from "../kit.ts";
import type { Run } from "../run/mod.ts";
import { STREAM, type Streamed, type StreamOptions, streamText } from "./stream.ts";
import {
  type BotSendOptions,
  checkNamed,
  checkReason,
  checkText,
  contentOf,
  notifiedBy,
  type Placing,
  SEND,
  WRITE,
  write,
  writeOne,
  type WriteOptions,
  writePlain,
  type Written,
} from "./writing.ts";

/** Options of {@linkcode Bot.in}. */
export interface BotRoomOptions {
  /** The first event of the thread to speak in. Default: none, the room itself. */
  readonly thread?: EventID;
}

/** A room, or a thread in it. */
export interface Place extends BotRoomOptions {
  readonly room: RoomID;
}

/** @internal What {@linkcode BotRoom} has for messages. */
export abstract class RoomMessages {
  /** The ID of the room: what is sent goes there. */
  readonly roomId: RoomID;
  /** The first event of the thread; undefined outside of threads. */
  readonly thread: EventID | undefined;
  /** @internal What the bot is made of. */
  protected readonly kit: Kit;

  /** @internal Made by the bot. */
  constructor(kit: Kit, { room, thread }: Place) {
    this.kit = kit;
    this.roomId = room;
    this.thread = thread;
  }

  /** @internal Does something in a run: that of the function in which this is called, or one of its own. */
  protected abstract within<Result>(work: (run: Run) => Promise<Result>): Promise<Result>;

  /**
   * Sends text: into the thread, if it is in one.
   *
   * The text is Markdown, and a link to a user notifies that user. What others wrote is sent with
   * `format: "plain"`, so that nobody is notified by it; or, within Markdown, by `escapeMarkdown()`.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies, what it replies to.
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
  send(text: string, options: BotSendOptions = {}): Promise<EventID> {
    return this.sendTo(text, options, { thread: this.thread, replyTo: options?.replyTo }, SEND);
  }

  /** @internal Sends text; without `mentions`, to the notice of those who are linked, and others. */
  protected async sendTo(
    text: string,
    options: WriteOptions,
    placing: Placing,
    known: Readonly<Record<string, true>> = WRITE,
  ): Promise<EventID> {
    return await this.within((run) => {
      checkNamed(options, known, "send");
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
   * Edits a message that the bot has sent: replaces its text.
   *
   * @param eventId The ID of the message.
   * @param text The new text, no longer than fits into one message.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The ID of the edit.
   * @throws {ValueError} If the text does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("build", async (c) => {
   *   const message = await c.send("Building …");
   *   await c.edit(message, "**Built**");
   * });
   * ```
   */
  async edit(eventId: EventID, text: string, options: WriteOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkNamed(options, WRITE, "edit");
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
   * @param eventId The ID of the event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("pizza", async (c) => {
   *   const question = await c.send("Pizza tonight?");
   *   await c.reactTo(question, "👍");
   * });
   * ```
   */
  async reactTo(eventId: EventID, key: string): Promise<EventID> {
    return await this.within((run) =>
      run.act("react", () => this.kit.client.react(this.roomId, eventId, key))
    );
  }

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param eventId The ID of the event.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("whisper", async (c) => {
   *   const message = await c.send("The password is *mellon*.");
   *   await c.redact(message, "Enough people have seen it");
   * });
   * ```
   */
  async redact(eventId: EventID, reason?: string): Promise<EventID> {
    checkReason(reason, "redact");
    return await this.within((run) =>
      run.act("redact", () => this.kit.client.redact(this.roomId, eventId, { reason }))
    );
  }

  /**
   * Sends text while it is being made, for example the answer of a language model: a message that
   * grows by edits.
   *
   * Each edit is whole Markdown, wherever the text is divided into pieces. Edits come at most once
   * in `interval`, and no faster than the server accepts them; the last edit is always sent. A text
   * that outgrows one message goes on in the next. If the text throws, the messages keep what came
   * before, with a note. After a crash the handler runs again, and its new stream replaces the text
   * of the same messages.
   *
   * @param text The pieces of the text.
   * @param options How often to edit, and as for {@linkcode BotRoom.send}.
   * @returns The IDs of the messages, and the whole text.
   * @throws What the text throws.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * async function* story() {
   *   for (const words of ["Once ", "upon ", "a time"]) yield words;
   * }
   * plugin.command("story", (c) => c.stream(story()));
   * ```
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
