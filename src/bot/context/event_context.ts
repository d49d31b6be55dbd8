/**
 * An event, and what a bot can do about it.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { MatrixRequestError, ValueError } from "../../../mod.ts";
import type {
  ContentURI,
  EncryptedFile,
  EncryptionInfo,
  EventID,
  MatrixEvent,
  SenderInfo,
  UserID,
} from "../../../types.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { type Command, usageOf } from "../commands/commands.ts";
import type { Kit } from "../kit.ts";
import { checkQueries, fullQuery, type Query, type Run, type Scene, type Update } from "../run/mod.ts";
import { type COMPILED_EVENT_HINTS, EVENT_HINTS } from "./context_hints.ts";
import { mediaOf, type MessageMedia, type Reaction, reactionOf } from "../text/mod.ts";
import { CALL, COMMAND, type Found, mentionedIn, SAY_FAILED } from "./event_parts.ts";
import { BotMessage } from "./bot_message.ts";
import { RoomContext } from "./room_context.ts";
import type { MessageRef, WriteOptions } from "./writing.ts";

/** Options of {@linkcode EventContext.download}. */
export interface DownloadFileOptions {
  /** The most to take, in bytes. Default: 50 MiB. */
  maxSize?: number;
}

/** The image, video, audio or other file of a message: what its sender says of it, and how to get it. */
export interface ContextMedia extends MessageMedia {
  /** Downloads and decrypts it, as {@linkcode EventContext.download} does. */
  download(options?: DownloadFileOptions): Promise<Uint8Array<ArrayBuffer>>;
}

/** An event, and what a bot can do about it without asking anybody. */
export class EventContext<E extends MatrixEvent = MatrixEvent, Arguments = unknown> extends RoomContext {
  /** The event; an encrypted one is decrypted. */
  readonly event: E;
  /** The user ID of the event's sender. */
  readonly sender: UserID;
  /**
   * What the sender was called in the room when the function was called: the display name, or the user ID if
   * there is none. Users choose it, and two may have the same: say it with `format: "plain"`, or by
   * `escapeMarkdown()`, and decide nothing by it. `mention(c.sender, c.displayName)` is a link to the user.
   */
  readonly displayName: string;
  /** How the event was encrypted, and by which device; undefined if it was not encrypted. */
  readonly encryption: EncryptionInfo | SenderInfo | undefined;
  /**
   * The text of a message, without what old clients quote in a reply; of an edit the new text;
   * empty: there is none.
   */
  readonly text: string;
  /** The message that this one replies to; undefined if it is no reply. */
  readonly replyTo: BotMessage | undefined;
  /**
   * The match of the regular expression of {@linkcode Composer.hears}, with its groups; null if none.
   */
  match: RegExpExecArray | null = null;
  /** @internal The command that the message is. */
  readonly [COMMAND]: Command | undefined;
  readonly #queries: ReadonlySet<string>;
  readonly #found: Found | undefined;
  readonly #scene: Scene | undefined;

  /** @internal Contexts are made by the bot. */
  constructor(kit: Kit, run: Run, update: Update<E>, found?: Found) {
    super(kit, run, update);
    this.event = update.event;
    this.sender = update.sender;
    this.displayName = update.scene?.displayName ?? update.sender;
    this.encryption = update.encryption;
    this.text = update.read?.text ?? "";
    const replyTo = update.read?.replyTo;
    this.replyTo = replyTo && new BotMessage(this, replyTo);
    this.#queries = update.queries;
    this[COMMAND] = found?.command;
    this.#found = found;
    this.#scene = update.scene;
  }

  /**
   * The ID of the event.
   *
   * @throws {ValueError} If it has none: an invitation, since the bot is not in the room.
   */
  get eventId(): EventID {
    const id = this.answered;
    if (id !== undefined) return id;
    throw new ValueError("Cannot read the ID of the event: it has none, since the bot is not in the room");
  }

  /** The name of the command that the message is, also where middleware sees it; undefined if it is none. */
  get command(): string | undefined {
    return this[COMMAND]?.name;
  }

