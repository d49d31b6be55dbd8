/**
 * Pictures, as a bot sends them.
 *
 * @module
 */

import type { Client } from "../../../mod.ts";
import type { EventID, RelatesTo, RoomID } from "../../../types.ts";

/** Options of {@linkcode RoomContext.image}. */
export interface SendPictureOptions {
  /** Its file name. Default: none. */
  fileName?: string;
  /** Whether to make a thumbnail and a blurred version: see {@linkcode describeImage}. Default: true. */
  thumbnail?: boolean;
}

/** Sends a picture, with what can be found out of it. */
export async function sendPicture(
  client: Client,
  room: RoomID,
  data: Uint8Array<ArrayBuffer>,
  { fileName, thumbnail: isWanted, relatesTo }: SendPictureOptions & { readonly relatesTo?: RelatesTo },
): Promise<EventID> {
  const { describeImage } = await import("../media/describe_image.ts"); // with its libraries
  const { info, thumbnail } = await describeImage(data, { thumbnail: isWanted });
  return await client.sendImage(room, data, { fileName, info, thumbnail, relatesTo });
}
