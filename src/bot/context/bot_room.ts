/**
 * A room in which a bot speaks: as a step of a function, or outside of its functions.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import { isEventId, NotFoundError, toUserId, ValueError } from "../../../mod.ts";
import type { EventID, RoomID } from "../../../types.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { Kit } from "../kit.ts";
import { Begun, currentRun, Run, RunTime, type Scene } from "../run/mod.ts";
import { ROOM_HINTS } from "./context_hints.ts";
import { RoomMedia } from "./room_media.ts";
import type { Place } from "./room_messages.ts";
import { checkReason, checkText } from "./writing.ts";

/**
 * A room, or a thread in it, in which a bot speaks. {@linkcode Bot.in} makes one to speak in outside of the bot's
 * functions: what is called first is done first, awaited or not.
 */
export abstract class BotRoom extends RoomMedia {
  /**
   * Removes a user from the room, who may come back; or takes an invitation back.
   *
   * @param userId The ID of the user.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
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
    checkReason(reason, "kick");
    return await this.within((run) =>
      run.act("kick", async () => await this.kit.client.kickUser(this.roomId, toUserId(userId), { reason }))
    );
  }

  /**
   * Bans a user from the room: removes the user, who can't come back before {@linkcode BotRoom.unban}.
   *
   * @param userId The ID of the user, who need not be in the room.
   * @param reason Why, as the user sees it. Default: none.
   * @throws {ValueError} If it is no user ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
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
    checkReason(reason, "ban");
    return await this.within((run) =>
      run.act("ban", async () => await this.kit.client.banUser(this.roomId, toUserId(userId), { reason }))
    );
  }

  /**
   * Takes a user's ban back. If the process ends between the homeserver's answer and the record of it, this is
   * done again, and refused since the user is banned no more.
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
    checkReason(reason, "unban");
    return await this.within((run) =>
      run.act("unban", async () => await this.kit.client.unbanUser(this.roomId, toUserId(userId), { reason }))
    );
  }

  /**
   * Invites a user into the room. If the process ends between the homeserver's answer and the record of it, this
   * is done again, and refused if the user has joined by then.
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
    checkReason(reason, "invite");
    return await this.within((run) =>
      run.act(
        "invite",
        async () => await this.kit.client.inviteUser(this.roomId, toUserId(userId), { reason }),
      )
    );
  }

  /**
   * Sets the topic of the room: what it is about.
   *
   * @param topic The topic.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
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
    if (topic !== "") checkText(topic, "setTopic"); // an empty one takes it away
    const id = await this.within((run) =>
      run.act("topic", async () => {
        await this.kit.once.keepScene(run, this.scene);
        return await this.kit.client.sendStateEvent(this.roomId, "m.room.topic", { topic });
      })
    );
    if (this.scene !== undefined) this.scene.topic = topic || undefined;
    return id;
  }

  /**
   * Sets the name of the room.
   *
   * @param name The name.
   * @returns The ID of the event.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
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
    if (name !== "") checkText(name, "setName"); // an empty one takes it away
    const id = await this.within((run) =>
      run.act("name", async () => {
        await this.kit.once.keepScene(run, this.scene);
        return await this.kit.client.sendStateEvent(this.roomId, "m.room.name", { name });
      })
    );
    if (this.scene !== undefined) this.scene.name = name || undefined;
    return id;
  }

  /**
   * Pins a message, as clients show it above the room. Of two processes that change the pins at the same moment,
   * the later one wins.
   *
   * @param eventId The message.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("rules <text...>", { minPowerLevel: 50 }, async (c) => {
   *   await c.pin(await c.send(c.args.text));
   * });
   * ```
   */
  async pin(eventId: EventID): Promise<void> {
    await this.#changePins(eventId, "pin");
  }

  /**
   * Takes a message out of those that are pinned.
   *
   * @param eventId The message.
   * @throws {ValueError} If it is no event ID.
   * @throws {MatrixRequestError} If the homeserver refuses, as a `ForbiddenError` if the bot's power level is too low.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("unpin", { minPowerLevel: 50 }, async (c) => { // as a reply to what is pinned
   *   if (c.replyTo !== undefined) await c.unpin(c.replyTo);
   * });
   * ```
   */
  async unpin(eventId: EventID): Promise<void> {
    await this.#changePins(eventId, "unpin");
  }

