/**
 * What messages say about the files they carry.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
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
