/**
 * The push rules of a user: the predefined ones and their own.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import { defaultPushRules } from "./default_push_rules.ts";
import type { PushRule, PushRuleKind } from "./push_rule.ts";

/** The push rules of a user. */
export class PushRules {
  readonly #rules: Record<PushRuleKind, PushRule[]>;
  /** The rules as they were, up to a stream position. */
  readonly #before: { readonly rules: Record<PushRuleKind, readonly PushRule[]>; readonly until: number }[] =
    [];
  #now: Record<PushRuleKind, readonly PushRule[]>;
  /** The predefined rules that the user has switched on or off. */
  readonly #switched = new Set<PushRule>();

  /** Starts with the predefined rules. */
  constructor(userId: UserID) {
    this.#rules = defaultPushRules(userId);
    this.#now = structuredClone(this.#rules);
  }

  /** The rules of a kind, in the order in which they are tried. */
  of(kind: PushRuleKind): readonly PushRule[] {
    return this.#rules[kind];
  }

  /** The rules of a kind that an event at a stream position met. */
  at(position: number, kind: PushRuleKind): readonly PushRule[] {
    return (this.#before.find(({ until }) => position < until)?.rules ?? this.#now)[kind];
  }

  /** Lets the rules as they are now hold for events from a stream position on. */
  save(position: number): void {
    this.#before.push({ rules: this.#now, until: position });
    this.#now = structuredClone(this.#rules);
  }

  /** One rule. */
  find(kind: PushRuleKind, id: string): PushRule | undefined {
    return this.#rules[kind].find((rule) => rule.rule_id === id);
  }

  /**
   * Adds a rule or replaces the user's own one of that ID. It goes before or behind another rule of
   * the user if one is named, stays where it was, or comes first. Returns `false` if the named rule
   * does not exist.
   */
  put(kind: PushRuleKind, rule: PushRule, place: { before?: string; after?: string }): boolean {
    const rules = this.#rules[kind];
    const old = rules.findIndex(({ rule_id }) => rule_id === rule.rule_id);
    const anchor = place.before ?? place.after;
    if (anchor !== undefined && !rules.some(({ rule_id, default: own }) => rule_id === anchor && !own)) {
      return false;
    }
    const [{ enabled } = rule] = old >= 0 ? rules.splice(old, 1) : [];
    const at = rules.findIndex(({ rule_id }) => rule_id === anchor);
    // Only the master rule stands above the rules of the user.
    const first = kind === "override" ? 1 : 0;
    const index = anchor === undefined ? first : place.before === undefined ? at + 1 : at;
    rules.splice(index, 0, { ...rule, enabled });
    return true;
  }

  /** Switches a rule on or off. */
  enable(rule: PushRule, enabled: boolean): void {
    rule.enabled = enabled;
    this.#switched.add(rule);
  }

  /** Sets what a rule does; a predefined one is on from then, unless the user has switched it off. */
  act(rule: PushRule, actions: unknown[]): void {
    rule.actions = actions;
    if (rule.default && !this.#switched.has(rule)) rule.enabled = true;
  }

  /** Removes a rule of the user. Returns whether it was there. */
  delete(kind: PushRuleKind, id: string): boolean {
    const at = this.#rules[kind].findIndex((rule) => rule.rule_id === id && !rule.default);
    if (at >= 0) this.#rules[kind].splice(at, 1);
    return at >= 0;
  }

  /** The rules as `GET /pushrules/global/` and the account data event give them. */
  toJson(): JsonObject {
    return { ...this.#rules, postcontent: [] }; // an experiment that Synapse lists, though it is off
  }
}
