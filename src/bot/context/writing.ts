/**
 * What a bot writes, as the content of messages, and the images and files that it sends.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { type Client, isEventId, relationTo, type ReplyPlace, toUserId, ValueError } from "../../../mod.ts";
import type {
  EventID,
  Mentions,
  RelatesTo,
  RoomID,
  RoomMessageContent,
  SendOptions,
  UserID,
} from "../../../types.ts";
import { inMilliseconds } from "../../base/clock.ts";
import { checkHinted, type Hints } from "../../errors/hints.ts";
import { checkOneOf, checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { splitMessage } from "../text/mod.ts";
import { WRITE_HINTS } from "./context_hints.ts";

/** Options of methods that send text, like {@linkcode BotRoom.reply}. */
export interface WriteOptions {
  /**
   * What the text is written in. `plain` shows it as it is, and nobody is notified by what stands
   * in it: use it to repeat what others wrote. Default: `markdown`.
   */
  format?: "markdown" | "html" | "plain";
  /**
   * What kind of message it is. Default: the bot's, which is `m.notice` by default, and which other
   * bots do not answer.
   */
  msgtype?: "m.notice" | "m.text" | "m.emote";
  /**
   * Who is notified: users, or `room` for everybody in it. Links in the text then notify nobody
   * else. If the text takes several messages, the first one notifies. Default: in a reply the user
   * who is answered; and the users to whom there are links in Markdown or HTML, but not in quotes
   * or code.
   */
  mentions?: readonly string[];
  /**
   * Names what is sent, so that it is sent once even if its text differs when the handler runs
   * again after a crash, as a model's answer does.
   */
  sendKey?: string;
}

/** @internal Names of other libraries, for the compiler. */
export interface WriteOptionsHints extends Hints<typeof WRITE_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface WriteOptions extends WriteOptionsHints {}

/** An event of a room: its ID; or what has that, as a {@linkcode BotMessage}, a context, or `c.reaction`. */
export type MessageRef = EventID | {
  /** What the homeserver calls the event. */
  readonly eventId: EventID;
  /** The ID of its room: elsewhere it is refused. Default: it is not known, and not checked. */
  readonly roomId?: string;
};

/**
 * Returns the ID of an event.
 *
 * @param action What can't be done otherwise, as the error has it.
 * @param room The room in which that is to be done.
 * @throws {ValueError} If it has none, or is known to be of another room.
 */
export function eventIdOf(message: MessageRef, action: string, room: RoomID): EventID {
  const isObject = typeof message === "object" && message !== null;
  const { eventId, roomId = room }: { eventId: unknown; roomId?: string } = isObject
    ? message
    : { eventId: message };
  if (!isEventId(eventId)) {
    const [given, mend] = message instanceof Promise
      ? ["a promise", "await what sends it"]
      : [eventId, "give a message, or its event ID"];
    throw new ValueError(`Cannot ${action}: ${given} is no event ID; ${mend}`);
  }
  if (roomId === room) return eventId;
  throw new ValueError(`Cannot ${action}: ${eventId} is of another room than ${room}; do it in ${roomId}`);
}

/** Options of {@linkcode BotRoom.send}. */
export interface BotSendOptions extends WriteOptions {
  /** The message that it replies to, or its event ID. Default: none. */
  replyTo?: MessageRef;
}

/** Where something is sent within a room. */
export interface SendPlace {
  /** The message that it replies to, or its event ID. Default: none. */
  replyTo?: MessageRef;
  /**
   * The first message of the thread that it belongs to, or its event ID. Default: that of the room or
   * context.
   */
  thread?: MessageRef;
}

/** The place with event IDs; what is not said is not there. */
export function placeIn({ replyTo, thread }: SendPlace, action: string, room: RoomID): ReplyPlace {
  return {
    ...(replyTo === undefined ? {} : { replyTo: eventIdOf(replyTo, action, room) }),
    ...(thread === undefined ? {} : { thread: eventIdOf(thread, action, room) }),
  };
}

