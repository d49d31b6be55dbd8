/**
 * Content URIs, taken apart.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#matrix-content-mxc-uris | Matrix content (mxc://) URIs}
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { parseServerName } from "../../base/server_name.ts";

/** A server, and an ID of characters that can neither leave a path nor mean anything in it. */
const CONTENT_URI = /^mxc:\/\/([^/]+)\/([0-9A-Za-z_-]{1,255})$/;

/** The parts of a content URI. */
export interface ContentURIParts {
  /** The server that the content was uploaded to. */
  readonly serverName: string;
  /** The content, to that server. */
  readonly mediaId: string;
}

/**
 * Takes a content URI apart.
 *
 * @param url The content URI.
 * @throws {ValueError} If it is none.
 */
export function parseContentURI(url: string): ContentURIParts {
  const [, serverName, mediaId] = CONTENT_URI.exec(url) ?? [];
  const isServer = serverName !== undefined && parseServerName(serverName) !== undefined;
  if (!isServer || mediaId === undefined || /^\.{1,2}$/.test(serverName)) {
    throw new ValueError("Cannot use the content URI: it must look like mxc://server.name/media_id");
  }
  return { serverName, mediaId };
}
