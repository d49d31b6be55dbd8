/**
 * Sending what people send: text, files, images, stickers, reactions.
 *
 * Over 300 lines because more than half of it is the documentation of what applications see.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#instant-messaging | Instant messaging}
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { MessageType, RelationType } from "../../types/enums.ts";
import type { ImageInfo } from "../../types/content/file_info.ts";
import type { ContentURI, EventID, RoomID } from "../../types/ids.ts";
import type { RoomMessageContent } from "../../types/content/message_content.ts";
import { checkIdentifier, parseContentUri } from "../../types/identifiers.ts";
import { calledAs } from "../http/mod.ts";
import type { FilePlacing } from "./media_attachment.ts";
import type { MessagesAPI, SendOptions } from "./messages.ts";
import {
  addressing,
  formatted,
  type PlacedSendOptions,
  type SendFilesAPI,
  sendFilesAPI,
} from "./send_files.ts";
import { isJsonObject } from "../../types/json.ts";

/** Options of the operations that send text of a certain kind. */
export interface SendTextOptions extends PlacedSendOptions {
  /** The text with formatting. Default: none. */
  html?: string;
}

/** Options of {@link SendHelpersAPI.sendText}. */
export interface SendTypedTextOptions extends SendTextOptions {
  /** What kind of text it is. Default: `m.text`. */
  msgtype?: "m.text" | "m.notice" | "m.emote";
}

/** Options of {@link SendHelpersAPI.sendSticker}. */
export interface SendStickerOptions extends PlacedSendOptions {
  /** What the sticker shows or means, in words. Default: empty. */
  text?: string;
}

/** Options of {@link SendHelpersAPI.edit}. */
export interface EditOptions
  extends SendOptions, Pick<SendTypedTextOptions, "html" | "msgtype" | "mentions"> {}

/**
 * Operations that send messages of the common kinds. All go through `sendMessageEvent()`, and so
 * are encrypted where it encrypts.
 *
 * A message whose relation is `m.replace` is an edit: what is given is what the edited message is
 * to say, and the fallback for clients that know no edits, with a `* ` in front, is made of it.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if an identifier can't be one.
 */
export interface SendHelpersAPI extends SendFilesAPI {
  /**
   * Sends a message with any content.
   *
   * @param roomId The room.
   * @param content The content: text, media, a location or anything else with a `msgtype`.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage | m.room.message}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendMessage(roomId, {
   *   msgtype: "m.location",
   *   body: "The stage door",
   *   geo_uri: "geo:51.5129,-0.1200",
   * });
   * ```
   */
  sendMessage(roomId: RoomID, content: RoomMessageContent, options?: SendOptions): Promise<EventID>;
  /**
   * Sends text, as {@linkcode SendHelpersAPI.sendText} does.
   *
   * @param roomId The room.
   * @param text The text.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendMessage(roomId, "The stage door is open");
   * ```
   */
  sendMessage(roomId: RoomID, text: string, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Sends text.
   *
   * @param roomId The room.
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mtext | m.text}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, null, { html: "<b>Beginners</b>, please" });
   * const { content } = await client.getEvent(roomId, eventId);
   * console.assert(content.body === "Beginners, please");
   * await client.sendText(roomId, "On my way", { replyTo: eventId });
   * ```
   */
  sendText(roomId: RoomID, text: string | null | undefined, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Replaces what a message of the user's says. Clients that know no edits show the new text
   * as a message, with a `* ` in front.
   *
   * @param roomId The room.
   * @param eventId The message; of one that was edited before, the first.
   * @param text The plain text that it says from now on; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, transaction ID, encryption, and request options.
   * @returns The ID of the edit.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#event-replacements | Event replacements}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Begginers, please");
   * await client.edit(roomId, eventId, "Beginners, please");
   * ```
   */
  edit(
    roomId: RoomID,
    eventId: EventID,
    text: string | null | undefined,
    options?: EditOptions,
  ): Promise<EventID>;

  /**
   * Sends text that other bots do not answer; the right kind for what a bot says.
   *
   * @param roomId The room.
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mnotice | m.notice}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function report(client: Client, roomId: RoomID): Promise<void> {
   *   await client.sendNotice(roomId, "The build is green");
   * }
   * ```
   */
  sendNotice(roomId: RoomID, text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends an action of the user, as `/me` writes it.
   *
   * @param roomId The room.
   * @param text What the user does; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#memote | m.emote}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function bow(client: Client, roomId: RoomID): Promise<void> {
   *   await client.sendEmote(roomId, "takes a bow");
   * }
   * ```
   */
  sendEmote(roomId: RoomID, text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends a sticker.
   *
   * @param roomId The room.
   * @param url The `mxc://` URL of the image.
   * @param info What is known of the image.
   * @param options What it shows, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#msticker | m.sticker}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI, RoomID } from "@greenroom/matrix/types";
   *
   * export async function applaud(client: Client, roomId: RoomID, url: ContentURI): Promise<void> {
   *   await client.sendSticker(roomId, url, { w: 256, h: 256 }, { text: "Applause" });
   * }
   * ```
   */
  sendSticker(
    roomId: RoomID,
    url: ContentURI,
    info: ImageInfo,
    options?: SendStickerOptions,
  ): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param key The reaction, mostly an emoji.
   * @param options Transaction ID and request options. Reactions are not encrypted by default.
   * @returns The ID of the reaction; redact it to take the reaction back.
   * @throws {DuplicateAnnotationError} If the user has reacted to the event with this key before.
   * @throws {ValueError} If `key` is empty.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mreaction | m.reaction}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const question = await client.sendText(roomId, "Ready?");
   * await client.react(roomId, question, "👍️");
   * ```
   */
  react(roomId: RoomID, eventId: EventID, key: string, options?: SendOptions): Promise<EventID>;
}

