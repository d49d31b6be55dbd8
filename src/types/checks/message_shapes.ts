/**
 * Contents of messages that are not part of a call or of a verification.
 *
 * @module
 */

import type { MegolmEncryptedContent } from "../content/encryption_content.ts";
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
import type {
  AudioMessageContent,
  BaseMediaContent,
  BaseMessageContent,
  EmoteMessageContent,
  FileMessageContent,
  FormattedText,
  ImageMessageContent,
  InReplyTo,
  KeyVerificationRequestMessageContent,
  LocationMessageContent,
  Mentions,
  MessageTypeContents,
  NoticeMessageContent,
  OtherMessageContent,
  OtherMessageType,
  ReactionContent,
  ReactionRelatesTo,
  RelatesTo,
  RoomMessageContent,
  RoomRedactionContent,
  ServerNoticeMessageContent,
  StickerContent,
  TextMessageContent,
  VideoMessageContent,
} from "../content/message_content.ts";
import { EncryptionAlgorithm, RelationType } from "../enums.ts";
import { isJsonObject } from "../json.ts";
import {
  boolean,
  contentUri,
  eventId,
  geoUri,
  isTrue,
  later,
  list,
  map,
  type Members,
  number,
  object,
  oneOf,
  optional,
  orElse,
  type Shape,
  tag,
  text,
  userId,
  variants,
} from "./shape.ts";

const baseInfo: Members<BaseFileInfo> = { mimetype: optional(text), size: optional(number) };
const thumbnailInfo = object<ThumbnailInfo>({ ...baseInfo, w: optional(number), h: optional(number) });

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
const locationInfo: Shape<LocationInfo> = object<LocationInfo>(thumbnail);
/** Of any file. */
const fileInfo: Shape<ThumbnailedInfo> = object<ThumbnailedInfo>({ ...baseInfo, ...thumbnail });
/** Of an image. */
export const imageInfo: Shape<ImageInfo> = object<ImageInfo>({
  ...baseInfo,
  ...thumbnail,
  w: optional(number),
  h: optional(number),
  is_animated: optional(boolean),
});
/** Of a video clip. */
const videoInfo: Shape<VideoInfo> = object<VideoInfo>({
  ...baseInfo,
  ...thumbnail,
  w: optional(number),
  h: optional(number),
  duration: optional(number),
});
/** Of an audio clip. */
const audioInfo: Shape<AudioInfo> = object<AudioInfo>({ ...baseInfo, duration: optional(number) });
/** Of an avatar. */
export const avatarInfo: Shape<AvatarInfo> = object<AvatarInfo>({
  ...baseInfo,
  w: optional(number),
  h: optional(number),
  thumbnail_url: optional(contentUri),
  thumbnail_info: optional(thumbnailInfo),
});

const mentions = object<Mentions>({ user_ids: optional(list(userId)), room: optional(boolean) });

const relatesTo = object<RelatesTo>({
  rel_type: optional(text),
  event_id: optional(eventId),
  key: optional(text),
  is_falling_back: optional(boolean),
  "m.in_reply_to": optional(object<InReplyTo>({ event_id: eventId })),
});

const base: Members<BaseMessageContent> = {
  body: text,
  "m.mentions": optional(mentions),
  "m.relates_to": optional(relatesTo),
  "m.new_content": optional(later((): Shape<RoomMessageContent> => roomMessage)),
};

const formatted: Members<FormattedText> = { format: optional(text), formatted_body: optional(text) };

/** What is shown in place of something else: who gets that needs no text. */
const described: Members<BaseMessageContent> = { ...base, body: orElse(text, () => "") };

const media: Members<BaseMediaContent> = {
  ...described,
  ...formatted,
  filename: optional(text),
  url: optional(contentUri),
  file: optional(encryptedFile),
};

/** Any string: those that are known have been looked for before. */
const otherType = text as unknown as Shape<OtherMessageType>;

/**
 * Returns whether a content is text and nothing else, as that of most messages is. Its members are named
 * one by one, which the compiler of V8 makes much more of than of a walk through all that there may
 * be.
 */
function isPlainText(value: unknown): value is TextMessageContent {
  if (!isJsonObject(value)) return false;
  const said: { readonly [Name in keyof TextMessageContent]?: unknown } = value;
  const { msgtype, body, format, formatted_body: html } = said;
  return typeof body === "string" && (msgtype === "m.text" || msgtype === "m.notice") &&
    (format === undefined || typeof format === "string") &&
    (html === undefined || typeof html === "string") &&
    said["m.relates_to"] === undefined && said["m.mentions"] === undefined &&
    said["m.new_content"] === undefined;
}

/** `m.room.message`. */
export const roomMessage: Shape<RoomMessageContent> = (value, notes) =>
  isPlainText(value) ? value : anyMessage(value, notes);

const anyMessage = variants<MessageTypeContents, OtherMessageContent>(
  "msgtype",
  {
    "m.text": object<TextMessageContent>({ ...base, ...formatted, msgtype: tag() }),
    "m.emote": object<EmoteMessageContent>({ ...base, ...formatted, msgtype: tag() }),
    "m.notice": object<NoticeMessageContent>({ ...base, ...formatted, msgtype: tag() }),
    "m.image": object<ImageMessageContent>({ ...media, msgtype: tag(), info: optional(imageInfo) }),
    "m.file": object<FileMessageContent>({ ...media, msgtype: tag(), info: optional(fileInfo) }),
    "m.audio": object<AudioMessageContent>({ ...media, msgtype: tag(), info: optional(audioInfo) }),
    "m.video": object<VideoMessageContent>({ ...media, msgtype: tag(), info: optional(videoInfo) }),
    "m.location": object<LocationMessageContent>({
      ...described,
      msgtype: tag(),
      geo_uri: geoUri,
      info: optional(locationInfo),
    }),
    "m.server_notice": object<ServerNoticeMessageContent>({
      ...described,
      msgtype: tag(),
      server_notice_type: optional(text),
      admin_contact: optional(text),
      limit_type: optional(text),
    }),
    "m.key.verification.request": object<KeyVerificationRequestMessageContent>({
      ...described,
      ...formatted,
      msgtype: tag(),
      from_device: text,
      methods: list(text),
      to: userId,
    }),
  },
  object<OtherMessageContent>({ ...described, msgtype: otherType }),
);

/** `m.sticker`. */
export const sticker: Shape<StickerContent> = object<StickerContent>({
  body: orElse(text, () => ""),
  info: optional(imageInfo),
  url: optional(contentUri),
  file: optional(encryptedFile),
  "m.mentions": optional(mentions),
  "m.relates_to": optional(relatesTo),
});

/** `m.reaction`. */
export const reaction: Shape<ReactionContent> = object<ReactionContent>({
  "m.relates_to": object<ReactionRelatesTo>({
    rel_type: oneOf(RelationType.ANNOTATION),
    event_id: eventId,
    key: text,
  }),
});

/** `m.room.redaction`. */
export const roomRedaction: Shape<RoomRedactionContent> = object<RoomRedactionContent>({
  redacts: optional(eventId),
  reason: optional(text),
});

/** `m.room.encrypted`, as a message. */
export const megolmEncrypted: Shape<MegolmEncryptedContent> = object<MegolmEncryptedContent>({
  algorithm: oneOf(EncryptionAlgorithm.MEGOLM_V1),
  ciphertext: text,
  session_id: text,
  sender_key: optional(text),
  device_id: optional(text),
  "m.relates_to": optional(relatesTo),
});
