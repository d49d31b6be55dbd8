/**
 * How files are uploaded; what stands where nothing encrypts files,
 * and the check of what a message says of an encrypted one.
 *
 * @module
 */

import { DecryptionError, EncryptionError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { AttachmentCipher, CreateMediaResponse, EncryptedFile } from "../../types/content/file_info.ts";
import { parseContentUri } from "../../types/identifiers.ts";
import type { ContentURI } from "../../types/ids.ts";
import {
  CALL,
  type Call,
  type Endpoint,
  endpoint,
  field,
  fields,
  type MediaData,
  type MediaSource,
  mediaSource,
  nothing,
  type OnProgress,
  type RequestOptions,
  type Session,
  uploadBody,
} from "../http/mod.ts";

/** Uploads media: an image or another file. */
const upload: Endpoint<"/_matrix/media/v3/upload", ContentURI> = endpoint(
  "uploadMedia",
  "POST",
  "/_matrix/media/v3/upload",
  field<ContentURI>("content_uri", "string"),
);
/** Makes a place for content. */
export const create: Endpoint<"/_matrix/media/v1/create", CreateMediaResponse> = endpoint(
  "createMedia",
  "POST",
  "/_matrix/media/v1/create",
  fields<CreateMediaResponse>({ content_uri: "string", unused_expires_at: "number?" }),
);
/** Uploads content to its place. */
export const uploadTo: Endpoint<"/_matrix/media/v3/upload/{serverName}/{mediaId}", void> = endpoint(
  "uploadMediaTo",
  "PUT",
  "/_matrix/media/v3/upload/{serverName}/{mediaId}",
  nothing,
);

const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[\t ]*(;[\t\x20-\x7e]*)?$/;

/** Options of the operations that upload. */
export interface UploadMediaOptions extends RequestOptions {
  /**
   * The media type, such as `image/png`. Default: a `Blob`'s own, else `application/octet-stream`.
   */
  mimeType?: string;
  /**
   * The name of the file. Everyone who can download the content can see it. Default: a `File`'s
   * own, else none.
   */
  filename?: string;
  /** The size in bytes, of a stream above all. Default: that of the data; it must agree. */
  size?: number;
  /** Called with the number of bytes sent so far. Default: none. */
  onProgress?: OnProgress;
}

/** What the homeserver gets to know of an upload. */
export interface UploadDescription {
  /** The media type. */
  readonly mimeType: string;
  /** The name of the file; none if it is empty. */
  readonly filename?: string;
  /** Called with the progress. */
  readonly onProgress?: OnProgress;
}

/** Uploads content and returns its URI. */
export type UploadSource = (
  source: MediaSource,
  description: UploadDescription,
  options: RequestOptions,
) => Promise<ContentURI>;

/** Makes what uploads content. */
export function uploader({ http }: Session): UploadSource {
  return async (source, description, options) =>
    await http[CALL](upload, { path: {}, ...uploadCall(source, description) }, options);
}

/** Makes the call of an endpoint that uploads. */
export function uploadCall(
  source: MediaSource,
  { mimeType, filename, onProgress }: UploadDescription,
): Pick<Call<string>, "query" | "raw"> {
  return {
    query: { filename: filename || undefined },
    raw: uploadBody(source, mimeType, onProgress),
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

/** The data, its description, and the request options. */
export async function toUpload(
  data: MediaData,
  { mimeType, filename, size, onProgress, ...options }: UploadMediaOptions,
): Promise<[MediaSource, UploadDescription, RequestOptions]> {
  const type = mimeType ?? ((data instanceof Blob && data.type) || "application/octet-stream");
  checkMediaType(type);
  const name = filename ?? (data instanceof File ? data.name : undefined);
  const source = await mediaSource(data, size, options.signal);
  return [source, { mimeType: type, filename: name, onProgress }, options];
}

function refuse(): never {
  throw new DecryptionError("Cannot decrypt the file: nothing here decrypts files; hand in a cipher");
}

/** A cipher that refuses everything. */
export const noCipher: AttachmentCipher = {
  encrypt() {
    throw new EncryptionError("Cannot encrypt the file: nothing here encrypts files; hand in a cipher");
  },
  check: refuse,
  decrypt: refuse,
  decryptStream: refuse,
};

/**
 * Checks what a message says of an encrypted file; all of it may be anything.
 *
 * @throws {AttachmentError} If the file can't be decrypted with it.
 * @throws {ValueError} If it is at no content URI.
 */
export function checkFile(cipher: AttachmentCipher, file: EncryptedFile): void {
  cipher.check(file);
  const url: unknown = file.url;
  parseContentUri(typeof url === "string" ? url : "");
}
