/**
 * A room in which a bot speaks: as a step of a function, or outside of its functions.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import { toUserId } from "../../../mod.ts";
import type { EventID } from "../../../types.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { Run, Scene } from "../run/mod.ts";
import { ROOM_HINTS } from "./context_hints.ts";
import { RoomMedia } from "./room_media.ts";
import { checkReason, checkText } from "./writing.ts";

/**
 * A room, or a thread in it, in which a bot speaks. {@linkcode Bot.in} makes one to speak in outside of the
 * bot's functions: what is called first is done first, awaited or not.
 */
export abstract class BotRoom extends RoomMedia {
  /**
   * Removes a user from the room, who may come back; or takes an invitation back.
   *
   * @param userId The ID of the user.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command(
   *   "kick <user> [reason...]",
   *   { access: "admins", args: { user: "user" } },
   *   (c) => c.kick(c.args.user, c.args.reason),
   * );
   * ```
   */
  async kick(userId: string, reason?: string): Promise<void> {
    await this.#change("kick", "kickUser", userId, reason);
  }

  /**
   * Bans a user from the room: removes the user, who can't come back before {@linkcode BotRoom.unban}.
   *
   * @param userId The ID of the user, who need not be in the room.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   * import { ForbiddenError } from "@greenroom/matrix/errors";
   *
   * const plugin = new Composer();
   * plugin.command("ban <user> [reason...]", { access: "admins", args: { user: "user" } }, async (c) => {
   *   try {
   *     await c.ban(c.args.user, c.args.reason);
   *   } catch (error) {
   *     if (!(error instanceof ForbiddenError)) throw error;
   *     await c.reply("I may not ban anybody here.");
   *   }
   * });
   * ```
   */
  async ban(userId: string, reason?: string): Promise<void> {
    await this.#change("ban", "banUser", userId, reason);
  }

  /**
   * Takes a user's ban back. If the process ends between the homeserver's answer and the record of it,
   * this is done again, and refused since the user is banned no more.
   *
   * @param userId The ID of the user.
   * @param reason Why. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, also if the user is not banned.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unban <user>", { access: "admins", args: { user: "user" } }, async (c) => {
   *   await c.unban(c.args.user);
   *   await c.invite(c.args.user);
   * });
   * ```
   */
  async unban(userId: string, reason?: string): Promise<void> {
    await this.#change("unban", "unbanUser", userId, reason);
  }

  /**
   * Invites a user into the room. If the process ends between the homeserver's answer and the record of it,
   * this is done again, and refused if the user has joined by then.
   *
   * @param userId The ID of the user.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, also if the user is in the room, or banned.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("invite <user>", { args: { user: "user" } }, (c) => c.invite(c.args.user));
   * ```
   */
  async invite(userId: string, reason?: string): Promise<void> {
    await this.#change("invite", "inviteUser", userId, reason);
  }

  /**
   * Sets the topic of the room: what it is about.
   *
   * @param topic The topic.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("topic <text...>", { access: "admins" }, (c) => c.setTopic(c.args.text));
   * ```
   */
  async setTopic(topic: string): Promise<EventID> {
    return await this.#set("topic", topic, "setTopic");
  }

  /**
   * Sets the name of the room.
   *
   * @param name The name.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses,
   *   as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rename <text...>", { access: "admins" }, (c) => c.setName(c.args.text));
   * ```
   */
  async setName(name: string): Promise<EventID> {
    return await this.#set("name", name, "setName");
  }