  /**
   * What a reaction says: its key, mostly an emoji, and the event that it is to; undefined if this is none.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("reaction", async (c) => {
   *   if (c.reaction?.key === "🎉") await c.send("Party!");
   * });
   * ```
   */
  get reaction(): Reaction | undefined {
    return this.is("reaction") ? reactionOf(this.event.content) : undefined;
  }

  /**
   * The image, video, audio or other file of the message; undefined if it has none. What it is called and how
   * large it is, is the sender's word: a name may have slashes in it, and the size be wrong.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on(["file", "image"], async (c) => {
   *   const bytes = await c.media.download();
   *   await c.reply(`${c.media.filename}: ${bytes.length} bytes of ${c.media.mimeType}`, { format: "plain" });
   * });
   * ```
   */
  get media(): ContextMedia | undefined {
    const media = mediaOf(this.event.content);
    return media && { ...media, download: (options) => this.download(options) };
  }

  /** The users whom the message mentions, as its sender's client says; none where it does not say. */
  get mentions(): readonly UserID[] {
    return mentionedIn(this.event.content);
  }

  /** The arguments of the command, by name; undefined if the event is no command. */
  get args(): Arguments {
    const { given } = this.#found ?? {};
    return (given !== undefined && "args" in given ? given.args : undefined) as Arguments;
  }

  /**
   * Returns the text of the message, so that an answer can stand in a template string.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("name", async (c) => {
   *   const answer = await c.ask("Your name?");
   *   await c.reply(`Hello, ${answer}!`, { format: "plain" });
   * });
   * ```
   */
  override toString(): string {
    return this.text;
  }