export const WRITE: OptionNames<WriteOptions> = {
  ...{ format: true, msgtype: true, mentions: true, sendKey: true },
};
export const SEND: OptionNames<BotSendOptions> = { ...WRITE, replyTo: true };

/** Text as the members of a content. */
export interface Written {
  /** The text for clients that show no formatting. */
  readonly body: string;
  /** The text with formatting, if it has any. */
  readonly html: string | undefined;
  /** The users whose pills are in it. */
  readonly mentioned: readonly UserID[];
}

/**
 * Text without any formatting in Markdown, which needs no library. A text that begins with a number
 * and a dot could be a list.
 */
const PLAIN = /^(?!\s|\d+[.)])[^*_`~[\]<>#|&\\\n@:/+=-]*$/;

const FORMATS = ["markdown", "html", "plain"] as const;
const KINDS = ["m.notice", "m.text", "m.emote"] as const;

/**
 * Writes text that has no formatting and fits into one message, which most texts of bots are.
 *
 * @returns Undefined if it takes more than that.
 */
export function writePlain(
  text: string,
  format: WriteOptions["format"] = "markdown",
): Written | undefined {
  if (!FORMATS.includes(format)) checkOneOf(format, FORMATS, "write a message", "format");
  if (typeof text !== "string" || text.length >= 1_000 || format === "html" || text.trim() === "") {
    return undefined;
  }
  return format === "plain" || PLAIN.test(text) ? { body: text, html: undefined, mentioned: [] } : undefined;
}

/**
 * Refuses what is no text, or an empty one.
 *
 * @param action What can't be done with it, as the error has it.
 * @throws {ValueError} If it is one of these.
 */
export function checkText(text: unknown, action: string): void {
  const fault = typeof text !== "string"
    ? `must be a string, and is ${text === null ? "null" : typeof text}; make it one, or await what gives it`
    : text.trim() === ""
    ? "is empty; give it at least one character that is shown"
    : undefined;
  if (fault !== undefined) throw new ValueError(`Cannot ${action}: the text ${fault}`);
}

/**
 * Refuses options of text, or of what has a caption, that there are not: `known` are those that there are.
 */
export function checkNamed(options: object, known: Readonly<Record<string, true>>, action: string): void {
  checkHinted(options, known, WRITE_HINTS, action);
  checkOptions(options, known, action);
}

/**
 * Refuses a reason that is no text, as an object of options.
 *
 * @param action What it is the reason for, as the error has it.
 * @throws {ValueError} If it is none.
 */
export function checkReason(reason: unknown, action: string): void {
  if (reason === undefined || typeof reason === "string") return;
  throw new ValueError(
    `Cannot ${action}: the reason must be a string, and is ${
      reason === null ? "null" : `of type ${typeof reason}`
    }`,
  );
}

/**
 * Writes text, in as many messages as it needs.
 *
 * @throws {ValueError} If it is empty, or no text.
 */
export async function write(text: string, format: WriteOptions["format"] = "markdown"): Promise<Written[]> {
  checkText(text, "write a message");
  const plain = writePlain(text, format);
  if (plain !== undefined) return [plain];
  const { formatText } = await import("../text/format_message.ts"); // with their libraries
  const { formatHtmlPieces, formatPieces } = await import("../text/format_pieces.ts");
  const contents = format === "markdown"
    ? await formatPieces(text)
    : format === "html"
    ? await formatHtmlPieces(text)
    : splitMessage(text).map((piece) => formatText(piece));
  if (contents.length === 0) throw new ValueError("Cannot write a message: nothing of the text is shown");
  return contents.map(({ body, formatted_body: html, "m.mentions": { user_ids: mentioned = [] } }) => ({
    body,
    html,
    mentioned,
  }));
}

/** Where a message goes. */
export interface Placing extends ReplyPlace {
  /** Whom the first message notifies by itself. Default: nobody. */
  readonly notifies?: readonly UserID[];
}

/**
 * Writes text that has to fit into one message.
 *
 * @param action What can't be done with it otherwise, and what to do, as the error has it.
 * @throws {ValueError} If it needs more, is empty, or no text.
 */
export async function writeOne(
  text: string,
  format: WriteOptions["format"],
  { action, mend }: { readonly action: string; readonly mend: string },
): Promise<Written> {
  const [part, ...more] = await write(text, format) as [Written, ...Written[]]; // at least one
  if (more.length === 0) return part;
  throw new ValueError(`Cannot ${action}: the text needs ${more.length + 1} messages; ${mend}`);
}

/**
 * Whom a message of a text notifies.
 *
 * @param written The message.
 * @param index Its place among the messages of the text.
 * @param mentions Who was asked for; undefined: those who are linked, beside others.
 * @param others Whom the first notifies by itself.
 */
export function notifiedBy(
  { mentioned }: Written,
  index: number,
  mentions: WriteOptions["mentions"],
  others: readonly UserID[] = [],
): readonly (UserID | "room")[] {
  const isFirst = index === 0;
  if (mentions !== undefined) return isFirst ? notified(mentions) : [];
  return isFirst ? [...others, ...mentioned] : mentioned;
}

/** The content of a message. */
export function contentOf(
  { body, html }: Written,
  { msgtype, mentions, relatesTo }: {
    readonly msgtype: "m.notice" | "m.text" | "m.emote";
    readonly mentions: readonly (UserID | "room")[];
    readonly relatesTo: RelatesTo | undefined;
  },
): RoomMessageContent {
  if (!KINDS.includes(msgtype)) checkOneOf(msgtype, KINDS, "write a message", "msgtype");
  // Also when it is empty: then nobody is notified by a name in the text.
  const content: RoomMessageContent = { msgtype, body, "m.mentions": mentionsOf(mentions) };
  if (html !== undefined) Object.assign(content, { format: "org.matrix.custom.html", formatted_body: html });
  if (relatesTo !== undefined) content["m.relates_to"] = relatesTo;
  return content;
}

/**
 * The users who are to be notified, or `room`.
 *
 * @throws {ValueError} If one is no user ID.
 */
export function notified(mentions: readonly string[]): readonly (UserID | "room")[] {
  return mentions.map((each) => each === "room" ? each : toUserId(each));
}

/** Whom a message notifies, as its content has it. */
export function mentionsOf(mentions: readonly (UserID | "room")[]): Mentions {
  const all: Mentions = {};
  const users = mentions.filter((each) => each !== "room");
  if (users.length > 0) all.user_ids = users.length === 1 ? users : [...new Set(users)];
  if (users.length < mentions.length) all.room = true;
  return all;
}

/** What a bot sends as an image or a file: it may be sent again, after a crash, so it is no stream. */
export type BotMedia = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;

/** The text that is shown with an image or a file, and what that answers. */
export interface CaptionOptions extends Pick<WriteOptions, "format" | "mentions">, SendPlace {
  /** The text, as much as one message holds. Default: none. */
  caption?: string;
}

/** What a bot says of a file that it sends. */
export interface MediaOptions extends CaptionOptions {
  /** Its name. Default: a `File`'s own, else none. */
  filename?: string;
  /** Its media type. Default: what the bytes of an image say, or a `Blob`'s own; else unknown. */
  mimeType?: string;
}

/** Options of {@linkcode BotRoom.sendImage}: of what is no PNG, JPEG, GIF or WebP, say the type. */
export interface ImageOptions extends MediaOptions {
  /** Whether to make a thumbnail and a blurred version: see {@linkcode describeImage}. Default: true. */
  thumbnail?: boolean;
}

/** Options of {@linkcode BotRoom.sendAudio}. */
export interface AudioOptions extends MediaOptions {
  /** How long it plays: like `3m`, or in milliseconds. Default: unknown. */
  duration?: number | string;
}

/** Options of {@linkcode BotRoom.sendVideo}. */
export interface VideoOptions extends AudioOptions {
  /** How wide it is, in pixels. Default: unknown. */
  width?: number;
  /** How high it is, in pixels. Default: unknown. */
  height?: number;
}

/** Options of {@linkcode BotRoom.sendFile}. */
export interface FileOptions extends MediaOptions {
  /** What kind of file it is. Default: `m.file`. */
  fileType?: "m.file" | "m.audio" | "m.video";
}

/** Options of {@linkcode BotRoom.sendSticker}. */
export interface StickerOptions extends Pick<WriteOptions, "mentions">, SendPlace {
  /** What it shows or means, in words. Default: empty. */
  text?: string;
}

const CAPTION: OptionNames<CaptionOptions> = {
  ...{ caption: true, format: true, mentions: true, replyTo: true, thread: true },
};
const MEDIA: OptionNames<MediaOptions> = { ...CAPTION, filename: true, mimeType: true };
export const IMAGE: OptionNames<ImageOptions> = { ...MEDIA, thumbnail: true };
export const AUDIO: OptionNames<AudioOptions> = { ...MEDIA, duration: true };
export const VIDEO: OptionNames<VideoOptions> = { ...AUDIO, width: true, height: true };
export const FILE: OptionNames<FileOptions> = { ...MEDIA, fileType: true };
export const STICKER: OptionNames<StickerOptions> = {
  ...{ text: true, mentions: true, replyTo: true, thread: true },
};

/** What is sent with a file. */
interface Captioned {
  /** The text of the caption. */
  readonly caption?: string;
  /** The caption with formatting, if it has any. */
  readonly captionHtml?: string;
  readonly mentions?: Mentions;
  readonly relatesTo?: RelatesTo;
}

/** The options with what the client takes for a caption, in a thread unless they name another. */
export async function captioned<Options extends CaptionOptions>(
  { caption, format, mentions: asked, replyTo, thread, ...options }: Options,
  { roomId, thread: near }: { readonly roomId: RoomID; readonly thread: EventID | undefined },
): Promise<Omit<Options, keyof CaptionOptions> & Captioned> {
  const relatesTo = relationTo(placeIn({ replyTo, thread: thread ?? near }, "send a file", roomId));
  if (caption === undefined) return { ...options, mentions: asked && mentionsOf(notified(asked)), relatesTo };
  const part = await writeOne(caption, format, {
    action: "send a caption",
    mend: "shorten it, and send the rest as text",
  });
  const mentions = mentionsOf(notifiedBy(part, 0, asked));
  return { ...options, caption: part.body, captionHtml: part.html, mentions, relatesTo };
}

/**
 * How long something plays, in milliseconds; undefined: it is not said.
 *
 * @throws {ValueError} If it is no time.
 */
export function readLength(duration: AudioOptions["duration"]): number | undefined {
  if (duration === undefined) return undefined;
  const ms = inMilliseconds(duration);
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw new ValueError('Cannot send a file: duration must be a time like "3m", or whole milliseconds');
}

/** Sends an image, with what can be found out of it. */
export async function sendPicture(
  client: Client,
  room: RoomID,
  data: BotMedia,
  { filename, mimeType, thumbnail: isWanted, ...options }:
    & Omit<ImageOptions, keyof CaptionOptions>
    & Captioned
    & Pick<SendOptions, "queue" | "signal">,
): Promise<EventID> {
  if (typeof data === "string") {
    throw new ValueError("Cannot send an image: give its bytes, not a path or an address");
  }
  const bytes = data instanceof Uint8Array
    ? data
    : new Uint8Array(data instanceof ArrayBuffer ? data : await data.arrayBuffer());
  const { describeImage } = await import("../media/media.ts"); // with its libraries
  const { info, thumbnail } = await describeImage(bytes, { thumbnail: isWanted }).catch((error) => {
    const mimetype = mimeType ?? imageTypeOf(data);
    if (mimetype === undefined || !(error instanceof ValueError)) throw error;
    return { info: { mimetype, size: bytes.length }, thumbnail: undefined };
  });
  if (mimeType !== undefined) info.mimetype = mimeType;
  const name = filename ?? (data instanceof File ? data.name : undefined);
  return await client.sendImage(room, bytes, { fileName: name, info, thumbnail, ...options });
}

/** The type of a `Blob`, if it is an image's: a page that says that there is no image is not sent as one. */
function imageTypeOf(data: BotMedia): string | undefined {
  return data instanceof Blob && data.type.startsWith("image/") ? data.type : undefined;
}
