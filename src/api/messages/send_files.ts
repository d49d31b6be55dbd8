/**
 * Sending files: what has been uploaded, and data that is uploaded on the way, encrypted where the room is;
 * and what their captions share with texts: formatting, and how they relate to other events.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
 *
 * Over 300 lines because a caption is the content of a text.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type {
  AudioInfo,
  BaseFileInfo,
  EncryptedFile,
  FileInfo,
  ImageInfo,
  ThumbnailInfo,
  VideoInfo,
} from "../../types/content/file_info.ts";
import type { Mentions, RelatesTo, RoomMessageContent } from "../../types/content/message_content.ts";
import { MessageType } from "../../types/enums.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { ContentURI, EventID, RoomID, UserID } from "../../types/ids.ts";
import { isList, type JsonObject } from "../../types/json.ts";
import { calledAs, identified, isToldByContent, type MediaData, type OnProgress } from "../http/mod.ts";
import { checkAttachment, discard, type FilePlacing, placeFiles } from "./media_attachment.ts";
import { checkSendOptions, relationTo, type ReplyPlace, type SendOptions } from "./messages.ts";

/** A smaller version of a file, to be uploaded with it. */
export interface Thumbnail {
  /** The image. */
  data: MediaData;
  /**
   * What is known of it. Its media type and size are found out where they can be. Default: nothing.
   */
  info?: ThumbnailInfo;
}

/** Options of {@link SendFilesAPI.sendImage}. */
export interface SendImageOptions extends PlacedSendOptions {
  /**
   * What is known of the image: size, media type, thumbnail. Default: nothing; of data, media type
   * and size are found out where they can be. The size of a stream should be said.
   */
  info?: ImageInfo;
  /** The image's file name; shown where the image can't be. Default: a `File`'s own, else none. */
  fileName?: string;
  /** A text that is shown with it. Default: none. */
  caption?: string;
  /** The caption as HTML. Default: none. */
  captionHtml?: string;
  /** A smaller version of the image, to be uploaded. Default: none but what `info` says. */
  thumbnail?: Thumbnail;
  /** Called with the number of bytes uploaded so far. Default: none. */
  onProgress?: OnProgress;
}

/** Options of {@link SendFilesAPI.sendFile}. */
export interface SendFileOptions extends PlacedSendOptions {
  /**
   * What is known of the file: size, media type, thumbnail. Default: nothing; of data, media type
   * and size are found out where they can be. The size of a stream should be said.
   */
  info?: BaseFileInfo | FileInfo | ImageInfo | AudioInfo | VideoInfo;
  /** The file's name. Default: a `File`'s own, else none. */
  fileName?: string;
  /** A text that is shown with it. Default: none. */
  caption?: string;
  /** The caption as HTML. Default: none. */
  captionHtml?: string;
  /** What kind of file it is. Default: `m.file`. */
  fileType?: "m.file" | "m.image" | "m.audio" | "m.video";
  /** A picture of the file, to be uploaded. Default: none but what `info` says. */
  thumbnail?: Thumbnail;
  /** Called with the number of bytes uploaded so far. Default: none. */
  onProgress?: OnProgress;
}

/** Operations that send files. */
export interface SendFilesAPI {
  /**
   * Sends a file: data, or what has been uploaded before.
   *
   * Data is uploaded as `uploadMedia()` does it. If the room is encrypted, it is encrypted first,
   * with a key that only the message contains; the server learns neither its media type nor its
   * name. So is the thumbnail, with a key of its own. Nothing is uploaded before all options were
   * checked, and a stream is used up also if sending fails later.
   *
   * @param roomId The room.
   * @param url The file: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the file, its name, kind and thumbnail, what it answers, transaction
   *   ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mfile | m.file}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * client.on("m.room.message", async ({ content }) => {
   *   if (content.msgtype !== "m.file") return;
   *   const place = content.file ?? content.url; // encrypted, or in clear
   *   if (place !== undefined) await client.downloadMedia(place);
   * });
   * const script = new File(["Enter a ghost"], "script.txt", { type: "text/plain" });
   * await client.sendFile(roomId, script);
   * ```
   */
  sendFile(
    roomId: RoomID,
    url: ContentURI | EncryptedFile | MediaData,
    options?: SendFileOptions,
  ): Promise<EventID>;

  /**
   * Sends an image: data, or what has been uploaded before. Data is treated as by `sendFile()`.
   *
   * @param roomId The room.
   * @param url The image: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the image, its name and thumbnail, what it answers, transaction ID,
   *   encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mimage | m.image}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const [set, small] = [new Uint8Array(9_000), new Uint8Array(90)]; // as a camera gives them
   * await client.sendImage(roomId, set, {
   *   fileName: "set.png",
   *   info: { mimetype: "image/png", w: 1200, h: 900 },
   *   thumbnail: { data: small, info: { mimetype: "image/png", w: 120, h: 90 } },
   * });
   * ```
   */
  sendImage(
    roomId: RoomID,
    url: ContentURI | EncryptedFile | MediaData,
    options?: SendImageOptions,
  ): Promise<EventID>;
}

/** What stands in the body of media without a name: a word for their kind. */
const NAMELESS = { "m.file": "file", "m.image": "image", "m.audio": "audio", "m.video": "video" } as const;

