/**
 * The content repository: uploads, downloads, thumbnails and previews.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#content-repository | Content repository}
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import { ResizeMethod } from "../types/enums.ts";
import type { ContentURI } from "../types/ids.ts";
import type { CreateMediaResponse, MediaConfig, UrlPreview } from "../types/media.ts";
import { parseContentURI } from "./content_uri.ts";
import type { ReadAnswer } from "./exchange.ts";
import type { Call } from "./http_options.ts";
import { checkInteger } from "./integer.ts";
import {
  config,
  create,
  download,
  located,
  type Moved,
  preview,
  thumbnail,
  upload,
  uploadTo,
} from "./media_endpoints.ts";
import { type MediaDownload, mediaDownload } from "./media_file.ts";
import type {
  DownloadMediaOptions,
  DownloadOptions,
  DownloadThumbnailOptions,
  GetUrlPreviewOptions,
  UploadMediaOptions,
} from "./media_options.ts";
import type { Query } from "./path.ts";
import type { RequestOptions } from "./request_options.ts";
import { announcedSize, readBytes } from "./response_body.ts";
import type { Session } from "./session.ts";
import { type MediaData, uploadBody } from "./upload_body.ts";
import { waitLimit } from "./wait_limit.ts";

/** The size of a thumbnail whose size nobody said, in pixels: every server has it at hand. */
const THUMBNAIL_SIZE = 96;

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[\t ]*(;[\t\x20-\x7e]*)?$/;

/** Operations on the content repository. */
export interface MediaAPI {
  /**
   * Uploads content. Other users can get it only by the URI, and by the rooms that it is sent to.
   *
   * Content is sent in parts as it is read, and never held whole; but a stream of unknown size is, up to 32 MiB: say its
   * `size` if it may be larger. The upload is one try, for a second one would make a second copy.
   *
   * @param data Bytes, a `Blob` or `File`, a stream, or a file such as `Deno.open()` gives.
   * @param options What the content is, progress, and request options.
   * @returns Where the content is.
   * @throws {TooLargeError} If the server takes no content as large as this; see `getMediaRepoConfig()`.
   * @throws {ServiceResponseError} If the server does not say where the content is.
   * @throws {ValueError} If the data is not what it should be, has another size than was said, or `mimeType` can't be one.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixmediav3upload | POST /_matrix/media/v3/upload}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token: accessToken });
   * const script = new TextEncoder().encode("Enter a ghost");
   * const url = await client.uploadMedia(script, { mimeType: "text/plain", filename: "script.txt" });
   * const copy = await client.downloadMedia(url);
   * console.assert(new TextDecoder().decode(copy) === "Enter a ghost");
   * ```
   */
  uploadMedia(data: MediaData, options?: UploadMediaOptions): Promise<ContentURI>;

  /**
   * Makes a place for content that is uploaded later, by `uploadMediaTo()`: its URI can be sent at once.
   *
   * @param options Request options.
   * @returns The URI, and when it is given up if nothing is uploaded.
   * @throws {LimitExceededError} If too many places are empty.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixmediav1create | POST /_matrix/media/v1/create}
   */
  createMedia(options?: RequestOptions): Promise<CreateMediaResponse>;

  /**
   * Uploads content to a place that `createMedia()` made. Unless the data is a stream, it is tried again as any request.
   *
   * @param url The place.
   * @param data Bytes, a `Blob` or `File`, a stream, or a file.
   * @param options What the content is, progress, and request options.
   * @throws {CannotOverwriteMediaError} If there is content already; after a try that failed it may be this one.
   * @throws {ValueError} As of `uploadMedia()`.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#put_matrixmediav3uploadservernamemediaid | PUT /_matrix/media/v3/upload/{serverName}/{mediaId}}
   */
  uploadMediaTo(url: ContentURI, data: MediaData, options?: UploadMediaOptions): Promise<void>;

  /**
   * Downloads content whole.
   *
   * @param url Where the content is.
   * @param options The most to take, progress, and request options.
   * @returns The content.
   * @throws {NotFoundError} If there is no such content.
   * @throws {NotYetUploadedError} If nothing has been uploaded yet.
   * @throws {ServiceResponseError} If there is more than `maxSize`.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   */
  downloadMedia(url: ContentURI, options?: DownloadMediaOptions): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Downloads content as a stream, of any size.
   *
   * Only the start of the answer is waited for, and tried again if it fails. The request's signal and time limit hold until
   * the stream ends; time in which nobody reads does not count.
   *
   * @param url Where the content is.
   * @param options Progress, and request options.
   * @returns The stream, which must be read to its end or cancelled, and what the server says of the content.
   * @throws {NotFoundError} If there is no such content.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   */
  downloadMediaStream(url: ContentURI, options?: DownloadOptions): Promise<MediaDownload>;

