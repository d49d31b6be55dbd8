/**
 * Content that is downloaded: a stream, and what the server says about it.
 *
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { announcedSize, type Answer, letGo, readChunks } from "../http/response_body.ts";
import type { OnProgress } from "../http/upload_body.ts";

/** Content on its way. */
export interface MediaDownload {
  /** The content. It must be read to its end or cancelled. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The media type, as its uploader said. */
  readonly contentType: string;
  /** The name of the file, as its uploader said, without any folders; undefined if there is none. */
  readonly filename: string | undefined;
  /** How many bytes there are; undefined if the server does not say. */
  readonly size: number | undefined;
}

/** How content is handed out. */
export interface MediaDownloadOptions {
  /** Told of progress. */
  readonly onProgress: OnProgress | undefined;
  /** The most to take, in bytes; no limit if undefined. */
  readonly maxSize: number | undefined;
}

/**
 * Hands out an answer's body. Its request ends when the body does. The stream fails with a `ServiceResponseError` if there is
 * more than was to be taken.
 */
export function mediaDownload(answer: Answer, options: MediaDownloadOptions): MediaDownload {
  const { headers } = answer.response;
  return {
    stream: bodyStream(answer, options),
    contentType: headers.get("content-type") ?? "application/octet-stream",
    filename: filenameIn(headers.get("content-disposition") ?? ""),
    size: announcedSize(answer.response),
  };
}

function bodyStream(
  answer: Answer,
  { onProgress, maxSize = Infinity }: MediaDownloadOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { response, request, deadline } = answer;
  const total = announcedSize(response);
  const chunks = readChunks(answer);
  let size = 0;
  deadline.hold();
  deadline.idle = true; // nobody has asked for anything yet
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

/** The file name in a `Content-Disposition` header (RFC 6266), made fit to be a file's name. */
export function filenameIn(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8''([^;\s]+)/i.exec(disposition)?.[1];
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replace(/\\(.)/g, "$1");
  const plain = /;\s*filename\s*=\s*([^";\s]+)/i.exec(disposition)?.[1];
  const name = (extended === undefined ? undefined : decoded(extended)) ?? quoted ?? plain ?? "";
  // deno-lint-ignore no-control-regex -- control characters are what is taken out
  const base = name.replace(/^.*[/\\]/s, "").replace(/[\u0000-\u001f\u007f]/g, "").trim();
  return base === "" || base === "." || base === ".." ? undefined : base;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