  async #change(
    kind: "kick" | "ban" | "unban" | "invite",
    operation: "kickUser" | "banUser" | "unbanUser" | "inviteUser",
    userId: string,
    reason: string | undefined,
  ): Promise<void> {
    checkReason(reason, kind);
    await this.within((run) =>
      run.act(kind, async () => {
        await this.kit.client[operation](this.roomId, toUserId(userId), { reason, signal: run.signal });
      })
    );
  }

  async #set(kind: "topic" | "name", text: string, action: string): Promise<EventID> {
    if (text !== "") checkText(text, action); // an empty one takes it away
    const type: string = `m.room.${kind}`;
    const id = await this.within((run) =>
      run.act(kind, async () => {
        await this.kit.once.keepScene(run, this.scene);
        const options = { signal: run.signal };
        return await this.kit.client.sendStateEvent(this.roomId, type, { [kind]: text }, options);
      })
    );
    if (this.scene !== undefined) this.scene[kind] = text || undefined;
    return id;
  }

  /** @internal What the room and the user are called; undefined: it was not read. */
  protected get scene(): Scene | undefined {
    return undefined;
  }
}

hintAt(BotRoom.prototype, "a room", ROOM_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface BotRoomHints extends Hints<typeof ROOM_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface BotRoom extends BotRoomHints {}

/** A room in which nothing of a function stands: what is done in one, is a step of it all the same. */
export class OutsideRoom extends BotRoom {
  protected override within<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.kit.outside.within(this.roomId, work);
  }
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { ClientEvent, ContentURI, ImageInfo, RoomID } from "../../../types.ts";
import type { PollOptions, PollTally, SendPollOptions } from "../polls/polls.ts";
import type { BotMessage } from "./bot_message.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type {
  AudioOptions,
  BotMedia,
  BotSendOptions,
  FileOptions,
  ImageOptions,
  MessageRef,
  StickerOptions,
  VideoOptions,
  WriteOptions,
} from "./writing.ts";

