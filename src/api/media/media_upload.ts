/**
 * Uploads of content that is ready to be read.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { ContentURI } from "../../types/ids.ts";
import type { Call } from "../http/http_options.ts";
import { upload } from "./media_endpoints.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";
import { type MediaSource, type OnProgress, uploadBody } from "../http/upload_body.ts";

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[\t ]*(;[\t\x20-\x7e]*)?$/;

/** What the homeserver is told of content that is uploaded. */
export interface UploadDescription {
  /** The media type. */
  readonly mimeType: string;
  /** The name of the file; none if it is empty. */
  readonly filename?: string;
  /** Told of progress. */
  readonly onProgress?: OnProgress;
}

/** Uploads content, and tells where it is. */
export type UploadSource = (
  source: MediaSource,
  description: UploadDescription,
  options: RequestOptions,
) => Promise<ContentURI>;

/** Makes what uploads content. */
export function uploader({ http }: Session): UploadSource {
  return async (source, description, options) =>
    await http.call(upload, { path: {}, ...uploadCall(source, description) }, options);
}

/** What fills an endpoint that uploads. */
export function uploadCall(
  source: MediaSource,
  { mimeType, filename, onProgress }: UploadDescription,
): Pick<Call<string>, "query" | "raw"> {
  return {
    query: { filename: filename || undefined },
    raw: uploadBody(source, { type: mimeType, onProgress }),
  };
}

/**
 * Checks a media type.
 *
 * @throws {ValueError} If it can't be one.
 */
export function checkMediaType(type: string): void {
  if (MEDIA_TYPE.test(type)) return;
  throw new ValueError("Cannot upload the data: its media type must look like image/png");
}
