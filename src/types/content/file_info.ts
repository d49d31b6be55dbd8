/**
 * What is said of files: in contents, of their encryption, and by the content repository.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#content-repository | Content repository}
 *
 * @module
 */

import type { ContentURI } from "../ids.ts";

/** What is known of any file. */
export interface BaseFileInfo {
  /** The media type, such as `image/png`. */
  mimetype?: string;
  /** The size, in bytes. */
  size?: number;
}

/** A file's thumbnail: at `thumbnail_url` if in clear, in `thumbnail_file` if encrypted. */
export interface ThumbnailedInfo extends BaseFileInfo {
  /** Where the thumbnail is, if it is not encrypted. */
  thumbnail_url?: ContentURI;
  /** Where the thumbnail is, and its key, if it is encrypted. */
  thumbnail_file?: EncryptedFile;
  /** What is known of the thumbnail. */
  thumbnail_info?: ThumbnailInfo;
}

/** What is known of a thumbnail. */
export interface ThumbnailInfo extends BaseFileInfo {
  /** The width to show it at, in pixels. */
  w?: number;
  /** The height to show it at, in pixels. */
  h?: number;
}

/** What is known of a file of no particular kind. */
export interface FileInfo extends ThumbnailedInfo {}

/** What is known of an image. */
export interface ImageInfo extends ThumbnailedInfo {
  /** The width to show it at, in pixels. */
  w?: number;
  /** The height to show it at, in pixels. */
  h?: number;
  /** Whether the image moves; unknown if absent. */
  is_animated?: boolean;
}

/** What is known of a video clip. */
export interface VideoInfo extends ThumbnailedInfo {
  /** The width, in pixels. */
  w?: number;
  /** The height, in pixels. */
  h?: number;
  /** The length, in milliseconds. */
  duration?: number;
}

/** What is known of an audio clip. */
export interface AudioInfo extends BaseFileInfo {
  /** The length, in milliseconds. */
  duration?: number;
}

/** What is known of a location: a picture of it. */
export interface LocationInfo {
  /** Where the picture is, if it is not encrypted. */
  thumbnail_url?: ContentURI;
  /** Where the picture is, and its key, if it is encrypted. */
  thumbnail_file?: EncryptedFile;
  /** What is known of the picture. */
  thumbnail_info?: ThumbnailInfo;
}

/** What is known of a room's avatar; it is never encrypted. */
export interface AvatarInfo extends BaseFileInfo {
  /** The width to show it at, in pixels. */
  w?: number;
  /** The height to show it at, in pixels. */
  h?: number;
  /** Where the thumbnail is. */
  thumbnail_url?: ContentURI;
  /** What is known of the thumbnail. */
  thumbnail_info?: ThumbnailInfo;
}

/** An encrypted file: where it is, and what decrypts it. */
export interface EncryptedFile {
  /** Where the encrypted bytes are. */
  url: ContentURI;
  /** Decrypts the content; a JSON Web Key. */
  key: EncryptedFileKey;
  /** The first counter block of AES-CTR: 16 bytes in unpadded base64. */
  iv: string;
  /**
   * Hashes of the encrypted bytes by algorithm, in unpadded base64; `sha256` must be among them.
   */
  hashes: { [algorithm: string]: string };
  /** The version of the protocol: `v2`. */
  v: string;
}

/** The key of an encrypted file, as a JSON Web Key. */
export interface EncryptedFileKey {
  /** The type of key: `oct`. */
  kty: "oct";
  /** What the key may be used for: `encrypt` and `decrypt`, at least. */
  key_ops: string[];
  /** The algorithm: AES-CTR with 256 bits. */
  alg: "A256CTR";
  /** The key: 32 bytes in URL-safe unpadded base64. */
  k: string;
  /** Whether the key may leave the crypto API; always `true`. */
  ext: true;
}

/** What decrypts a file: all that a message says of it but where it is. */
export type EncryptedFileSecrets = Omit<EncryptedFile, "url">;

/** A file that is being encrypted. */
export interface EncryptedAttachment {
  /**
   * The encrypted bytes, as many as there are in clear. It must be read to its end or cancelled.
   */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * What decrypts the file.
   *
   * @throws {EncryptionError} If the stream has not been read to its end: until then the hash is
   *   not known.
   */
  secrets(): EncryptedFileSecrets;
}

/** How an encrypted file is buffered: all of it must arrive before any of it may be used. */
export interface BufferOptions {
  /** The most to take, in bytes. Default: 1 GiB. */
  readonly maxSize?: number;
  /**
   * How much is buffered in memory, in bytes; a larger file goes, encrypted, into a temporary file.
   * Default: 64 MiB.
   */
  readonly maxMemory?: number;
}

/** Encrypts and decrypts files. */
export interface AttachmentCipher {
  /**
   * Encrypts a file with a new key.
   *
   * @param data The file; a stream is used up.
   */
  encrypt(data: Uint8Array | ReadableStream<Uint8Array>): EncryptedAttachment;
  /**
   * Checks what a message says of a file, but for where it is.
   *
   * @throws {AttachmentError} If the file can't be decrypted with it.
   */
  check(file: unknown): void;
  /**
   * Decrypts a file in place.
   *
   * @param data The encrypted bytes; decrypted afterwards.
   * @param file What decrypts it.
   * @throws {AttachmentError} If it is not the file that was sent; nothing is decrypted then.
   */
  decrypt(data: Uint8Array<ArrayBuffer>, file: EncryptedFileSecrets): Promise<void>;
  /**
   * Decrypts a file that comes as a stream. Reads when the result is read, and yields nothing
   * before it has read all.
   *
   * @param data The encrypted bytes; used up.
   * @param file What decrypts it.
   * @param options How it is buffered.
   * @returns The file, or a stream that fails with an {@linkcode AttachmentError}. It must be read
   *   to its end or cancelled.
   * @throws {AttachmentError} If what the message says of the file can't be used.
   */
  decryptStream(
    data: ReadableStream<Uint8Array>,
    file: EncryptedFileSecrets,
    options?: BufferOptions,
  ): ReadableStream<Uint8Array<ArrayBuffer>>;
}

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
  /** The `mxc://` URI under which the content will be. */
  content_uri: ContentURI;
  /** When the place is given up if nothing was uploaded, in milliseconds since the epoch. */
  unused_expires_at?: number;
}
