/**
 * Contents of messages, how events relate to one another, and contents of the events that set up and end
 * calls.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#forming-relationships-between-events | Relationships}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#voice-over-ip | Voice over IP}
 *
 * Over 300 lines because it is a list of types, each with its comment.
 *
 * @module
 */

import type { MessageType, Open, RelationType } from "../enums.ts";
import type { ContentURI, DeviceID, EventID, UserID } from "../ids.ts";
import type { AudioInfo, EncryptedFile, FileInfo, ImageInfo, LocationInfo, VideoInfo } from "./file_info.ts";

/** The `m.relates_to` of a content. */
export interface RelatesTo {
  /** How it relates to `event_id`; absent of a plain reply. */
  rel_type?: Open<RelationType>;
  /** The event that it relates to; of a thread, its root. */
  event_id?: EventID;
  /** Of an annotation: the reaction, mostly an emoji. */
  key?: string;
  /**
   * Of a thread: whether `m.in_reply_to` is only there for clients without threads. Default:
   * `false`.
   */
  is_falling_back?: boolean;
  /** The event that it replies to. */
  "m.in_reply_to"?: InReplyTo;
}

/** The event that another replies to. */
export interface InReplyTo {
  /** The event that the message replies to. */
  event_id: EventID;
}

/** The `m.relates_to` of a reaction. */
export interface ReactionRelatesTo {
  /** Always an annotation. */
  rel_type: typeof RelationType.ANNOTATION;
  /** The event that is reacted to. */
  event_id: EventID;
  /** The reaction, mostly an emoji. */
  key: string;
}

/** The `m.relates_to` of an in-room verification event. */
export interface VerificationRelatesTo {
  /** Always a reference. */
  rel_type: typeof RelationType.REFERENCE;
  /** The verification request. */
  event_id: EventID;
}

/** What messages of every `msgtype` have. */
export type BaseMessageContent = {
  /** The message as plain text, for clients that do not know the `msgtype`. */
  body: string;
  /** Whom the message mentions. Users who are not listed here are not notified. */
  "m.mentions"?: Mentions;
  /** How the message relates to another event. */
  "m.relates_to"?: RelatesTo;
  /** Of an edit: the content that takes the place of the old one. */
  "m.new_content"?: RoomMessageContent;
};

/** The users whom a message mentions. */
export interface Mentions {
  /** The users who are notified of the message. */
  user_ids?: UserID[];
  /** Whether it mentions everyone in the room. Default: `false`. */
  room?: boolean;
}

/** Text that may have a formatted form. */
export type FormattedText = {
  /** What `formatted_body` is written in. */
  format?: Open<"org.matrix.custom.html">;
  /** The text with formatting; needs `format`. */
  formatted_body?: string;
};

/**
 * A message that carries a file. The `body` is a caption if there is a `filename` that differs from
 * it.
 */
export type BaseMediaContent = BaseMessageContent & FormattedText & {
  /** The original name of the file. */
  filename?: string;
  /** Where the file is, if it is not encrypted. */
  url?: ContentURI;
  /** Where the file is, and its key, if it is encrypted. */
  file?: EncryptedFile;
};

/** Text that a user wrote. */
export type TextMessageContent = BaseMessageContent & FormattedText & {
  /** The kind of message. */
  msgtype: typeof MessageType.TEXT;
};

/** Content of an action of the sender, in the third person. */
export type EmoteMessageContent = BaseMessageContent & FormattedText & {
  /** The kind of message. */
  msgtype: typeof MessageType.EMOTE;
};

/** Content of a bot's text message. */
export type NoticeMessageContent = BaseMessageContent & FormattedText & {
  /** The kind of message. */
  msgtype: typeof MessageType.NOTICE;
};

/** A picture, in clear or encrypted. */
export type ImageMessageContent = BaseMediaContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.IMAGE;
  /** What is known of the image. */
  info?: ImageInfo;
};

/** An attachment of any kind. */
export type FileMessageContent = BaseMediaContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.FILE;
  /** What is known of the file. */
  info?: FileInfo;
};

