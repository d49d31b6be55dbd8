/**
 * What else a bot sends into a room: images, files, stickers and polls.
 *
 * @module
 */

import { relationTo, ValueError } from "../../../mod.ts";
import type { ContentURI, EventID, ImageInfo } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import {
  endPoll,
  POLL,
  type PollOptions,
  type PollTally,
  sendPoll,
  type SendPollOptions,
} from "../polls/polls.ts";
import type { Run } from "../run/mod.ts";
import type { BotMessage } from "./bot_message.ts";
import { RoomMessages } from "./room_messages.ts";
import {
  AUDIO,
  type AudioOptions,
  type BotMedia,
  captioned,
  checkNamed,
  eventIdOf,
  FILE,
  type FileOptions,
  IMAGE,
  type ImageOptions,
  mentionsOf,
  type MessageRef,
  notified,
  placeIn,
  readLength,
  sendPicture,
  STICKER,
  type StickerOptions,
  VIDEO,
  type VideoOptions,
} from "./writing.ts";

/** @internal What {@linkcode BotRoom} has for images, files, stickers and polls. */
export abstract class RoomMedia extends RoomMessages {
  /**
   * Sends an image, with its size, a smaller version and a blurred one, as far as they can be made.
   *
   * @param data The image: PNG, JPEG, GIF or WebP.
   * @param options Its name, what it shows, its caption, and what it answers.
   * @returns The message.
   * @throws {ValueError} If the caption does not fit into one message.
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("cat", async (c) => {
   *   const response = await fetch("https://cats.example/cat.png", { signal: c.signal });
   *   await c.sendImage(await response.blob(), { filename: "cat.png", caption: "**A cat**" });
   * });
   * ```
   */
  async sendImage(data: BotMedia, options: ImageOptions = {}): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, IMAGE, "sendImage");
      return run.act(
        "image",
        async () =>
          sendPicture(this.kit.client, this.roomId, data, {
            ...await captioned(options, this),
            ...run.sends,
          }),
      );
    });
  }

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
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("export", async (c) => {
   *   const csv = new TextEncoder().encode("name,points\nalice,3\n");
   *   await c.sendFile(csv, { filename: "points.csv", mimeType: "text/csv" });
   * });
   * ```
   */
  async sendFile(data: BotMedia, options: FileOptions = {}): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, FILE, "sendFile");
      return this.#sendFile(run, data, options);
    });
  }

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
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("clip", async (c) => {
   *   const response = await fetch("https://clips.example/clip.mp4", { signal: c.signal });
   *   await c.sendVideo(await response.blob(), { filename: "clip.mp4", caption: "**A clip**" });
   * });
   * ```
   */
  async sendVideo(data: BotMedia, options: VideoOptions = {}): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, VIDEO, "sendVideo");
      return this.#sendFile(run, data, { ...options, fileType: "m.video" });
    });
  }

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
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("song", async (c) => {
   *   const response = await fetch("https://songs.example/song.ogg", { signal: c.signal });
   *   await c.sendAudio(await response.blob(), { filename: "song.ogg", duration: "3m" });
   * });
   * ```
   */
  async sendAudio(data: BotMedia, options: AudioOptions = {}): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, AUDIO, "sendAudio");
      return this.#sendFile(run, data, { ...options, fileType: "m.audio" });
    });
  }

  #sendFile(run: Run, data: BotMedia, options: FileOptions & VideoOptions): Promise<EventID> {
    return run.act("file", async () => {
      const { filename, fileType, mimeType, duration, width: w, height: h, ...more } = await captioned(
        options,
        this,
      );
      checkPixels("width", w);
      checkPixels("height", h);
      const measures = { mimetype: mimeType, duration: readLength(duration), w, h };
      const known = Object.entries(measures).filter(([, value]) => value !== undefined);
      const info = known.length === 0 ? undefined : Object.fromEntries(known);
      return await this.kit.client.sendFile(this.roomId, data, {
        fileName: filename,
        fileType,
        info,
        ...run.sends,
        ...more,
      });
    });
  }

  /**
   * Sends a sticker.
   *
   * @param url Where the image is: an `mxc://` URI.
   * @param info What is known of the image. Default: nothing.
   * @param options What it shows, whom it notifies, what it answers.
   * @returns The message.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("wave", (c) => c.sendSticker("mxc://example.org/wave", { w: 256, h: 256 }, { text: "A hand" }));
   * ```
   */
  async sendSticker(
    url: ContentURI,
    info: ImageInfo = {},
    options: StickerOptions = {},
  ): Promise<BotMessage> {
    return await this.sending((run) => {
      checkNamed(options, STICKER, "sendSticker");
      const { mentions, replyTo, thread = this.thread, ...more } = options;
      const place = placeIn({ replyTo, thread }, "send a sticker", this.roomId);
      const placed = { ...more, ...place, mentions: mentions && mentionsOf(notified(mentions)) };
      return run.act(
        "sticker",
        () =>
          this.kit.client.sendSticker(this.roomId, url, info, {
            ...placed,
            ...run.sends,
          }),
      );
    });
  }

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
   * ```ts
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
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("lunch", (c) => c.sendPoll({ question: "Lunch?", answers: ["Pizza", "Soup"], maxSelections: 2 }));
   * ```
   */
  sendPoll(poll: PollOptions): Promise<BotMessage>;
  async sendPoll(
    first: string | PollOptions,
    answers: readonly string[] = [],
    options: SendPollOptions = {},
  ): Promise<BotMessage> {
    return await this.sending((run) => {
      if (typeof first === "string") checkOptions(options, POLL, "sendPoll");
      const given = typeof first === "string" ? { ...options, question: first, answers } : first;
      const poll = { ...given, relatesTo: relationTo({ thread: this.thread }) };
      return run.act("poll", () => sendPoll(this.kit.client, this.roomId, poll, run.sends));
    });
  }

  /**
   * Ends a poll that the bot has started, and writes the result into the event that ends it.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   * @param poll The poll, or its event ID.
   * @returns The votes for each answer, and which answers have most.
   * @throws {ValueError} If the event is no poll.
   *
   * @example
   * ```ts
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
  async endPoll(poll: MessageRef): Promise<PollTally> {
    const id = eventIdOf(poll, "end a poll", this.roomId);
    return await this.within((run) =>
      run.act("end poll", () => endPoll(this.kit.client, this.roomId, id, run.sends))
    );
  }
}

function checkPixels(name: "width" | "height", given: number | undefined): void {
  if (given === undefined || (Number.isSafeInteger(given) && given >= 0)) return;
  throw new ValueError(`Cannot send a file: ${name} must be whole pixels, and is ${given}`);
}
