/**
 * What a bot says in a room: messages, edits, reactions, and text as it comes.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { NotFoundError, relationTo } from "../../../mod.ts";
import type { ClientEvent, EventID, RoomID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import type { Kit } from "../kit.ts";
import { eventInClear } from "../polls/polls.ts";
import type { Run } from "../run/mod.ts";
import { BotMessage } from "./bot_message.ts";
import { STREAM, type Streamed, type StreamOptions, type StreamParts, streamText } from "./stream.ts";
import {
  type BotSendOptions,
  checkNamed,
  checkReason,
  checkText,
  contentOf,
  eventIdOf,
  type MessageRef,
  notifiedBy,
  placeIn,
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
  /** The first message of the thread to speak in, or its event ID. Default: none, the room itself. */
  readonly thread?: MessageRef;
}

/** A room, or a thread in it. */
export interface Place {
  readonly room: RoomID;
  /** The first event of the thread. */
  readonly thread?: EventID;
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

  /** @internal Does in a run what sends a message. */
  protected async sending(work: (run: Run) => Promise<EventID>): Promise<BotMessage> {
    return new BotMessage(this, await this.within(work));
  }

  /**
   * Sends text: into the thread, if it is in one.
   *
   * The text is Markdown, and a link to a user notifies that user. What others wrote is sent with
   * `format: "plain"`, so that nobody is notified by it; or, within Markdown, by `escapeMarkdown()`.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies, what it replies to.
   * @returns The message; the first, if there are several.
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
  send(text: string, options: BotSendOptions = {}): Promise<BotMessage> {
    const { replyTo } = placeIn({ replyTo: options?.replyTo }, "send", this.roomId);
    return this.sendTo(text, options, { thread: this.thread, replyTo }, SEND);
  }

  /** @internal Sends text; without `mentions`, to the notice of those who are linked, and others. */
  protected async sendTo(
    text: string,
    options: WriteOptions,
    placing: Placing,
    known: Readonly<Record<string, true>> = WRITE,
  ): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, known, "send");
      checkText(text, "write a message"); // while the application's line is known
      const plain = writePlain(text, options.format);
      if (run.saying !== undefined) return this.#sayParts(run, plain ?? text, options, placing);
      return run.act(
        "send",
        () =>
          plain === undefined
            ? this.#sendParts(run, text, options, placing)
            : this.#sendPart(run, plain, 0, options, placing),
      );
    });
  }

  async #sendParts(run: Run, text: string, options: WriteOptions, placing: Placing): Promise<EventID> {
    let first: EventID | undefined;
    for (const [index, part] of (await write(text, options.format)).entries()) {
      const id = await this.#sendPart(run, part, index, options, placing);
      first ??= id;
    }
    return first as EventID; // there is one at least
  }

  /** Sends text from outside of functions: all of it is in the queue before anything else is done. */
  async #sayParts(
    run: Run,
    text: string | Written,
    options: WriteOptions,
    placing: Placing,
  ): Promise<EventID> {
    const parts = typeof text === "string" ? await write(text, options.format) : [text];
    run.time.check();
    const sending = parts.map((part, index) => this.#sendPart(run, part, index, options, placing));
    run.saying?.end();
    const [first] = await Promise.all(sending);
    return first as EventID; // there is one at least
  }

  #sendPart(
    { saying, sends }: Run,
    part: Written,
    index: number,
    { msgtype = this.kit.msgtype, mentions: asked, sendKey: key }: WriteOptions,
    placing: Placing,
  ): Promise<EventID> {
    const relatesTo = relationTo(index === 0 ? placing : { thread: placing.thread });
    const mentions = notifiedBy(part, index, asked, placing.notifies);
    const content = contentOf(part, { msgtype, mentions, relatesTo });
    return saying?.add(content) ?? this.kit.client.sendMessage(this.roomId, content, {
      ...{ key: key && `${key} ${index}`, ...sends },
    });
  }

  /**
   * Edits a message that the bot has sent: replaces its text.
   *
   * @param message The message, or its event ID.
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
   *   await c.edit(message, "**Built**"); // or message.edit("**Built**")
   * });
   * ```
   */
  async edit(message: MessageRef, text: string, options: WriteOptions = {}): Promise<EventID> {
    return await this.within((run) => {
      checkNamed(options, WRITE, "edit");
      const eventId = eventIdOf(message, "edit a message", this.roomId);
      return run.act("edit", () => this.#edit(run, eventId, text, options));
    });
  }

  async #edit(
    { sends }: Run,
    eventId: EventID,
    text: string,
    options: WriteOptions,
  ): Promise<EventID> {
    const { format, msgtype = this.kit.msgtype, sendKey: key } = options;
    const part = await writeOne(text, format, {
      action: "edit a message",
      mend: "edit it to what fits into one, and send the rest",
    });
    const relatesTo = { rel_type: "m.replace", event_id: eventId } as const;
    const mentions = notifiedBy(part, 0, options.mentions);
    const content = contentOf(part, { msgtype, mentions, relatesTo });
    return await this.kit.client.sendMessage(this.roomId, content, { key, ...sends });
  }

  /**
   * Reacts to an event.
   *
   * @param message The message, or the ID of any event.
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
  async reactTo(message: MessageRef, key: string): Promise<EventID> {
    const eventId = eventIdOf(message, "react", this.roomId);
    return await this.within((run) =>
      run.act(
        "react",
        () => this.kit.client.react(this.roomId, eventId, key, run.sends),
      )
    );
  }

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param message The message, or the ID of any event.
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
  async redact(message: MessageRef, reason?: string): Promise<EventID> {
    checkReason(reason, "redact");
    const eventId = eventIdOf(message, "redact", this.roomId);
    return await this.within((run) =>
      run.act("redact", () => this.kit.client.redact(this.roomId, eventId, { reason, signal: run.signal }))
    );
  }

  /**
   * Pins a message, as clients show it above the room. Of two processes that change the pins at the same
   * moment, the later one wins.
   *
   * @param message The message, or its event ID.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rules <text...>", { powerLevel: 50 }, async (c) => {
   *   await c.pin(await c.send(c.args.text));
   * });
   * ```
   */
  async pin(message: MessageRef): Promise<void> {
    await this.#changePins(eventIdOf(message, "pin a message", this.roomId), "pin");
  }

  /**
   * Takes a message out of those that are pinned.
   *
   * @param message The message, or its event ID.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unpin", { powerLevel: 50 }, async (c) => { // as a reply to what is pinned
   *   if (c.replyTo !== undefined) await c.unpin(c.replyTo);
   * });
   * ```
   */
  async unpin(message: MessageRef): Promise<void> {
    await this.#changePins(eventIdOf(message, "unpin a message", this.roomId), "unpin");
  }

  async #changePins(eventId: EventID, action: "pin" | "unpin"): Promise<void> {
    const { client } = this.kit;
    await this.within((run) =>
      run.act(action, async () => {
        const content = await client.getStateEvent(this.roomId, "m.room.pinned_events").catch((error) => {
          if (error instanceof NotFoundError) return undefined;
          throw error;
        });
        const before = Array.isArray(content?.pinned) ? content.pinned : [];
        if (before.includes(eventId) === (action === "pin")) return;
        const pinned = action === "pin" ? [...before, eventId] : before.filter((each) => each !== eventId);
        await client.sendStateEvent(this.roomId, "m.room.pinned_events", { pinned }, { signal: run.signal });
      })
    );
  }

  /**
   * Reads an event of the room.
   *
   * @param message The message, or the ID of any event.
   * @returns The event; an encrypted one is decrypted, if the bot has its key.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `NotFoundError` if there is no such event.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.reaction("❓", async (c) => {
   *   const { sender } = await c.getEvent(c.reaction);
   *   await c.send(`That was said by ${sender}`, { format: "plain" });
   * });
   * ```
   */
  async getEvent(message: MessageRef): Promise<ClientEvent> {
    const { client } = this.kit;
    return await eventInClear(
      client,
      await client.getEvent(this.roomId, eventIdOf(message, "read an event", this.roomId)),
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
   * @returns The messages, and the whole text.
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
    const { events, text: whole } = await this.within((run) => {
      checkOptions(options, STREAM, "stream");
      const begun = options.inThread === true ? this.answered : undefined;
      const placing = { thread: this.thread ?? begun, replyTo: this.answered };
      const { client } = this.kit;
      const { msgtype = this.kit.msgtype } = options;
      const send: StreamParts["send"] = (content, options) =>
        run.inTurn(() => client.sendMessage(this.roomId, content, { ...options, ...run.sends }));
      const { api: { clock } } = client;
      const parts = { ...options, msgtype, clock, send, signal: run.time.signal, placing };
      return run.step("stream", (at) => streamText(text, { ...parts, name: `stream ${at}` }));
    });
    return { messages: events.map((id) => new BotMessage(this, id)), text: whole };
  }

  /** @internal The event that is answered. */
  protected get answered(): EventID | undefined {
    return undefined;
  }
}