/** What a bot sends into the room. */
export interface BotRoom {
  /**
   * Sends an image, with its size, a smaller version and a blurred one, as far as they can be made.
   *
   * @param data The image: PNG, JPEG, GIF or WebP.
   * @param options Its name, what it shows, its caption, and what it answers.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("cat", async (c) => {
   *   const response = await fetch("https://cats.example/cat.png", { signal: c.signal });
   *   await c.sendImage(await response.blob(), { filename: "cat.png", caption: "**A cat**" });
   * });
   * ```
   */
  sendImage(data: BotMedia, options?: ImageOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a file; in an encrypted room, encrypted.
   *
   * @param data The content of the file.
   * @param options Its name, kind, media type and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("export", async (c) => {
   *   const csv = new TextEncoder().encode("name,points\nalice,3\n");
   *   await c.sendFile(csv, { filename: "points.csv", mimeType: "text/csv" });
   * });
   * ```
   */
  sendFile(data: BotMedia, options?: FileOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a video, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the video.
   * @param options Its name, media type, length, size and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("clip", async (c) => {
   *   const response = await fetch("https://clips.example/clip.mp4", { signal: c.signal });
   *   await c.sendVideo(await response.blob(), { filename: "clip.mp4", caption: "**A clip**" });
   * });
   * ```
   */
  sendVideo(data: BotMedia, options?: VideoOptions): Promise<BotMessage>;

  /**
   * Uploads and sends a recording, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the recording.
   * @param options Its name, media type and caption, and what it replies to.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("song", async (c) => {
   *   const response = await fetch("https://songs.example/song.ogg", { signal: c.signal });
   *   await c.sendAudio(await response.blob(), { filename: "song.ogg", duration: "3m" });
   * });
   * ```
   */
  sendAudio(data: BotMedia, options?: AudioOptions): Promise<BotMessage>;

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The message.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  sendSticker(
    url: ContentURI,
    info?: ImageInfo,
    options?: StickerOptions,
  ): Promise<BotMessage>;

  /**
   * Starts a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param question The question.
   * @param answers The answers, 1 to 20.
   * @param options How many answers a user may choose, and whether votes are shown before the end.
   * @returns The poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are no answers, or more than 20.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("lunch", (c) => c.sendPoll("Lunch?", ["Pizza", "Soup"]));
   * ```
   */
  sendPoll(question: string, answers: readonly string[], options?: SendPollOptions): Promise<BotMessage>;

  /**
   * Starts a poll that is one object, as `sendPoll(question, answers, options)` does.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The question, the answers, and the options.
   * @returns The poll: {@linkcode RoomContext.getPollResults} counts its votes.
   * @throws {ValueError} If there are no answers, or more than 20.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("lunch", (c) => c.sendPoll({ question: "Lunch?", answers: ["Pizza", "Soup"], maxSelections: 2 }));
   * ```
   */
  sendPoll(poll: PollOptions): Promise<BotMessage>;

  /**
   * Ends a poll that the bot has started, and writes the result into the event that ends it.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The poll, or its event ID.
   * @returns The votes for each answer, and which answers have most.
   * @throws {ValueError} If the event is no poll.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("close", async (c) => { // in reply to the poll
   *   if (c.replyTo === undefined) return;
   *   const { voters } = await c.endPoll(c.replyTo);
   *   await c.reply(`${voters} users have voted.`);
   * });
   * ```
   */
  endPoll(poll: MessageRef): Promise<PollTally>;

  /** The ID of the room: what is sent goes there. */
  readonly roomId: RoomID;

  /** The first event of the thread; undefined outside of threads. */
  readonly thread: EventID | undefined;

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
   * ```ts ignore
   * import { Composer, escapeMarkdown } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("say <words...>", (c) => c.send(c.args.words, { format: "plain" }));
   * plugin.command("shout <words...>", (c) => c.send(`**${escapeMarkdown(c.args.words)}**`));
   * ```
   */
  send(text: string, options?: BotSendOptions): Promise<BotMessage>;

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
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("build", async (c) => {
   *   const message = await c.send("Building …");
   *   await c.edit(message, "**Built**"); // or message.edit("**Built**")
   * });
   * ```
   */
  edit(message: MessageRef, text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param message The message, or the ID of any event.
   * @param key The reaction, mostly an emoji.
   * @returns The ID of the reaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("pizza", async (c) => {
   *   const question = await c.send("Pizza tonight?");
   *   await c.reactTo(question, "👍");
   * });
   * ```
   */
  reactTo(message: MessageRef, key: string): Promise<EventID>;

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param message The message, or the ID of any event.
   * @param reason Why. Default: none.
   * @returns The ID of the redaction.
   * @throws {MatrixRequestError} If the homeserver refuses.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("whisper", async (c) => {
   *   const message = await c.send("The password is *mellon*.");
   *   await c.redact(message, "Enough people have seen it");
   * });
   * ```
   */
  redact(message: MessageRef, reason?: string): Promise<EventID>;

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
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rules <text...>", { powerLevel: 50 }, async (c) => {
   *   await c.pin(await c.send(c.args.text));
   * });
   * ```
   */
  pin(message: MessageRef): Promise<void>;

  /**
   * Takes a message out of those that are pinned.
   *
   * @param message The message, or its event ID.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level
   *   is too low.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unpin", { powerLevel: 50 }, async (c) => { // as a reply to what is pinned
   *   if (c.replyTo !== undefined) await c.unpin(c.replyTo);
   * });
   * ```
   */
  unpin(message: MessageRef): Promise<void>;

  /**
   * Reads an event of the room.
   *
   * @param message The message, or the ID of any event.
   * @returns The event; an encrypted one is decrypted, if the bot has its key.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `NotFoundError` if there is no such event.
   *
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.reaction("❓", async (c) => {
   *   const { sender } = await c.getEvent(c.reaction);
   *   await c.send(`That was said by ${sender}`, { format: "plain" });
   * });
   * ```
   */
  getEvent(message: MessageRef): Promise<ClientEvent>;

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
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * async function* story() {
   *   for (const words of ["Once ", "upon ", "a time"]) yield words;
   * }
   * plugin.command("story", (c) => c.stream(story()));
   * ```
   */
  stream(text: AsyncIterable<string>, options?: StreamOptions): Promise<Streamed>;
}
