/**
 * Uploads the files of a message, encrypted if the room is.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
 * @module
 */

import { checkOptions } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type {
  AttachmentCipher,
  EncryptedAttachment,
  EncryptedFile,
  FileInfo,
  ThumbnailInfo,
} from "../../types/content/file_info.ts";
import type { ContentURI, RoomID } from "../../types/ids.ts";
import { isJsonObject } from "../../types/json.ts";
import { parseContentUri } from "../../types/identifiers.ts";
import {
  checkInteger,
  isMediaData,
  type MediaData,
  type MediaSource,
  mediaSource,
  type OnProgress,
  type RequestOptions,
  requestOptions,
  type SendingUser,
  streamIn,
  unusable,
} from "../http/mod.ts";
import { checkFile, checkMediaType, type UploadDescription, type UploadSource } from "../media/media.ts";
import type { SendOptions } from "./messages.ts";
import { platform } from "../../base/platform/mod.ts";

/** What uploads and encrypts files. */
export interface FilePlacing extends SendingUser {
  /** Uploads media: an image or another file. */
  readonly upload: UploadSource;
  /** Encrypts files. */
  readonly cipher: AttachmentCipher;
  /**
   * Whether messages to a room are encrypted. If that can't be found out, or they have to be and
   * can't, it rejects: then nothing is uploaded. Default: they are not.
   */
  readonly isEncrypted?: (roomId: RoomID, options: RequestOptions) => Promise<boolean>;
}

/** The files of a message, as the caller gives them. */
export interface Attachment {
  readonly file: ContentURI | EncryptedFile | MediaData;
  /** The known metadata. */
  readonly info?: FileInfo;
  readonly name?: string;
  /** A smaller version of it. */
  readonly thumbnail?: { readonly data: MediaData; readonly info?: ThumbnailInfo };
  /** Called with the progress of the file. */
  readonly onProgress?: OnProgress;
  /** Whether it is to be known afterwards what the data was. */
  readonly isHashed: boolean;
}

/** Files that are where they are to be. */
export interface PlacedFiles {
  /** Where the file is, and what is known of it. */
  readonly placed: PlacedFile;
  /** If it was to be known: hashes of the file and of the thumbnail, of those that are data. */
  readonly digests: readonly (string | undefined)[];
}

/** Where a file is, and what is known of it: a part of the content of a message. */
export interface PlacedFile {
  /** Where it is, if it is not encrypted. */
  url?: ContentURI;
  /** Where it is, and its key, if it is encrypted. */
  file?: EncryptedFile;
  /** What is known of it. */
  info?: FileInfo;
}

/** Data that is about to be uploaded. */
interface PendingUpload {
  readonly source: MediaSource;
  readonly info: { mimetype?: string; size: number };
  /** A hash of what was read, if it was to be known. */
  readonly digest?: () => string;
}

/**
 * Checks the files of a message, before anything is asked or sent.
 *
 * @throws {AttachmentError} If an encrypted file can't be decrypted.
 * @throws {ValueError} If anything else can't be used.
 */
export function checkAttachment(cipher: AttachmentCipher, { file, info, thumbnail }: Attachment): void {
  if (isData(file)) checkData(file, info);
  else if (typeof file === "string") parseContentUri(file);
  else checkFile(cipher, file);
  if (thumbnail === undefined) return;
  checkOptions(thumbnail, { data: true, info: true }, "send a file", "thumbnail.");
  if (!isData(thumbnail.data)) throw unusable();
  checkData(thumbnail.data, thumbnail.info);
}

/**
 * Uploads the files of a message.
 *
 * @param placing What uploads and encrypts.
 * @param roomId The room that the message is for.
 * @param attachment The files, which have been checked.
 * @param options The options of the message.
 * @throws {ValueError} If data is not of the size that is said.
 */
export async function placeFiles(
  placing: FilePlacing,
  roomId: RoomID,
  { file, info, name, thumbnail, onProgress, isHashed }: Attachment,
  options: SendOptions,
): Promise<PlacedFiles> {
  const { disableEncryption = false } = options;
  const request = requestOptions(options);
  const data = isData(file) ? file : undefined;
  const hidden = (data !== undefined || thumbnail !== undefined) && !disableEncryption &&
    (await placing.isEncrypted?.(roomId, request) ?? false);
  const send = async (upload: PendingUpload, description: Partial<UploadDescription>): Promise<PlacedFile> =>
    hidden
      ? { file: await uploadEncrypted(placing, upload, description.onProgress, request) }
      : { url: await uploadPlain(placing, upload, description, request) };

  // Both are checked before either is uploaded.
  const prepared = async (data: MediaData, info: FileInfo | undefined): Promise<PendingUpload> => {
    const upload = await pendingUpload(data, info, request);
    return isHashed ? { ...upload, ...await digesting(upload.source) } : upload;
  };
  const upload = data && await prepared(data, info);
  const small = thumbnail && await prepared(thumbnail.data, thumbnail.info);
  const picture = small && await send(small, {});
  const known = {
    ...info,
    ...upload?.info,
    ...(picture?.url && { thumbnail_url: picture.url }),
    ...(picture?.file && { thumbnail_file: picture.file }),
    ...(small && { thumbnail_info: { ...thumbnail?.info, ...small.info } }),
  };
  const place = upload ? await send(upload, { filename: name, onProgress }) : placeOf(file);
  const digests = [upload?.digest?.(), small?.digest?.()];
  const placed = {
    ...place,
    ...((info !== undefined || Object.keys(known).length > 0) && { info: known }),
  };
  return { placed, digests };
}

