/**
 * The content repository: uploads, downloads, thumbnails and previews.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#content-repository | Content repository}
 * @module
 */

import {
  CALL,
  calledAs,
  checkInteger,
  endpoint,
  fields,
  type MediaData,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import type {
  AttachmentCipher,
  CreateMediaResponse,
  EncryptedFile,
  MediaConfig,
  UrlPreview,
} from "../../types/content/file_info.ts";
import { ResizeMethod } from "../../types/enums.ts";
import type { ContentURI } from "../../types/ids.ts";
import { parseContentUri } from "../../types/identifiers.ts";
import {
  checkFile,
  create,
  noCipher,
  toUpload,
  uploadCall,
  uploader,
  type UploadMediaOptions,
  uploadTo,
} from "./media_upload.ts";
import {
  download,
  downloader,
  type DownloadMediaOptions,
  type DownloadMediaStreamOptions,
  type DownloadThumbnailOptions,
  located,
  type MediaDownload,
  mediaDownload,
  type Moved,
  thumbnail,
} from "./media_download.ts";

export {
  type DownloadMediaOptions,
  type DownloadMediaStreamOptions,
  type DownloadOptions,
  type DownloadThumbnailOptions,
  type MediaDownload,
  mediaDownload,
} from "./media_download.ts";
export {
  checkFile,
  checkMediaType,
  noCipher,
  type UploadDescription,
  uploader,
  type UploadMediaOptions,
  type UploadSource,
} from "./media_upload.ts";

const mediaConfig = fields<MediaConfig>({ "m.upload.size": "number?" });
/** Returns the limits. */
const config: Moved<MediaConfig> = {
  current: endpoint("getMediaRepoConfig", "GET", "/_matrix/client/v1/media/config", mediaConfig),
  old: endpoint("getMediaRepoConfig", "GET", "/_matrix/media/v3/config", mediaConfig),
};
/** Describes a web page. */
const preview: Moved<UrlPreview> = {
  current: endpoint("getUrlPreview", "GET", "/_matrix/client/v1/media/preview_url", fields<UrlPreview>({})),
  old: endpoint("getUrlPreview", "GET", "/_matrix/media/v3/preview_url", fields<UrlPreview>({})),
};

/** The default size of a thumbnail, in pixels: every server has it ready. */
const THUMBNAIL_SIZE = 96;

/** Options of {@link MediaAPI.getUrlPreview}. */
export interface GetUrlPreviewOptions extends RequestOptions {
  /** The time that the page is wanted as of, in milliseconds since the epoch. Default: now. */
  timestamp?: number;
}

/** Operations on the content repository. */
export interface MediaAPI {
  /**
   * Uploads media: an image or another file. Other users can get it only by the URI, and by the rooms that it
   * is sent to.
   *
   * Content is sent in parts as it is read, and never held whole; but a stream of unknown size is,
   * up to 32 MiB: say its `size` if it may be larger. The upload is one try, for a second one would
   * make a second copy.
   *
   * @param data Bytes, a `Blob` or `File`, a stream, or a file such as `Deno.open()` gives.
   * @param options What the content is, progress, and request options.
   * @returns The `mxc://` URL of the content.
   * @throws {TooLargeError} If the server takes no content as large as this; see
   *   `getMediaRepoConfig()`.
   * @throws {ServiceResponseError} If the server does not say where the content is.
   * @throws {ValueError} If the data is not what it should be, has another size than was said, or
   *   `mimeType` can't be one.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixmediav3upload | POST /_matrix/media/v3/upload}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const script = new TextEncoder().encode("Enter a ghost");
   * const url = await client.uploadMedia(script, { mimeType: "text/plain", filename: "script.txt" });
   * const copy = await client.downloadMedia(url);
   * console.assert(new TextDecoder().decode(copy) === "Enter a ghost");
   * ```
   */
  uploadMedia(data: MediaData, options?: UploadMediaOptions): Promise<ContentURI>;

  /**
   * Makes a place for content that is uploaded later, by `uploadMediaTo()`: its URI can be sent at
   * once.
   *
   * @param options Request options.
   * @returns The URI, and when it is given up if nothing is uploaded.
   * @throws {LimitExceededError} If too many places are empty.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixmediav1create | POST /_matrix/media/v1/create}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendFirst(client: Client, roomId: RoomID, path: string): Promise<void> {
   *   const { content_uri } = await client.createMedia();
   *   await client.sendImage(roomId, content_uri);
   *   await client.uploadMediaTo(content_uri, await Deno.readFile(path), { mimeType: "image/png" });
   * }
   * ```
   */
  createMedia(options?: RequestOptions): Promise<CreateMediaResponse>;

  /**
   * Uploads content to a place that `createMedia()` made. Unless the data is a stream, it is tried
   * again as any request.
   *
   * @param url The place.
   * @param data Bytes, a `Blob` or `File`, a stream, or a file.
   * @param options What the content is, progress, and request options.
   * @throws {CannotOverwriteMediaError} If there is content already; after a try that failed it may
   *   be this one.
   * @throws {ValueError} As of `uploadMedia()`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixmediav3uploadservernamemediaid | PUT /_matrix/media/v3/upload/{serverName}/{mediaId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function upload(client: Client, path: string): Promise<ContentURI> {
   *   const { content_uri } = await client.createMedia();
   *   await client.uploadMediaTo(content_uri, await Deno.open(path));
   *   return content_uri;
   * }
   * ```
   */
  uploadMediaTo(url: ContentURI, data: MediaData, options?: UploadMediaOptions): Promise<void>;

  /**
   * Downloads media as bytes; if it is encrypted, decrypts it.
   *
   * @param url Where the content is; of an encrypted file what the message says of it: its `file`.
   * @param options The most to take, progress, and request options.
   * @returns The content.
   * @throws {AttachmentError} If it is an encrypted file, and not the one that was sent.
   * @throws {NotFoundError} If there is no such content.
   * @throws {NotYetUploadedError} If nothing has been uploaded yet.
   * @throws {ServiceResponseError} If there is more than `maxSize`.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function save(client: Client, url: ContentURI, path: string): Promise<void> {
   *   await Deno.writeFile(path, await client.downloadMedia(url));
   * }
   * ```
   */
  downloadMedia(
    url: ContentURI | EncryptedFile,
    options?: DownloadMediaOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Downloads content as a stream, of any size.
   *
   * Only the start of the answer is waited for, and tried again if it fails. The request's signal
   * and time limit hold until the stream ends; time without a reader does not count.
   *
   * An encrypted file is decrypted, and none of it comes before all of it has arrived and was found
   * to be what was sent: until then it is held, in memory or, if it is large, in a temporary file.
   * Of what the server says of it only the size counts.
   *
   * @param url Where the content is; of an encrypted file what the message says of it: its `file`.
   * @param options The most to take and to hold in memory, progress, and request options.
   * @returns The stream, which must be read to its end or cancelled, and what the server says of
   * the content. It fails with an `AttachmentError` if it is an encrypted file that is not the one
   * that was sent, is larger than `maxSize`, or can't be held.
   * @throws {AttachmentError} If what the message says of an encrypted file can't be used.
   * @throws {NotFoundError} If there is no such content.
   * @throws {ValueError} If it is no content URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediadownloadservernamemediaid | GET /media/download/{serverName}/{mediaId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function save(client: Client, url: ContentURI, path: string): Promise<void> {
   *   const { stream } = await client.downloadMediaStream(url, { maxSize: 100_000_000 });
   *   await Deno.writeFile(path, stream);
   * }
   * ```
   */
  downloadMediaStream(
    url: ContentURI | EncryptedFile,
    options?: DownloadMediaStreamOptions,
  ): Promise<MediaDownload>;

  /**
   * Downloads a smaller version of an image. Its size may differ from what is asked for.
   *
   * An encrypted image can't be made smaller by the server; its sender does that, and sends the
   * message's `info.thumbnail_file`. Given that, this downloads and decrypts it as it is.
   *
   * @param url Where the image is; or an encrypted thumbnail, as the message says.
   * @param options The size, and request options.
   * @returns The thumbnail.
   * @throws {AttachmentError} If it is an encrypted file, and not the one that was sent.
   * @throws {MatrixRequestError} If the server can't make a thumbnail of the content.
   * @throws {ValueError} If it is no content URI, or a size is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediathumbnailservernamemediaid | GET /media/thumbnail/{serverName}/{mediaId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function avatar(client: Client, userId: UserID): Promise<Uint8Array | undefined> {
   *   const url = await client.getAvatarUrl(userId);
   *   return url && await client.downloadThumbnail(url, { width: 64, resizeMethod: "crop" });
   * }
   * ```
   */
  downloadThumbnail(
    url: ContentURI | EncryptedFile,
    options?: DownloadThumbnailOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Gets the limits of the media repository, such as the largest upload.
   *
   * @param options Request options.
   * @returns The limits; those that are missing are not known.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediaconfig | GET /media/config}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function largestUpload(client: Client): Promise<number | null | undefined> {
   *   return (await client.getMediaRepoConfig())["m.upload.size"];
   * }
   * ```
   */
  getMediaRepoConfig(options?: RequestOptions): Promise<MediaConfig>;

  /**
   * Gets a preview of a web page, such as its title and its image. The server learns its address, so ask for
   * no page of an encrypted room.
   *
   * @param url The page.
   * @param options How old the preview may be, and request options.
   * @returns The preview.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1mediapreview_url | GET /media/preview_url}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function titleOf(client: Client, url: string): Promise<unknown> {
   *   return (await client.getUrlPreview(url))["og:title"];
   * }
   * ```
   */
  getUrlPreview(url: string, options?: GetUrlPreviewOptions): Promise<UrlPreview>;
}

/**
 * Makes the operations on the content repository.
 *
 * @param session Who acts, and where.
 * @param cipher Decrypts files. Default: nothing does.
 */
export function mediaAPI(session: Session, cipher: AttachmentCipher = noCipher): MediaAPI {
  const { http } = session;
  const upload = uploader(session);

  const { open, readAll } = downloader(session);

  /** Downloads content whole, and decrypts it. */
  const getFile = async (
    file: ContentURI | EncryptedFile,
    options: DownloadMediaOptions,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    if (typeof file === "string") return await readAll(download, file, options);
    checkFile(cipher, file);
    const bytes = await readAll(download, file.url, options);
    await cipher.decrypt(bytes, file);
    return bytes;
  };

  return {
    async uploadMedia(data, options = {}) {
      const [source, description, requestOptions] = await toUpload(data, options);
      return await upload(source, description, requestOptions);
    },
    createMedia: (options) => http[CALL](create, { path: {} }, options),
    async uploadMediaTo(url, data, options = {}) {
      const { serverName, mediaId } = parseContentUri(url);
      const [source, description, requestOptions] = await toUpload(data, options);
      const call = { path: { serverName, mediaId }, ...uploadCall(source, description) };
      await http[CALL](uploadTo, call, requestOptions);
    },
    downloadMedia: async (url, options = {}) => await getFile(url, options),
    async downloadMediaStream(file, { onProgress, maxSize, maxMemory, ...options } = {}) {
      checkInteger("maxSize", maxSize);
      checkInteger("maxMemory", maxMemory);
      const encrypted = typeof file !== "string";
      if (encrypted) checkFile(cipher, file);
      const found = await open(
        download,
        encrypted ? file.url : file,
        calledAs(options, "downloadMediaStream"),
        {},
        (answer) => Promise.resolve(mediaDownload(answer, onProgress, encrypted ? undefined : maxSize)),
      );
      if (!encrypted) return found;
      return { ...found, stream: cipher.decryptStream(found.stream, file, { maxSize, maxMemory }) };
    },
    async downloadThumbnail(
      url,
      { width, height, resizeMethod, animated, allowRemote = true, ...options } = {},
    ) {
      checkInteger("width", width, 1);
      checkInteger("height", height, 1);
      if (typeof url !== "string") return await getFile(url, calledAs(options, "downloadThumbnail"));
      const unsaid = width === undefined && height === undefined;
      return await readAll(thumbnail, url, options, {
        width: width ?? height ?? THUMBNAIL_SIZE,
        height: height ?? width ?? THUMBNAIL_SIZE,
        method: resizeMethod ?? (unsaid ? ResizeMethod.CROP : undefined),
        animated,
        allow_remote: allowRemote ? undefined : false,
      });
    },
    getMediaRepoConfig: async (options) =>
      await http[CALL](await located(session, config, options), { path: {} }, options),
    async getUrlPreview(url, { timestamp, ...options } = {}) {
      checkInteger("timestamp", timestamp);
      const call = { path: {}, query: { url, ts: timestamp } };
      return await http[CALL](await located(session, preview, options), call, options);
    },
  };
}
