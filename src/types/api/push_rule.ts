/**
 * Push rules: which events notify, and how.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
 * @module
 */

import type { Open } from "../enums.ts";

/** Decides whether an event notifies. */
export interface PushRule {
  /** The rule's ID, unique within its kind; the server's own start with a dot. */
  rule_id: string;
  /** Whether the rule is one of the server's own. */
  default: boolean;
  /** Whether the rule is in force. */
  enabled: boolean;
  /** What to do when the rule matches; nothing if empty. */
  actions: PushAction[];
  /** Of `override` and `underride`: what must hold, all of it; the rule always matches if empty. */
  conditions?: PushCondition[];
  /** Of `content`: a glob that a word of the message matches. */
  pattern?: string;
}

/** The push rules of an account, by kind, each in order of priority. */
export interface PushRuleset {
  /** Rules of the highest priority, with conditions. */
  override?: PushRule[];
  /** Rules for messages whose text matches a pattern. */
  content?: PushRule[];
  /** Rules for one room each. */
  room?: PushRule[];
  /** Rules for one sender each. */
  sender?: PushRule[];
  /** Rules of the lowest priority, with conditions. */
  underride?: PushRule[];
}

/**
 * What to do with an event: notify, or say how. `dont_notify` and `coalesce` are obsolete and do
 * nothing.
 */
export type PushAction = Open<"notify"> | SetTweakAction;

/** How to notify. */
export interface SetTweakAction {
  /** The tweak, such as `sound`. */
  set_tweak: Open<"sound" | "highlight">;
  /** The name of the sound (`default`), or whether to highlight (`true` if absent). */
  value?: unknown;
}

/** What must hold of an event. */
export interface PushCondition {
  /** What is looked at. A condition of unknown kind never holds. */
  kind: Open<PushConditionKind>;
  /**
   * Of the conditions on a property: its path in the event, dots between the parts
   * (`content.body`).
   */
  key?: string;
  /** Of `event_match`: a glob for the property. */
  pattern?: string;
  /** Of `room_member_count`: a number, which may follow `==`, `<`, `>`, `<=` or `>=`. */
  is?: string;
  /** Of `event_property_is` and `event_property_contains`: the value to look for. */
  value?: string | number | boolean | null;
}

/** What a condition can compare. */
export type PushConditionKind =
  /** A property matches a glob. */
  | "event_match"
  /** A property is a value. */
  | "event_property_is"
  /** A property is an array that has a value. */
  | "event_property_contains"
  /** The text has the user's display name; deprecated. */
  | "contains_display_name"
  /** The room has so many members. */
  | "room_member_count"
  /** The sender's power level suffices for the notification named by `key`. */
  | "sender_notification_permission";

/** What `setPushRule()` sends. */
export interface PushRuleUpdate {
  /** What to do when the rule matches. */
  actions: PushAction[];
  /** Of `override` and `underride`: what must hold. */
  conditions?: PushCondition[];
  /** Of `content`: a glob that a word of the message matches. */
  pattern?: string;
}
