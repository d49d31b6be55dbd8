/**
 * What a message says, what it answers, and what the content of an event says of a reaction and of a file:
 * contents that anybody sent.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#forming-relationships-between-events | Relationships}
 *
 * @module
 */

import { isEventId } from "../../../mod.ts";
import type { EventID, JsonObject } from "../../../types.ts";
import { cleanHtml } from "./html.ts";

/** What {@link readText} finds in a message. */
export interface ReadText {
  /** What the user said: of an edit the new text, of a file its caption, which may be empty. */
  readonly text: string;
  /** The same with formatting, as `sanitizeHtml()` leaves it. Default: there is none. */
  readonly html?: string;
  /** Whether the message changes an earlier one. */
  readonly isEdit: boolean;
  /** Of an edit: the message that it changes. */
  readonly edits?: EventID;
  /**
   * The message that it replies to. Default: none; a message that was just said in a thread replies
   * to none, though it names one for clients without threads.
   */
  readonly replyTo?: EventID;
  /** The beginning of the thread that it was said in. Default: it is in none. */
  readonly threadRoot?: EventID;
}

type Writable<Value> = { -readonly [Member in keyof Value]: Value[Member] };

/** Messages whose `body` is the name of a file, unless they have a `filename` beside it. */
const FILES: readonly unknown[] = ["m.image", "m.file", "m.audio", "m.video"];

/**
 * Reads the content of an `m.room.message`: edits, replies of today and with the fallbacks of old,
 * threads, captions. Nothing of it is trusted: what has the wrong type is left out.
 *
 * An edit has no `replyTo` and no `threadRoot`: both stay those of the message that it changes.
 *
 * @param content The content, as it was received.
 * @example
 * ```ts
 * import { readText } from "@greenroom/matrix/bot";
 *
 * const { text, replyTo } = readText({
 *   msgtype: "m.text",
 *   body: "> <@bob:example.org> To be?\n\nOr not.",
 *   "m.relates_to": { "m.in_reply_to": { event_id: "$question" } },
 * });
 * console.assert(text === "Or not." && replyTo === "$question");
 * ```
 */
export function readText(content: unknown): ReadText {
  const relation = memberOf(content, "m.relates_to");
  const type = memberOf(relation, "rel_type");
  const target = eventId(memberOf(relation, "event_id"));
  if (type === "m.replace" && target !== undefined) {
    const replacement = memberOf(content, "m.new_content");
    return { ...said(replacement ?? withoutStar(content)), isEdit: true, edits: target };
  }
  const answered = eventId(memberOf(memberOf(relation, "m.in_reply_to"), "event_id"));
  const threadRoot = type === "m.thread" ? target : undefined;
  const isFallback = threadRoot !== undefined && memberOf(relation, "is_falling_back") === true;
  const read: Writable<ReadText> = said(content, answered !== undefined);
  if (answered !== undefined && !isFallback) read.replyTo = answered;
  if (threadRoot !== undefined) read.threadRoot = threadRoot;
  return read;
}

/** The text of a content, without the quote in front of a reply, and its formatted form. */
function said(content: unknown, isReply = false): Pick<ReadText, "text" | "html" | "isEdit"> {
  const body = textOf(memberOf(content, "body")) ?? "";
  const isFile = FILES.includes(memberOf(content, "msgtype"));
  const filename = textOf(memberOf(content, "filename"));
  if (isFile && (filename === undefined || filename === body)) return { text: "", isEdit: false };
  const isHtml = memberOf(content, "format") === "org.matrix.custom.html";
  const html = isHtml ? textOf(memberOf(content, "formatted_body")) : undefined;
  const text = isReply ? stripReplyFallback(body) : body;
  return html === undefined ? { text, isEdit: false } : { text, html: cleanHtml(html).html, isEdit: false };
}

/** An edit that does not say what the new content is has it behind a star. */
function withoutStar(content: unknown): unknown {
  return { msgtype: "m.text", body: (textOf(memberOf(content, "body")) ?? "").replace(/^\* /, "") };
}

