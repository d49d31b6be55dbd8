/**
 * Contents of the events that set up and end calls.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#voice-over-ip | Voice over IP}
 * @module
 */

import type { UserID } from "../ids.ts";
import type { Open } from "../enums.ts";

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