/** Content of a message with an audio clip. */
export type AudioMessageContent = BaseMediaContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.AUDIO;
  /** What is known of the clip. */
  info?: AudioInfo;
};

/** Content of a message with a video clip. */
export type VideoMessageContent = BaseMediaContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.VIDEO;
  /** What is known of the clip. */
  info?: VideoInfo;
};

/** A place on the map. */
export type LocationMessageContent = BaseMessageContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.LOCATION;
  /** The location, as a URI of RFC 5870. */
  geo_uri: `geo:${string}`;
  /** A picture of the location. */
  info?: LocationInfo;
};

/** Content of a notice of the homeserver's administration. */
export type ServerNoticeMessageContent = BaseMessageContent & {
  /** The kind of message. */
  msgtype: typeof MessageType.SERVER_NOTICE;
  /** What the notice is about. */
  server_notice_type?: Open<"m.server_notice.usage_limit_reached">;
  /** A URI by which to reach the administrator; there if a usage limit was reached. */
  admin_contact?: string;
  /** Which limit was reached, such as `monthly_active_user`; there if one was. */
  limit_type?: Open<"monthly_active_user">;
};

/** Content of the message that starts a device verification inside a room. */
export type KeyVerificationRequestMessageContent = BaseMessageContent & FormattedText & {
  /** The kind of message. */
  msgtype: typeof MessageType.KEY_VERIFICATION_REQUEST;
  /** The device that asks. */
  from_device: DeviceID;
  /** The verification methods that the device supports. */
  methods: string[];
  /** The user who is asked; everyone else ignores it. */
  to: UserID;
};

/**
 * The content of a message, by `msgtype`. Applications that use a `msgtype` of their own add it by
 * declaration merging; what they say of it beyond the `body` is not checked.
 *
 * @example
 * ```ts ignore
 * declare module "@greenroom/matrix" {
 *   interface MessageTypeContents {
 *     "com.example.dice": BaseMessageContent & { msgtype: "com.example.dice"; eyes: number };
 *   }
 * }
 * ```
 */
export interface MessageTypeContents {
  /** Text that a user wrote. */
  "m.text": TextMessageContent;
  /** An action of the sender. */
  "m.emote": EmoteMessageContent;
  /** Text of a bot. */
  "m.notice": NoticeMessageContent;
  /** A picture. */
  "m.image": ImageMessageContent;
  /** An attachment of any kind. */
  "m.file": FileMessageContent;
  /** An audio clip. */
  "m.audio": AudioMessageContent;
  /** A video clip. */
  "m.video": VideoMessageContent;
  /** A place on the map. */
  "m.location": LocationMessageContent;
  /** A notice of the homeserver's administration. */
  "m.server_notice": ServerNoticeMessageContent;
  /** The start of a device verification. */
  "m.key.verification.request": KeyVerificationRequestMessageContent;
}

/**
 * A `msgtype` that no other content has. It is a string, and the compiler can assume nothing else
 * of it, so that a comparison with a `msgtype` that is known leaves the content that belongs to it.
 */
export declare enum OtherMessageType {
  /** Stands for all of them; there is no value of this name. */
  ANY = "",
}

/**
 * Content of a message with an unknown `msgtype`: show its `body`.
 */
export type OtherMessageContent = BaseMessageContent & {
  /** The kind of message. */
  msgtype: OtherMessageType;
};

/** Content of `m.room.message`: a union over `msgtype`. */
export type RoomMessageContent = MessageTypeContents[keyof MessageTypeContents] | OtherMessageContent;

/** Content of `m.sticker`. */
export type StickerContent = {
  /** What the sticker shows or means, in words. */
  body: string;
  /** What is known of the image. */
  info?: ImageInfo;
  /** Where the image is, if it is not encrypted. */
  url?: ContentURI;
  /** Where the image is, and its key, if it is encrypted. */
  file?: EncryptedFile;
  /** Whom the sticker mentions. */
  "m.mentions"?: Mentions;
  /** How the sticker relates to another event. */
  "m.relates_to"?: RelatesTo;
};

