/**
 * The content repository.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#content-repository | Content repository}
 * @module
 */

import type { ContentURI } from "../ids.ts";

/** What the content repository allows. */
export interface MediaConfig {
  /** The largest upload, in bytes; unknown if absent. A proxy may allow less. */
  "m.upload.size"?: number | null;
}

/** What is known of a web page. */
export interface UrlPreview {
  /** A copy of the page's picture; absent if it has none. */
  "og:image"?: ContentURI;
  /** The size of the picture, in bytes. */
  "matrix:image:size"?: number;
  /** The media type of the picture. */
  "og:image:type"?: string;
  /** The width of the picture, in pixels. */
  "og:image:width"?: number;
  /** The height of the picture, in pixels. */
  "og:image:height"?: number;
  /** The page's title. */
  "og:title"?: string;
  /** What the page is about. */
  "og:description"?: string;
  /** Anything else of the Open Graph protocol. */
  [property: string]: unknown;
}

/** A place for content that is not yet uploaded. */
export interface CreateMediaResponse {
  /** Where the content will be. */
  content_uri: ContentURI;
  /** When the place is given up if nothing was uploaded, in milliseconds since the epoch. */
  unused_expires_at?: number;
}
