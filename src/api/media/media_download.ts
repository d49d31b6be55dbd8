/**
 * Downloads from the content repository, at the endpoints that this homeserver has.
 *
 * @module
 */

import {
  announcedSize,
  type Answer,
  calledAs,
  checkInteger,
  decoded,
  DOWNLOAD,
  type Endpoint,
  endpoint,
  letGo,
  nothing,
  type OnProgress,
  type Query,
  type ReadAnswer,
  readBytes,
  readChunks,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { UNSHOWN } from "../../errors/matrix_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { ResizeMethod } from "../../types/enums.ts";
import type { ContentURI } from "../../types/ids.ts";
import { parseContentUri } from "../../types/identifiers.ts";

/** An endpoint that moved in version 1.11, when media became private. */
export interface Moved<Result> {
  /** Where it is now. */
  readonly current: Endpoint<string, Result>;
  /** Where it was: the fallback for servers that are older. */
  readonly old: Endpoint<string, Result>;
}

/** Gives content. */
export const download: Moved<void> = {
  current: endpoint(
    "downloadMedia",
    "GET",
    "/_matrix/client/v1/media/download/{serverName}/{mediaId}",
    nothing,
  ),
  old: endpoint("downloadMedia", "GET", "/_matrix/media/v3/download/{serverName}/{mediaId}", nothing, {
    auth: false,
  }),
};
/** Gives a smaller version of an image. */
export const thumbnail: Moved<void> = {
  current: endpoint(
    "downloadThumbnail",
    "GET",
    "/_matrix/client/v1/media/thumbnail/{serverName}/{mediaId}",
    nothing,
  ),
  old: endpoint("downloadThumbnail", "GET", "/_matrix/media/v3/thumbnail/{serverName}/{mediaId}", nothing, {
    auth: false,
  }),
};

/** Returns the path of an endpoint on this homeserver. */
export async function located<Result>(
  session: Session,
  { current, old }: Moved<Result>,
  options?: RequestOptions,
): Promise<Endpoint<string, Result>> {
  return await session.supports("v1.11", "org.matrix.msc3916.stable", calledAs(options, current.operation))
    ? current
    : old;
}

/** Options of the operations that download content. */
export interface DownloadOptions extends RequestOptions {
  /**
   * How long the server waits for content that is not there yet, in milliseconds. Default: the
   * server's, 20,000.
   */
  timeout?: number;
  /** Called with the number of bytes received so far. Default: none. */
  onProgress?: OnProgress;
}

/** Options of {@link MediaAPI.downloadMediaStream}. */
export interface DownloadMediaStreamOptions extends DownloadOptions {
  /**
   * The most to take, in bytes. Default: of an encrypted file, which has to be held, 1 GiB; of any
   * other no limit.
   */
  maxSize?: number;
  /**
   * How much of an encrypted file is held in memory, in bytes. What is larger is held in a
   * temporary file, as encrypted as it came, for which the process must be allowed to read and
   * write the folder for temporary files. Default: 64 MiB.
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
   * Whether the server may get the image from another one. Servers from version 1.11 on do not ask:
   * there it has no effect. Default: true.
   */
  allowRemote?: boolean;
}

/** What downloads content from where a homeserver has it. */
interface Downloader {
  /** Asks for content; `read` takes what is wanted out of the answer. */
  readonly open: <Result>(
    endpoint: Moved<void>,
    url: ContentURI,
    options: RequestOptions & { readonly timeout?: number },
    query: Query,
    read: ReadAnswer<Result>,
  ) => Promise<Result>;
  /** Downloads content whole. */
  readonly readAll: (
    endpoint: Moved<void>,
    url: ContentURI,
    options: DownloadMediaOptions,
    query?: Query,
  ) => Promise<Uint8Array<ArrayBuffer>>;
}

/** Makes what downloads content. */
export function downloader(session: Session): Downloader {
  const { http } = session;

  const open = async <Result>(
    endpoint: Moved<void>,
    url: ContentURI,
    { timeout, ...options }: RequestOptions & { readonly timeout?: number },
    query: Query,
    read: ReadAnswer<Result>,
  ): Promise<Result> => {
    const path = { ...parseContentUri(url) };
    checkInteger("timeout", timeout);
    const here = await located(session, endpoint, options);
    const limit = timeout === undefined ? {} : { requestTimeout: http.limit(timeout) };
    const allQuery = {
      ...query,
      timeout_ms: timeout,
      allow_remote: here === endpoint.old ? query.allow_remote : undefined,
    };
    return await http[DOWNLOAD](here, { path, query: allQuery }, { ...limit, ...options }, read);
  };

  const readAll = async (
    endpoint: Moved<void>,
    url: ContentURI,
    { maxSize = http.maxResponseSize, onProgress, ...options }: DownloadMediaOptions,
    query = {},
  ): Promise<Uint8Array<ArrayBuffer>> =>
    await open(endpoint, url, options, query, (answer) => {
      const total = announcedSize(answer.response);
      return readBytes(answer, maxSize, (size) => onProgress?.(size, total));
    });

  return { open, readAll };
}

/** Content on its way. */
export interface MediaDownload {
  /** The content. It must be read to its end or cancelled. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The media type, as its uploader said. */
  readonly contentType: string;
  /**
   * The name of the file, as its uploader said, without any folders and without signs that are not shown, of
   * 255 bytes at most; undefined if there is none.
   */
  readonly filename: string | undefined;
  /** How many bytes there are; undefined if the server does not say. */
  readonly size: number | undefined;
}

/**
 * Returns an answer's body. Its request ends when the body does. The stream fails with a
 * `ServiceResponseError` if there is more than was to be taken.
 */
export function mediaDownload(
  answer: Answer,
  onProgress: OnProgress | undefined,
  maxSize: number | undefined,
): MediaDownload {
  const { headers } = answer.response;
  return {
    stream: bodyStream(answer, onProgress, maxSize),
    contentType: headers.get("content-type") ?? "application/octet-stream",
    filename: filenameIn(headers.get("content-disposition") ?? ""),
    size: announcedSize(answer.response),
  };
}

function bodyStream(
  answer: Answer,
  onProgress: OnProgress | undefined,
  maxSize = Infinity,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { response, request, deadline } = answer;
  const total = announcedSize(response);
  const chunks = readChunks(answer);
  let size = 0;
  deadline.hold();
  deadline.idle = true; // nothing was requested yet
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    deadline.idle = false;
    const { done, value } = await chunks.next();
    deadline.idle = true;
    if (done) {
      deadline.end();
      return controller.close();
    }
    size += value.length;
    if (size > maxSize) {
      throw new ServiceResponseError(
        `Cannot use the answer to ${request}: it is larger than ${maxSize} bytes, the most it may be`,
      );
    }
    controller.enqueue(value);
    onProgress?.(size, total);
  };
  return new ReadableStream({
    pull: (controller) =>
      pull(controller).catch((error) => {
        const reason = deadline.explain(error, request);
        deadline.end();
        throw reason;
      }),
    cancel() {
      deadline.end();
      chunks.return().catch(() => {});
      letGo(response.body); // refused, and not needed, once `chunks` has begun
    },
  }, { highWaterMark: 0 });
}

/** No file system takes longer names, in bytes. */
const MAX_NAME = 255;

/**
 * The file name in a `Content-Disposition` header (RFC 6266), made fit to be a file's name, and to be shown.
 */
export function filenameIn(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8''([^;\s]+)/i.exec(disposition)?.[1];
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replace(/\\(.)/g, "$1");
  const plain = /;\s*filename\s*=\s*([^";\s]+)/i.exec(disposition)?.[1];
  const name = (extended === undefined ? undefined : decoded(extended)) ?? quoted ?? plain ?? "";
  const base = fitting(name.replace(/^.*[/\\]/s, "").replace(UNSHOWN, "").trim());
  return base === "" || base === "." || base === ".." ? undefined : base;
}

/** As much of a name as file systems take: its beginning, and its ending if it has one. */
function fitting(name: string): string {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (bytes(name) <= MAX_NAME) return name;
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  let text = "";
  let size = bytes(ending);
  for (const character of name.slice(0, MAX_NAME)) {
    size += bytes(character);
    if (size > MAX_NAME) break;
    text += character;
  }
  return text + ending;
}
