/**
 * Images and files, as a bot sends them.
 *
 * @module
 */

import type { Client, ReplyPlace } from "../../../mod.ts";
import type { EventID, Mentions, RelatesTo, RoomID } from "../../../types.ts";
import type { WriteOptions } from "./writing.ts";

/** What a bot sends as an image or a file: it may be sent again, after a crash, so it is no stream. */
export type BotMedia = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;

/** The text that is shown with an image or a file, and what that answers. */
export interface CaptionOptions extends Pick<WriteOptions, "format" | "mentions">, ReplyPlace {
  /** The text, as much as one message holds. Default: none. */
  caption?: string;
}

/** Options of {@linkcode RoomContext.sendImage}. */
export interface ImageOptions extends CaptionOptions {
  /** Its file name. Default: a `File`'s own, else none. */
  fileName?: string;
  /** Whether to make a thumbnail and a blurred version: see {@linkcode describeImage}. Default: true. */
  thumbnail?: boolean;
}

/** Options of {@linkcode RoomContext.sendFile}. */
export interface FileOptions extends CaptionOptions {
  /** Its name. Default: a `File`'s own, else none. */
  fileName?: string;
  /** Its media type. Default: a `Blob`'s own, else unknown. */
  mimeType?: string;
  /** What kind of file it is. Default: `m.file`. */
  fileType?: "m.file" | "m.audio" | "m.video";
}

/** Options of {@linkcode RoomContext.sendSticker}. */
export interface StickerOptions extends Pick<WriteOptions, "mentions">, ReplyPlace {
  /** What it shows or means, in words. Default: empty. */
  text?: string;
}

/** What is sent with a file. */
export interface Captioned {
  /** The text of the caption. */
  readonly caption?: string;
  /** The caption with formatting, if it has any. */
  readonly captionHtml?: string;
  /** Who is notified. */
  readonly mentions?: Mentions;
  /** Where it is sent to. */
  readonly relatesTo?: RelatesTo;
}

/** What is in a file. */
export async function bytesOf(data: BotMedia): Promise<{ bytes: Uint8Array<ArrayBuffer>; name?: string }> {
  if (data instanceof Uint8Array) return { bytes: data };
  if (data instanceof ArrayBuffer) return { bytes: new Uint8Array(data) };
  return {
    bytes: new Uint8Array(await data.arrayBuffer()),
    name: data instanceof File ? data.name : undefined,
  };
}

/** Sends an image, with what can be found out of it. */
export async function sendPicture(
  client: Client,
  room: RoomID,
  { bytes, name }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly name?: string },
  { fileName = name, thumbnail: isWanted, ...options }:
    & Pick<ImageOptions, "fileName" | "thumbnail">
    & Captioned,
): Promise<EventID> {
  const { describeImage } = await import("../media/describe_image.ts"); // with its libraries
  const { info, thumbnail } = await describeImage(bytes, { thumbnail: isWanted });
  return await client.sendImage(room, bytes, { fileName, info, thumbnail, ...options });
}
