/**
 * The options of the operations on the content repository.
 *
 * @module
 */

import type { ResizeMethod } from "../../types/enums.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { OnProgress } from "../http/upload_body.ts";

/** Options of the operations that upload. */
export interface UploadMediaOptions extends RequestOptions {
  /** The media type, such as `image/png`. Default: a `Blob`'s own, else `application/octet-stream`. */
  mimeType?: string;
  /** The name of the file. Everyone who can download the content can see it. Default: a `File`'s own, else none. */
  filename?: string;
  /** The size in bytes, of a stream above all. Default: what the data tells; it must agree. */
  size?: number;
  /** Told how many bytes were handed to the network so far. Default: nobody. */
  onProgress?: OnProgress;
}

/** Options of the operations that download content. */
export interface DownloadOptions extends RequestOptions {
  /** How long the server waits for content that is not there yet, in milliseconds. Default: the server's, 20,000. */
  timeout?: number;
  /** Told how many bytes came so far. Default: nobody. */
  onProgress?: OnProgress;
}

/** Options of {@link MediaAPI.downloadMediaStream}. */
export interface DownloadMediaStreamOptions extends DownloadOptions {
  /** The most to take, in bytes. Default: of an encrypted file, which has to be held, 1 GiB; of any other no limit. */
  maxSize?: number;
  /**
   * How much of an encrypted file is held in memory, in bytes. What is larger is held in a temporary file, as encrypted as it
   * came, for which the process must be allowed to read and write the folder for temporary files. Default: 64 MiB.
   */
  maxMemory?: number;
}

/** Options of {@link MediaAPI.downloadMedia}. */
export interface DownloadMediaOptions extends DownloadOptions {
  /** The most to take, in bytes. Default: the client's `maxResponseSize`, 256 MiB unless set. */
  maxSize?: number;
}

/** Options of {@link MediaAPI.downloadThumbnail}. */
export interface DownloadThumbnailOptions extends DownloadMediaOptions {
  /** The width, in pixels. Default: the height; if there is none either, 96 by 96 and `crop`. */
  width?: number;
  /** The height, in pixels. Default: the width. */
  height?: number;
  /** How the image is fitted into the size. Default: the server's, `scale`; but see `width`. */
  resizeMethod?: ResizeMethod;
  /** Whether the thumbnail may move, if the image does. Default: as the server likes. */
  animated?: boolean;
  /**
   * Whether the server may get the image from another one. Servers from version 1.11 on do not ask: there it has no effect.
   * Default: true.
   */
  allowRemote?: boolean;
}

/** Options of {@link MediaAPI.getUrlPreview}. */
export interface GetUrlPreviewOptions extends RequestOptions {
  /** The time that the page is wanted as of, in milliseconds since the epoch. Default: now. */
  timestamp?: number;
}
