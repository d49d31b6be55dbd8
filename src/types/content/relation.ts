/**
 * How events relate to one another.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#forming-relationships-between-events | Relationships}
 * @module
 */

import type { Open, RelationType } from "../enums.ts";
import type { EventID } from "../ids.ts";

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
  /** What is replied to. */
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
