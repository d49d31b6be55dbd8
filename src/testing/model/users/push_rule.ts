/**
 * A push rule and the kinds of them.
 *
 * @module
 */

import type { JsonObject } from "../../../types/json.ts";

/** The kinds, in the order in which rules are tried. */
export const PUSH_RULE_KINDS = ["override", "content", "room", "sender", "underride"] as const;

/** One of {@link PUSH_RULE_KINDS}. */
export type PushRuleKind = typeof PUSH_RULE_KINDS[number];

/** A push rule. */
export interface PushRule {
  /** Its ID; those of predefined rules begin with a dot. */
  readonly rule_id: string;
  /** Whether it is predefined. */
  readonly default: boolean;
  /** Whether it counts. */
  enabled: boolean;
  /** What happens when it matches. */
  actions: unknown[];
  /** What must hold for `override` and `underride` rules. */
  conditions?: JsonObject[];
  /** The glob of a `content` rule. */
  pattern?: string;
}