/**
 * Makes the operations that send messages.
 *
 * @param sendMessageEvent What sends events: the encrypting version of it, if there is one.
 * @param placing Uploads files, and encrypts them where that is necessary.
 */
export function sendHelpersAPI(
  sendMessageEvent: MessagesAPI["sendMessageEvent"],
  placing: FilePlacing,
): SendHelpersAPI {
  const sendMessage = async (
    roomId: RoomID,
    content: RoomMessageContent | string,
    options?: SendTypedTextOptions,
  ): Promise<EventID> => {
    const named = calledAs(options, "sendMessage");
    return typeof content === "string"
      ? await sendText(roomId, content, named)
      : await sendMessageEvent(roomId, "m.room.message", withEditFallback(content), named);
  };

  const sendText: SendHelpersAPI["sendText"] = async (
    roomId,
    text,
    { html, msgtype = MessageType.TEXT, replyTo, thread, mentions, relatesTo, ...options } = {},
  ) => {
    checkIdentifier("roomId", roomId);
    const relation = addressing({ replyTo, thread, mentions, relatesTo });
    const body = text ?? (html === undefined ? undefined : await htmlToText(html));
    if (body === undefined) {
      throw new ValueError("Cannot send text: there is neither text nor html; give one of them");
    }
    const content = { msgtype, body, ...formatted(html), ...relation };
    const named = calledAs(options, "sendText");
    return await sendMessageEvent(roomId, "m.room.message", withEditFallback(content), named);
  };

  return {
    sendMessage,
    sendText,
    edit: async (roomId, eventId, text, options) => {
      checkIdentifier("eventId", eventId);
      const relatesTo = { rel_type: RelationType.REPLACE, event_id: eventId };
      return await sendText(roomId, text, { ...calledAs(options, "edit"), relatesTo });
    },
    sendNotice: (roomId, text, options) =>
      sendText(roomId, text, { ...calledAs(options, "sendNotice"), msgtype: MessageType.NOTICE }),
    sendEmote: (roomId, text, options) =>
      sendText(roomId, text, { ...calledAs(options, "sendEmote"), msgtype: MessageType.EMOTE }),
    ...sendFilesAPI(sendMessage, placing),
    async sendSticker(
      roomId,
      url,
      info,
      { text = "", replyTo, thread, mentions, relatesTo, ...options } = {},
    ) {
      parseContentUri(url);
      const relation = addressing({ replyTo, thread, mentions, relatesTo });
      const content = { body: text, url, info, ...relation };
      return await sendMessageEvent(roomId, "m.sticker", content, calledAs(options, "sendSticker"));
    },
    async react(roomId, eventId, key, options) {
      checkIdentifier("eventId", eventId);
      if (key === "") throw new ValueError("Cannot react: the key is empty");
      const relatesTo = { rel_type: RelationType.ANNOTATION, event_id: eventId, key };
      return await sendMessageEvent(
        roomId,
        "m.reaction",
        { "m.relates_to": relatesTo },
        calledAs(options, "react"),
      );
    },
  };
}

/**
 * The content of a message as it is sent: an edit says what it says twice, in `m.new_content` for
 * clients that know edits, and with a `* ` in front for those that don't. Any other message, and an
 * edit that has its `m.new_content`, stays as it is.
 */
function withEditFallback(content: RoomMessageContent): RoomMessageContent {
  const isEdit = isJsonObject(content) && content["m.relates_to"]?.rel_type === RelationType.REPLACE;
  if (!isEdit || content["m.new_content"] !== undefined) return content;
  const { "m.relates_to": _, ...replacement } = content;
  const edit: RoomMessageContent & { formatted_body?: string } = { ...content, body: `* ${content.body}` };
  if (edit.formatted_body !== undefined) edit.formatted_body = `* ${edit.formatted_body}`;
  edit["m.new_content"] = replacement;
  return edit;
}

/**
 * Writes HTML as plain text, with nothing of a quoted reply's fallback. What reads HTML is loaded at the
 * first call.
 *
 * @param html The formatted message.
 */
export async function htmlToText(html: string): Promise<string> {
  const { textOfHtml } = await import("../../base/html_text.ts");
  return textOfHtml(html);
}