  /**
   * Downloads a smaller version of an image. Its size may differ from what is asked for.
   *
   * @param url Where the image is.
   * @param options The size, and request options.
   * @returns The thumbnail.
   * @throws {MatrixRequestError} If the server can't make a thumbnail of the content.
   * @throws {ValueError} If it is no content URI, or a size is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1mediathumbnailservernamemediaid | GET /media/thumbnail/{serverName}/{mediaId}}
   */
  downloadThumbnail(url: ContentURI, options?: DownloadThumbnailOptions): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Asks what the content repository allows.
   *
   * @param options Request options.
   * @returns The limits; those that are missing are not known.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1mediaconfig | GET /media/config}
   */
  getMediaRepoConfig(options?: RequestOptions): Promise<MediaConfig>;

  /**
   * Asks what is known of a web page. The server learns its address, so ask for no page of an encrypted room.
   *
   * @param url The page.
   * @param options How old the preview may be, and request options.
   * @returns The preview.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1mediapreview_url | GET /media/preview_url}
   */
  getUrlPreview(url: string, options?: GetUrlPreviewOptions): Promise<UrlPreview>;
}

/** Makes the operations on the content repository. */
export function mediaAPI(session: Session): MediaAPI {
  const { http } = session;

  const get = async <Result>(
    endpoint: Moved<void>,
    url: ContentURI,
    { timeout, ...options }: RequestOptions & { readonly timeout?: number },
    query: Query,
    read: ReadAnswer<Result>,
  ): Promise<Result> => {
    const path = { ...parseContentURI(url) };
    checkInteger("timeout", timeout);
    const here = await located(session, endpoint, options);
    const limit = timeout === undefined ? {} : { requestTimeout: waitLimit(timeout) };
    const allQuery = {
      ...query,
      timeout_ms: timeout,
      allow_remote: here === endpoint.old ? query.allow_remote : undefined,
    };
    return await http.download(here, { path, query: allQuery }, { ...limit, ...options }, read);
  };

  const getBytes = async (
    endpoint: Moved<void>,
    url: ContentURI,
    { maxSize = http.maxResponseSize, onProgress, ...options }: DownloadMediaOptions,
    query: Query = {},
  ): Promise<Uint8Array<ArrayBuffer>> =>
    await get(endpoint, url, options, query, (answer) => {
      const total = announcedSize(answer.response);
      return readBytes(answer, maxSize, (size) => onProgress?.(size, total));
    });

  return {
    async uploadMedia(data, options = {}) {
      const [call, requestOptions] = await uploadCall(data, options);
      return await http.call(upload, { path: {}, ...call }, requestOptions);
    },
    createMedia: (options) => http.call(create, { path: {} }, options),
    async uploadMediaTo(url, data, options = {}) {
      const { serverName, mediaId } = parseContentURI(url);
      const [call, requestOptions] = await uploadCall(data, options);
      await http.call(uploadTo, { path: { serverName, mediaId }, ...call }, requestOptions);
    },
    downloadMedia: async (url, options = {}) => await getBytes(download, url, options),
    downloadMediaStream: async (url, { onProgress, ...options } = {}) =>
      await get(download, url, options, {}, (answer) => Promise.resolve(mediaDownload(answer, onProgress))),
    async downloadThumbnail(
      url,
      { width, height, resizeMethod, animated, allowRemote = true, ...options } = {},
    ) {
      checkInteger("width", width, 1);
      checkInteger("height", height, 1);
      const unsaid = width === undefined && height === undefined;
      return await getBytes(thumbnail, url, options, {
        width: width ?? height ?? THUMBNAIL_SIZE,
        height: height ?? width ?? THUMBNAIL_SIZE,
        method: resizeMethod ?? (unsaid ? ResizeMethod.CROP : undefined),
        animated,
        allow_remote: allowRemote ? undefined : false,
      });
    },
    getMediaRepoConfig: async (options) =>
      await http.call(await located(session, config, options), { path: {} }, options),
    async getUrlPreview(url, { timestamp, ...options } = {}) {
      checkInteger("timestamp", timestamp);
      const call = { path: {}, query: { url, ts: timestamp } };
      return await http.call(await located(session, preview, options), call, options);
    },
  };
}

/** What fills an endpoint that uploads, and what is left of the options. */
async function uploadCall(
  data: MediaData,
  { mimeType, filename, size, onProgress, ...options }: UploadMediaOptions,
): Promise<[call: Pick<Call<string>, "query" | "raw">, options: RequestOptions]> {
  const type = mimeType ?? ((data instanceof Blob && data.type) || "application/octet-stream");
  if (!MEDIA_TYPE.test(type)) {
    throw new ValueError("Cannot upload the data: mimeType must look like image/png");
  }
  const name = filename ?? (data instanceof File ? data.name : undefined);
  const raw = await uploadBody(data, { type, size, onProgress, signal: options.signal });
  return [{ query: { filename: name || undefined }, raw }, options];
}