/** Content of `m.reaction`. */
export type ReactionContent = {
  /** The reaction, and the event it is to. */
  "m.relates_to": ReactionRelatesTo;
};

/** Content of `m.room.redaction`. */
export type RoomRedactionContent = {
  /** The event to redact, since room version 11; before, it stands beside the content. */
  redacts?: EventID;
  /** Why, in the sender's words. */
  reason?: string;
};

/** What all call events have. */
export type BaseCallContent = {
  call_id: string;
  /**
   * The sending end of the call: one device of one user; absent of clients from before there were
   * versions.
   */
  party_id?: string;
  /**
   * The version of the protocol: `"1"`; the number `0` of clients from before there were versions.
   */
  version: Open<"1"> | 0;
};

/** A WebRTC session description. */
export interface SessionDescription<Type extends "offer" | "answer" = "offer" | "answer"> {
  /** Whether it offers or answers. */
  type: Type;
  /** The description, in SDP. */
  sdp: string;
}

/** What the streams of a session carry, by the ID of the stream. */
export type StreamMetadataById = { [streamId: string]: StreamMetadata };

/** What a stream carries. */
export interface StreamMetadata {
  /** A camera and microphone, or a screen. */
  purpose: Open<"m.usermedia" | "m.screenshare">;
  /** Whether its sound is muted. Default: `false`. */
  audio_muted?: boolean;
  /** Whether its picture is muted. Default: `false`. */
  video_muted?: boolean;
}

/** Content of `m.call.invite`. */
export type CallInviteContent = BaseCallContent & {
  /** The caller's session. */
  offer: SessionDescription<"offer">;
  /** For how long the invitation holds, in milliseconds. */
  lifetime: number;
  /** The user who is called; anyone in the room may answer if absent. */
  invitee?: UserID;
  /** What the streams carry. */
  sdp_stream_metadata?: StreamMetadataById;
};

/** Content of `m.call.candidates`. */
export type CallCandidatesContent = BaseCallContent & {
  /** Ways to reach the sender. An empty `candidate` says that there will be no more. */
  candidates: CallCandidate[];
};

/** A way to reach one end of a call. */
export interface CallCandidate {
  /** The SDP `a` line. */
  candidate: string;
  /** The SDP media type that it is for. */
  sdpMid?: string;
  /** The index of the SDP `m` line that it is for. */
  sdpMLineIndex?: number;
}

/** Content of `m.call.answer`. */
export type CallAnswerContent = BaseCallContent & {
  /** The answering end's session. */
  answer: SessionDescription<"answer">;
  /** What the streams carry. */
  sdp_stream_metadata?: StreamMetadataById;
};

/** Content of `m.call.select_answer`. */
export type CallSelectAnswerContent = BaseCallContent & {
  /** The end whose answer the caller takes. */
  selected_party_id: string;
};

/** Content of `m.call.negotiate`. */
export type CallNegotiateContent = BaseCallContent & {
  /** The changed session. */
  description: SessionDescription;
  /** For how long the offer holds, in milliseconds. */
  lifetime: number;
  /** What the streams carry. */
  sdp_stream_metadata?: StreamMetadataById;
};

/** Content of `m.call.sdp_stream_metadata_changed`. */
export type CallStreamMetadataChangedContent = BaseCallContent & {
  /** What the streams carry now. */
  sdp_stream_metadata: StreamMetadataById;
};

/** Content of `m.call.reject`. */
export type CallRejectContent = BaseCallContent;

/** Why a call ended. */
export type CallHangupReason = Open<
  | "ice_failed"
  | "ice_timeout"
  | "invite_timeout"
  | "unknown_error"
  | "user_busy"
  | "user_hangup"
  | "user_media_failed"
>;

/** Content of `m.call.hangup`. */
export type CallHangupContent = BaseCallContent & {
  /** Why the call ended; the user hung up if absent. */
  reason?: CallHangupReason;
};
