/**
 * Uploaded media.
 *
 * @module
 */

import type { ContentURI, UserID } from "../../types/ids.ts";
import type { IdGenerator } from "../homeserver_options.ts";

/** A file, or the promise of one. */
export interface Media {
  /** Its `mxc://` URI. */
  readonly uri: ContentURI;
  /** Who uploaded it. */
  readonly owner: UserID;
  /** The content; `undefined` between creation and upload. */
  bytes: Uint8Array<ArrayBuffer> | undefined;
  /** The content type that came with it. */
  type: string;
  /** The file name that came with it. */
  name: string | undefined;
}

/** The content repository. */
export class MediaStore {
  readonly #serverName: string;
  readonly #ids: IdGenerator;
  readonly #media = new Map<string, Media>();

  /** Makes an empty repository. */
  constructor(serverName: string, ids: IdGenerator) {
    this.#serverName = serverName;
    this.#ids = ids;
  }

  /** Reserves a URI for a file. */
  create(owner: UserID): Media {
    const id = this.#ids.next("media", 24);
    const media: Media = {
      uri: `mxc://${this.#serverName}/${id}`,
      owner,
      bytes: undefined,
      type: "application/octet-stream",
      name: undefined,
    };
    this.#media.set(media.uri, media);
    return media;
  }

  /** The file of a server name and a media ID. */
  find(serverName: string, id: string): Media | undefined {
    return this.#media.get(`mxc://${serverName}/${id}`);
  }
}
