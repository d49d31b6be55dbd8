/**
 * Contents of image packs: custom emoji and stickers.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @module
 */

import type { ImageInfo } from "./file_info.ts";
import type { ContentURI, RoomID } from "../ids.ts";
import type { Open } from "../enums.ts";

/** Content of `m.room.image_pack`; the state key names the pack. */
export type RoomImagePackContent = {
  /** The images by shortcode, without colons. */
  images: { [shortcode: string]: ImagePackImage };
  /** What is known of the pack as a whole. */
  pack?: ImagePackMeta;
};

/** A picture that is used as emoji or sticker. */
export interface ImagePackImage {
  /** Where the image is. */
  url: ContentURI;
  /** What the image shows or means, in words. */
  body?: string;
  /** What is known of the image. */
  info?: ImageInfo;
}

/** What is known of a pack as a whole. */
export interface ImagePackMeta {
  /** The pack's name. Default: the room's name. */
  display_name?: string;
  /** The pack's picture. Default: the room's avatar. */
  avatar_url?: ContentURI;
  /** What the images are for; both if absent or empty. */
  usage?: Open<"emoticon" | "sticker">[];
  /** Whom to thank for the images. */
  attribution?: string;
}

/** Content of `m.image_pack.rooms`: the packs that the user wants to have in all rooms. */
export type ImagePackRoomsContent = {
  /** By room and by the pack's state key, an empty object. */
  rooms: { [roomId: RoomID]: { [stateKey: string]: Record<string, unknown> } };
};