/** The text of a file: its caption, which is one by not being its name; or its name. */
function bodyOf(
  name: string | undefined,
  { caption, captionHtml, fileType }: Pick<SendFileOptions, "caption" | "captionHtml"> & {
    readonly fileType: keyof typeof NAMELESS;
  },
): JsonObject & { readonly body: string } {
  if (caption === undefined || caption === "") {
    return name ? { body: name, filename: name } : { body: NAMELESS[fileType] };
  }
  return { body: caption, filename: name || NAMELESS[fileType], ...formatted(captionHtml) };
}

/**
 * Makes the operations that send files.
 *
 * @param sendMessage What sends messages.
 * @param placing Uploads files, and encrypts them where that is necessary.
 */
export function sendFilesAPI(
  sendMessage: (roomId: RoomID, content: RoomMessageContent, options?: SendOptions) => Promise<EventID>,
  placing: FilePlacing,
): SendFilesAPI {
  const sendFile: SendFilesAPI["sendFile"] = async (
    roomId,
    file,
    {
      info,
      fileName,
      fileType = MessageType.FILE,
      thumbnail,
      onProgress,
      caption,
      captionHtml,
      replyTo,
      thread,
      mentions,
      relatesTo,
      ...options
    } = {},
  ) => {
    checkIdentifier("roomId", roomId);
    checkSendOptions(options, "sendFile");
    const relation = addressing({ replyTo, thread, mentions, relatesTo });
    const name = fileName ?? (file instanceof File ? file.name : undefined);
    const isHashed = isToldByContent(options);
    const attachment = { file, info, name, thumbnail, onProgress, isHashed };
    checkAttachment(placing.cipher, attachment);
    try {
      const outgoing = { roomId, type: "m.room.message", content: {} };
      const named = isHashed ? options : await identified(outgoing, options, placing);
      const { placed, digests } = await placeFiles(placing, roomId, attachment, options);
      const told = {
        msgtype: fileType,
        ...bodyOf(name, { caption, captionHtml, fileType }),
        ...relation,
      };
      const content = { ...told, ...placed };
      if (!isHashed) return await sendMessage(roomId, content, named);
      // The address and the key differ each time: the hash of the data stands for them.
      const [data = file, small] = digests;
      const same = {
        ...outgoing,
        content: { ...told, info, thumbnail: thumbnail?.info, files: [data, small] },
      };
      return await sendMessage(roomId, content, await identified(same, options, placing));
    } catch (error) {
      discard(file, thumbnail?.data);
      throw error;
    }
  };
  return {
    sendFile,
    sendImage: async (roomId, url, options) =>
      await sendFile(roomId, url, { ...calledAs(options, "sendImage"), fileType: MessageType.IMAGE }),
  };
}

/** Options of all operations that send what people see. */
export interface PlacedSendOptions extends SendOptions, ReplyPlace {
  /**
   * Whom the message notifies: users, and `"room"` for all; or what `m.mentions` has. Default:
   * it says nothing of that, and clients go by the names in it.
   */
  mentions?: Mentions | readonly (UserID | "room")[];
  /**
   * How the message relates to another event, in all that `replyTo` and `thread` can't say. Default: not at
   * all.
   */
  relatesTo?: RelatesTo;
}

/**
 * The part of a content that says whom the message notifies, with all that received mentions have, and how it
 * relates to other events; empty: nothing was said.
 *
 * @throws {ValueError} If the relation is said twice, or an event ID is none.
 */
export function addressing(
  { replyTo, thread, mentions, relatesTo }: Omit<PlacedSendOptions, keyof SendOptions>,
): { "m.mentions"?: Mentions; "m.relates_to"?: RelatesTo } {
  const place = relationTo({ replyTo, thread });
  if (place !== undefined && relatesTo !== undefined) {
    throw new ValueError("Cannot send a message: give relatesTo, or replyTo and thread, not both");
  }
  const relation = relatesTo ?? place;
  return {
    ...(mentions && { "m.mentions": mentionsOf(mentions) }),
    ...(relation && { "m.relates_to": relation }),
  };
}

/**
 * @throws {ValueError} If it is neither a list of users, which may have `"room"`, nor what `m.mentions` has.
 */
function mentionsOf(mentions: Mentions | readonly string[]): Mentions {
  if (typeof mentions !== "object") {
    throw new ValueError(
      `Cannot send a message: mentions must be a list, as ["room"], and is ${typeof mentions}`,
    );
  }
  if (!isList(mentions)) return mentions;
  if (mentions.includes("@room")) {
    throw new ValueError('Cannot send a message: mentions has "@room"; write "room" for all in the room');
  }
  const users = mentions.filter((name) => name !== "room");
  for (const user of users) checkIdentifier("userId", user);
  return {
    ...(users.length > 0 && { user_ids: users as UserID[] }),
    ...(users.length < mentions.length && { room: true }),
  };
}

/** The part of a content that has its text as HTML; empty: there is none. */
export function formatted(html: string | undefined): { format?: string; formatted_body?: string } {
  return html === undefined ? {} : { format: "org.matrix.custom.html", formatted_body: html };
}
