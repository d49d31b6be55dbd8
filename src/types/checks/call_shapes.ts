/**
 * Contents of the events that set up and end calls.
 * A file of its own because its shapes are taken as one group, as those of other classes are.
 *
 * @module
 */

import type {
  BaseCallContent,
  CallAnswerContent,
  CallCandidate,
  CallCandidatesContent,
  CallHangupContent,
  CallInviteContent,
  CallNegotiateContent,
  CallRejectContent,
  CallSelectAnswerContent,
  CallStreamMetadataChangedContent,
  SessionDescription,
  StreamMetadata,
  StreamMetadataById,
} from "../content/call_content.ts";
import { list, map, object } from "./composite_shapes.ts";
import {
  boolean,
  either,
  type Members,
  number,
  oneOf,
  optional,
  orElse,
  type Shape,
  text,
  userId,
} from "./shape.ts";

const base: Members<BaseCallContent> = {
  call_id: text,
  party_id: optional(text),
  version: orElse(either(text, oneOf(0)), () => 0),
};

const streams = map<StreamMetadataById>(object<StreamMetadata>({
  purpose: text,
  audio_muted: optional(boolean),
  video_muted: optional(boolean),
}));

function description<const Type extends "offer" | "answer">(
  ...types: Type[]
): Shape<SessionDescription<Type>> {
  return object<SessionDescription<Type>>(
    { type: oneOf(...types), sdp: text } as Members<SessionDescription<Type>>,
  );
}

/** `m.call.invite`. */
export const callInvite: Shape<CallInviteContent> = object<CallInviteContent>({
  ...base,
  offer: description("offer"),
  lifetime: number,
  invitee: optional(userId),
  sdp_stream_metadata: optional(streams),
});

/** `m.call.candidates`. */
export const callCandidates: Shape<CallCandidatesContent> = object<CallCandidatesContent>({
  ...base,
  candidates: list(object<CallCandidate>({
    candidate: text,
    sdpMid: optional(text),
    sdpMLineIndex: optional(number),
  })),
});

/** `m.call.answer`. */
export const callAnswer: Shape<CallAnswerContent> = object<CallAnswerContent>({
  ...base,
  answer: description("answer"),
  sdp_stream_metadata: optional(streams),
});

/** `m.call.select_answer`. */
export const callSelectAnswer: Shape<CallSelectAnswerContent> = object<CallSelectAnswerContent>({
  ...base,
  selected_party_id: text,
});

/** `m.call.negotiate`. */
export const callNegotiate: Shape<CallNegotiateContent> = object<CallNegotiateContent>({
  ...base,
  description: description("offer", "answer"),
  lifetime: number,
  sdp_stream_metadata: optional(streams),
});

/** `m.call.sdp_stream_metadata_changed`. */
export const callStreams: Shape<CallStreamMetadataChangedContent> = object<CallStreamMetadataChangedContent>({
  ...base,
  sdp_stream_metadata: streams,
});

/** `m.call.reject`. */
export const callReject: Shape<CallRejectContent> = object<CallRejectContent>(base);

/** `m.call.hangup`. */
export const callHangup: Shape<CallHangupContent> = object<CallHangupContent>({
  ...base,
  reason: optional(text),
});