/** Cancels streams that were not read: the caller expects them to be used up. */
export function discard(...data: unknown[]): void {
  for (const stream of data.map(streamIn)) {
    if (stream?.locked === false) stream.cancel().catch(() => {});
  }
}

/**
 * Returns whether it is data: what is neither a URI nor says by its members that it is an encrypted file.
 */
function isData(file: unknown): file is MediaData {
  if (typeof file === "string") return false;
  if (isMediaData(file)) return true;
  if (isJsonObject(file) && "url" in file && streamIn(file) === undefined) return false;
  throw unusable();
}

function checkData(data: MediaData, info: FileInfo | undefined): void {
  checkInteger("size", info?.size);
  const type = mediaType(data, info);
  if (type !== undefined) checkMediaType(type);
  const size = data instanceof Blob ? data.size : "byteLength" in data ? data.byteLength : info?.size;
  if (info?.size === undefined || size === info.size) return;
  throw new ValueError(
    `Cannot send the data: its info says that it has ${info.size} bytes, and it has ${size}`,
  );
}

function mediaType(data: MediaData, info: FileInfo | undefined): string | undefined {
  return info?.mimetype ?? ((data instanceof Blob && data.type) || undefined);
}

async function pendingUpload(
  data: MediaData,
  info: FileInfo | undefined,
  { signal }: RequestOptions,
): Promise<PendingUpload> {
  const source = await mediaSource(data, info?.size, signal);
  const mimetype = mediaType(data, info);
  return { source, info: { ...(mimetype !== undefined && { mimetype }), size: source.size } };
}

async function uploadPlain(
  { upload }: FilePlacing,
  { source, info }: PendingUpload,
  description: Partial<UploadDescription>,
  options: RequestOptions,
): Promise<ContentURI> {
  return await upload(source, { mimeType: info.mimetype ?? OCTETS, ...description }, options);
}

/** What the server learns of encrypted content. */
const OCTETS = "application/octet-stream";

async function uploadEncrypted(
  { upload, cipher }: FilePlacing,
  { source }: PendingUpload,
  onProgress: OnProgress | undefined,
  options: RequestOptions,
): Promise<EncryptedFile> {
  let attachment: EncryptedAttachment | undefined;
  /**
   * A try of its own has a key of its own: data that changed in between must not be seen under the
   * same one.
   */
  const open = (): ReadableStream<Uint8Array> => {
    attachment = cipher.encrypt(source.open());
    return attachment.stream;
  };
  const encrypted = { size: source.size, repeatable: source.repeatable, open };
  const url = await upload(encrypted, { mimeType: OCTETS, onProgress }, options);
  attachment ??= await nothing(cipher);
  return { url, ...attachment.secrets() };
}

/** An upload of nothing is not read. */
async function nothing(cipher: AttachmentCipher): Promise<EncryptedAttachment> {
  const attachment = cipher.encrypt(new Uint8Array());
  await attachment.stream.pipeTo(new WritableStream());
  return attachment;
}

function placeOf(file: Attachment["file"]): PlacedFile {
  // Not data: that was checked.
  return typeof file === "string" ? { url: file } : { file: file as EncryptedFile };
}

/** Data that is hashed while it is read. */
interface Digesting {
  /** The data. */
  readonly source: MediaSource;
  /** The SHA-256 of what was read last, which was all of it; to be asked for once. */
  readonly digest: () => string;
}

/** Hashes data while it is read. */
async function digesting(source: MediaSource): Promise<Digesting> {
  const { createHash } = await platform.crypto();
  let hash = createHash("sha256");
  const open = (): ReadableStream<Uint8Array> => {
    const current = hash = createHash("sha256");
    return source.open().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          // Other chunks are refused when they are sent.
          if (chunk instanceof Uint8Array) current.update(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
  };
  return { source: { ...source, open }, digest: () => hash.digest("base64url") };
}