  /**
   * Returns whether the event fits a query.
   *
   * @param query The query, as {@linkcode Composer.on} takes it.
   * @returns Whether it fits.
   * @throws {ValueError} If there is no such query.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.use(async (c, next) => {
   *   if (c.is("message:image")) await c.react("📷");
   *   await next();
   * });
   * ```
   */
  is(query: Query): boolean {
    if (this.#queries.has(fullQuery(query))) return true;
    checkQueries([query], "tell whether an event is");
    return false;
  }

  /**
   * Answers the event: as a reply, and in the thread that it is in. Its sender is notified, unless
   * `mentions` says otherwise. What others wrote is repeated with `format: "plain"`: see
   * {@linkcode BotRoom.send}.
   *
   * @param text The text. A long one is sent in several messages, divided between paragraphs.
   * @param options What it is written in, of what kind it is, whom it notifies.
   * @returns The message; the first, if there are several.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("ping", (c) => c.reply("**pong**"));
   * plugin.command("echo <words...>", (c) => c.reply(c.args.words, { format: "plain" }));
   * ```
   */
  reply(text: string, options: WriteOptions = {}): Promise<BotMessage> {
    const placing = { thread: this.thread, replyTo: this.answered, notifies: [this.sender] };
    return this.sendTo(text, options, placing);
  }

  /**
   * Answers in the thread of the event; if it is in none, in a new thread that begins with it.
   *
   * @param text The text.
   * @param options As for {@linkcode BotRoom.send}.
   * @returns The message; the first, if there are several.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("support", (c) => c.replyInThread("Let us talk about it here."));
   * ```
   */
  async replyInThread(text: string, options: WriteOptions = {}): Promise<BotMessage> {
    const thread = this.thread ?? this.answered;
    return await this.sendTo(text, options, { thread, notifies: [this.sender] });
  }

  /**
   * Reacts to the event.
   *
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears(/thank you/i, (c) => c.react("❤️"));
   * ```
   */
  async react(key: string): Promise<EventID> {
    return await this.reactTo(this, key);
  }

  /**
   * Marks the room as read up to the event, as its users can see.
   *
   * @throws {ValueError} If the event has no ID: an invitation, since the bot is not in the room.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message", async (c, next) => {
   *   await c.markRead();
   *   await next();
   * });
   * ```
   */
  async markRead(): Promise<void> {
    const { eventId, run } = this;
    await run.act("read", () => this.client.sendReceipt(this.roomId, eventId, { signal: run.signal }));
  }

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param message The message, or the ID of any event. Default: the one that is handled.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears(/buy now/i, (c) => c.redact(undefined, "Advertising"));
   * ```
   */
  override async redact(message: MessageRef = this, reason?: string): Promise<EventID> {
    return await super.redact(message, reason);
  }

  /**
   * Returns whether a user is an admin of the bot: see {@linkcode RoomContext.isAdmin}.
   *
   * @param userId The user. Default: the sender of the event.
   * @returns Whether the user is an admin.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("status", async (c) => {
   *   await c.reply(await c.isAdmin() ? "3 builds, 1 has failed" : "All is well.");
   * });
   * ```
   */
  override async isAdmin(userId: UserID = this.sender): Promise<boolean> {
    return await super.isAdmin(userId);
  }

  /**
   * Accepts an invitation: joins its room. Set `autoJoin: false` to decide about invitations yourself.
   *
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("invite", async (c) => {
   *   if (c.sender.endsWith(":example.org")) await c.join();
   * });
   * ```
   */
  async join(): Promise<void> {
    await this.run.act("join", async () => {
      const { signal } = this.run;
      if (!this.is("invite")) return void await this.client.joinRoom(this.roomId, { signal });
      const { invitations } = this.kit;
      await invitations.acceptNow(this.roomId, this.sender, signal);
      const inviter = { by: this.sender, at: this.client.api.clock.now() };
      await invitations.inviters.note(this.roomId, inviter);
    });
  }

  /**
   * Downloads the file of the message, and decrypts it.
   *
   * @param options The most to take.
   * @returns The content of the file.
   * @throws {ValueError} If the message has no file.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message:file", async (c) => {
   *   const bytes = await c.download({ maxSize: 1_000_000 });
   *   await c.reply(`${bytes.length} bytes`);
   * });
   * ```
   */
  async download(options: DownloadFileOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    checkOptions(options, { maxSize: true }, "download");
    const { url, file } = this.event.content as { url?: ContentURI; file?: EncryptedFile };
    const media = file ?? url;
    if (media === undefined) throw new ValueError("Cannot load the file of a message: it has none");
    const { maxSize = 50 * 1024 * 1024 } = options;
    return await this.run.begun.during(() =>
      this.client.downloadMedia(media, { maxSize, signal: this.signal })
    );
  }

  /** @internal */
  protected override get answered(): EventID | undefined {
    return "event_id" in this.event ? this.event.event_id as EventID : undefined;
  }

  /** @internal */
  protected override get about(): MatrixEvent {
    return this.event;
  }

  /** @internal */
  protected override get scene(): Scene | undefined {
    return this.#scene;
  }

  /**
   * @internal Calls the function of the command, or says what is wrong with its arguments.
   */
  [CALL](call: () => Promise<void>): Promise<unknown> {
    if (this.#found === undefined) return Promise.resolve();
    const found = this.#found;
    found.isReached = true;
    const { command, given } = found;
    if ("args" in given) {
      return call().catch((error) => {
        found.hasFailed = true;
        throw error;
      });
    }
    const usage = usageOf(command, this.kit.prefix);
    return this.reply(`${given.problem}\n\nUsage: ${usage}`, { format: "plain" });
  }

  /** @internal Tells the user that the command has failed, but not where the bot has left the room since. */
  async [SAY_FAILED](): Promise<void> {
    if (this.kit.behaviour.saysFailures === false || !await this.#isIn()) return;
    if (this.run.left?.has(this.roomId) === true) return;
    await this.reply("Sorry, that failed.").catch(() => {}); // what is reported is the failure itself
  }

  /** Asks the homeserver whether the bot is in the room: no sync may have told yet that it was thrown out. */
  async #isIn(): Promise<boolean> {
    // The user waits.
    const options = { stateKey: this.client.mxid, retry: false, requestTimeout: 5_000 } as const;
    try {
      const { membership } = await this.client.getStateEvent(this.roomId, "m.room.member", options);
      return membership === "join";
    } catch (error) {
      return !(error instanceof MatrixRequestError && (error.status === 403 || error.status === 404));
    }
  }
}

hintAt(EventContext.prototype, "a context", EVENT_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface EventContextHints extends Hints<typeof EVENT_HINTS & typeof COMPILED_EVENT_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface EventContext<E extends MatrixEvent = MatrixEvent, Arguments = unknown>
  extends EventContextHints {}