function eventId(value: unknown): EventID | undefined {
  return typeof value === "string" && /^\$./s.test(value) && value.length <= 255
    ? value as EventID
    : undefined;
}

const FIRST_LINE = /^> (?:\* )?<@[^>\n]{1,255}>/;

/**
 * Removes the quote that clients put in front of a reply up to version 1.12 of the specification:
 * lines that begin with `>`, the first one with the user ID of who is quoted. Any other text, and a
 * quote that the user wrote, stays as it is.
 *
 * @param body The `body` of a message that is a reply.
 * @returns What the user said.
 * @example
 * ```ts
 * import { stripReplyFallback } from "@greenroom/matrix/bot";
 *
 * console.assert(stripReplyFallback("> <@bob:example.org> To be?\n\nOr not.") === "Or not.");
 * ```
 */
export function stripReplyFallback(body: string): string {
  if (!FIRST_LINE.test(body)) return body;
  let at = 0;
  while (body.startsWith(">", at)) {
    const end = body.indexOf("\n", at);
    if (end < 0) return "";
    at = end + 1;
  }
  return body.slice(at).replace(/^\r?\n/, "");
}

/** Returns whether a value is a JSON object, and not an array or `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of a value, if the value is an object that has it itself. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A value if it is text, and else none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A reaction, as {@linkcode Context.reaction} has it. */
export interface Reaction {
  /** The reaction itself, an emoji mostly. */
  readonly key: string;
  /** What somebody reacts to. */
  readonly eventId: EventID;
}

/**
 * The image, video, audio or other file of a message,
 * as {@linkcode Context.media} has it: what its sender says.
 */
export interface MessageMedia {
  /** The name of the file; the text of the message if it has no name of its own. */
  readonly filename: string;
  /** The text beside it; undefined if there is none. */
  readonly caption: string | undefined;
  /** Its media type, like `image/png`. */
  readonly mimeType: string | undefined;
  /** Its size in bytes. */
  readonly size: number | undefined;
  /** The width of an image or a video, in pixels. */
  readonly width: number | undefined;
  /** Its height, in pixels. */
  readonly height: number | undefined;
  /** How long a video or audio is, in milliseconds. */
  readonly duration: number | undefined;
  /** Whether the file is encrypted. */
  readonly isEncrypted: boolean;
}

/** Reads what the content of a reaction says; undefined if it is none. */
export function reactionOf(content: object): Reaction | undefined {
  const relation = memberOf(content, "m.relates_to");
  const [key, eventId] = [textOf(memberOf(relation, "key")), textOf(memberOf(relation, "event_id"))];
  return key === undefined || !isEventId(eventId) ? undefined : { key, eventId };
}

/** Reads what the content of a message says of its image or other file; undefined if it has none. */
export function mediaOf(content: object): MessageMedia | undefined {
  const { url, file, filename, body, info } = content as Partial<Record<string, unknown>>;
  if (file === undefined && url === undefined) return undefined;
  const [name, text] = [textOf(filename), textOf(body)];
  const number = (member: string) => {
    const value = memberOf(info, member);
    return typeof value === "number" ? value : undefined;
  };
  return {
    filename: name ?? text ?? "",
    caption: name === undefined || name === text ? undefined : text,
    mimeType: textOf(memberOf(info, "mimetype")),
    size: number("size"),
    width: number("w"),
    height: number("h"),
    duration: number("duration"),
    isEncrypted: file !== undefined,
  };
}

const PARTS: ReadonlyMap<unknown, (content: object) => unknown> = new Map<
  unknown,
  typeof mediaOf | typeof reactionOf
>([
  ...["m.image", "m.file", "m.audio", "m.video", "m.sticker"].map((kind) => [kind, mediaOf] as const),
  ["m.reaction", reactionOf],
]);

/**
 * Returns whether content has no file, or no reaction, though its kind needs one.
 *
 * @param kind A type of event, or the `msgtype` of a message.
 */
export function lacksPart(kind: unknown, content: unknown): boolean {
  const read = PARTS.get(kind);
  return read !== undefined && read(Object(content)) === undefined;
}
