/**
 * What is said of files.
 *
 * @module
 */

import type {
  AudioInfo,
  AvatarInfo,
  BaseFileInfo,
  EncryptedFile,
  EncryptedFileKey,
  ImageInfo,
  LocationInfo,
  ThumbnailedInfo,
  ThumbnailInfo,
  VideoInfo,
} from "../content/file_info.ts";
import { list, map, object } from "./composite_shapes.ts";
import {
  boolean,
  contentUri,
  isTrue,
  type Members,
  number,
  oneOf,
  optional,
  orElse,
  type Shape,
  text,
} from "./shape.ts";

const base: Members<BaseFileInfo> = { mimetype: optional(text), size: optional(number) };
const thumbnailInfo = object<ThumbnailInfo>({ ...base, w: optional(number), h: optional(number) });

/** Where an encrypted file is, and what decrypts it. */
export const encryptedFile: Shape<EncryptedFile> = object<EncryptedFile>({
  url: contentUri,
  key: object<EncryptedFileKey>({
    kty: oneOf("oct"),
    key_ops: list(text),
    alg: oneOf("A256CTR"),
    k: text,
    ext: orElse(isTrue, () => true),
  }),
  iv: text,
  hashes: map<EncryptedFile["hashes"]>(text),
  v: text,
});

const thumbnail: Members<LocationInfo> = {
  thumbnail_url: optional(contentUri),
  thumbnail_file: optional(encryptedFile),
  thumbnail_info: optional(thumbnailInfo),
};

/** Of a location. */
export const locationInfo: Shape<LocationInfo> = object<LocationInfo>(thumbnail);
/** Of any file. */
export const fileInfo: Shape<ThumbnailedInfo> = object<ThumbnailedInfo>({ ...base, ...thumbnail });
/** Of an image. */
export const imageInfo: Shape<ImageInfo> = object<ImageInfo>({
  ...base,
  ...thumbnail,
  w: optional(number),
  h: optional(number),
  is_animated: optional(boolean),
});
/** Of a video clip. */
export const videoInfo: Shape<VideoInfo> = object<VideoInfo>({
  ...base,
  ...thumbnail,
  w: optional(number),
  h: optional(number),
  duration: optional(number),
});
/** Of an audio clip. */
export const audioInfo: Shape<AudioInfo> = object<AudioInfo>({ ...base, duration: optional(number) });
/** Of an avatar. */
export const avatarInfo: Shape<AvatarInfo> = object<AvatarInfo>({
  ...base,
  w: optional(number),
  h: optional(number),
  thumbnail_url: optional(contentUri),
  thumbnail_info: optional(thumbnailInfo),
});