  async #changePins(eventId: EventID, action: "pin" | "unpin"): Promise<void> {
    if (!isEventId(eventId)) throw new ValueError(`Cannot ${action} a message: ${eventId} is no event ID`);
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
        await client.sendStateEvent(this.roomId, "m.room.pinned_events", { pinned });
      })
    );
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
class OutsideRoom extends BotRoom {
  readonly #rooms: BotRooms;

  constructor(kit: Kit, place: Place, rooms: BotRooms) {
    super(kit, place);
    this.#rooms = rooms;
  }

  protected override within<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const run = currentRun();
    return run === undefined ? this.#rooms.act(this.roomId, work) : work(run);
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

  /** Returns a room, or a thread in it. */
  in(place: Place): BotRoom {
    return new OutsideRoom(this.#kit, place, this);
  }

  /** Does something in a run of its own, after what was begun in the room before. */
  async act<Result>(room: RoomID, work: (run: Run) => Promise<Result>): Promise<Result> {
    const begun = this.#begun.get(room) ?? new Begun();
    this.#begun.set(room, begun);
    try {
      return await begun.inTurn(() => this.#act(work));
    } finally {
      if (begun.isIdle) this.#begun.delete(room);
    }
  }

  async #act<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    await this.#started();
    return await this.#kit.client.runTask(`in ${crypto.randomUUID()}`, async (context) => {
      const run = new Run({ context, time: new RunTime(this.#kit.signal) });
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

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { ContentURI, ImageInfo } from "../../../types.ts";
import type { PollTally, SendPollOptions } from "../polls/polls.ts";
import type { Streamed, StreamOptions } from "./stream.ts";
import type {
  AudioOptions,
  BotMedia,
  BotSendOptions,
  FileOptions,
  ImageOptions,
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
   * @returns The ID of the event.
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
  sendImage(data: BotMedia, options?: ImageOptions): Promise<EventID>;

  /**
   * Uploads and sends a file; in an encrypted room, encrypted.
   *
   * @param data The content of the file.
   * @param options Its name, kind, media type and caption, and what it replies to.
   * @returns The ID of the event.
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
  sendFile(data: BotMedia, options?: FileOptions): Promise<EventID>;

  /**
   * Uploads and sends a video, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the video.
   * @param options Its name, media type, length, size and caption, and what it replies to.
   * @returns The ID of the event.
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
  sendVideo(data: BotMedia, options?: VideoOptions): Promise<EventID>;

  /**
   * Uploads and sends a recording, as {@linkcode BotRoom.sendFile} does with a file: clients play it.
   *
   * @param data The content of the recording.
   * @param options Its name, media type and caption, and what it replies to.
   * @returns The ID of the event.
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
  sendAudio(data: BotMedia, options?: AudioOptions): Promise<EventID>;

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  sendSticker(url: ContentURI, info?: ImageInfo, options?: StickerOptions): Promise<EventID>;

  /**
   * Starts a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param question The question.
   * @param answers The answers, 1 to 20.
   * @param options How many answers a user may choose, and whether votes are shown before the end.
   * @returns The ID of the poll: {@linkcode RoomContext.getPollResults} counts its votes.
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
  sendPoll(
    question: string,
    answers: readonly string[],
    options?: SendPollOptions,
  ): Promise<EventID>;

  /**
   * Ends a poll that the bot has started, and writes the result into the event that ends it.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The ID of the poll.
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
  endPoll(poll: EventID): Promise<PollTally>;

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
   * @returns The ID of the event, or of the first.
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
  send(text: string, options?: BotSendOptions): Promise<EventID>;

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
   * ```ts ignore
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("build", async (c) => {
   *   const message = await c.send("Building …");
   *   await c.edit(message, "**Built**");
   * });
   * ```
   */
  edit(eventId: EventID, text: string, options?: WriteOptions): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param eventId The ID of the event.
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
  reactTo(eventId: EventID, key: string): Promise<EventID>;

  /**
   * Redacts an event: removes its content for everybody.
   *
   * @param eventId The ID of the event.
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
  redact(eventId: EventID, reason?: string): Promise<EventID>;

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
