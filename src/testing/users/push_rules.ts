/**
 * The push rules of a user: the predefined ones and their own.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#predefined-rules | Predefined rules}
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";

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

  /** The rules that an event at a stream position met. */
  at(position: number): Readonly<Record<PushRuleKind, readonly PushRule[]>> {
    return this.#before.find(({ until }) => position < until)?.rules ?? this.#now;
  }

  /** Lets the rules as they are now hold for events from a stream position on. */
  save(position: number): void {
    this.#before.push({ rules: this.#now, until: position });
    this.#now = structuredClone(this.#rules);
  }

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

/** The kinds, in the order in which rules are tried. */
export const PUSH_RULE_KINDS = ["override", "content", "room", "sender", "underride"] as const;

/** One of {@link PUSH_RULE_KINDS}. */
export type PushRuleKind = typeof PUSH_RULE_KINDS[number];

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

const HIGHLIGHT = { set_tweak: "highlight" };
const NO_HIGHLIGHT = { set_tweak: "highlight", value: false };
const SOUND = { set_tweak: "sound", value: "default" };
const RING = { set_tweak: "sound", value: "ring" };

/** The rules that a user begins with. */
function defaultPushRules(userId: UserID): Record<PushRuleKind, PushRule[]> {
  const { rule_id, actions } = rule(".m.rule.contains_user_name", [], "notify", HIGHLIGHT, SOUND);
  const pattern = userId.slice(1, userId.indexOf(":"));
  return {
    override: [
      { ...rule(".m.rule.master", []), enabled: false },
      rule(".m.rule.suppress_notices", [matches("content.msgtype", "m.notice")]),
      rule(
        ".m.rule.invite_for_me",
        [isOf("m.room.member"), matches("content.membership", "invite"), matches("state_key", userId)],
        ...["notify", NO_HIGHLIGHT, SOUND],
      ),
      rule(".m.rule.member_event", [isOf("m.room.member")]),
      rule(
        ".m.rule.is_user_mention",
        [{ kind: "event_property_contains", key: "content.m\\.mentions.user_ids", value: userId }],
        ...["notify", HIGHLIGHT, SOUND],
      ),
      rule(".m.rule.contains_display_name", [{ kind: "contains_display_name" }], "notify", HIGHLIGHT, SOUND),
      rule(
        ".m.rule.is_room_mention",
        [{ kind: "event_property_is", key: "content.m\\.mentions.room", value: true }, MAY_NOTIFY],
        ...["notify", HIGHLIGHT],
      ),
      rule(".m.rule.roomnotif", [MAY_NOTIFY, matches("content.body", "@room")], "notify", HIGHLIGHT),
      rule(".m.rule.tombstone", [isOf("m.room.tombstone"), matches("state_key", "")], "notify", HIGHLIGHT),
      rule(".m.rule.reaction", [isOf("m.reaction")]),
      rule(".m.rule.room.server_acl", [isOf("m.room.server_acl"), matches("state_key", "")]),
      rule(".m.rule.suppress_edits", [
        { kind: "event_property_is", key: "content.m\\.relates_to.rel_type", value: "m.replace" },
      ]),
    ],
    content: [{ rule_id, default: true, enabled: true, pattern, actions }],
    room: [],
    sender: [],
    underride: [
      rule(".m.rule.call", [isOf("m.call.invite")], "notify", RING, NO_HIGHLIGHT),
      rule(
        ".m.rule.encrypted_room_one_to_one",
        [isOf("m.room.encrypted"), TWO_MEMBERS],
        ...["notify", SOUND, NO_HIGHLIGHT],
      ),
      rule(
        ".m.rule.room_one_to_one",
        [isOf("m.room.message"), TWO_MEMBERS],
        ...["notify", SOUND, NO_HIGHLIGHT],
      ),
      rule(".m.rule.message", [isOf("m.room.message")], "notify", NO_HIGHLIGHT),
      rule(".m.rule.encrypted", [isOf("m.room.encrypted")], "notify", NO_HIGHLIGHT),
      rule(
        ".im.vector.jitsi",
        [isOf("im.vector.modular.widgets"), matches("content.type", "jitsi"), matches("state_key", "*")],
        ...["notify", NO_HIGHLIGHT],
      ),
    ],
  };
}

const TWO_MEMBERS = { kind: "room_member_count", is: "2" };
const MAY_NOTIFY = { kind: "sender_notification_permission", key: "room" };

function matches(key: string, pattern: string): JsonObject {
  return { kind: "event_match", key, pattern };
}

const isOf = (type: string) => matches("type", type);

function rule(id: string, conditions: JsonObject[], ...actions: unknown[]): PushRule {
  return { rule_id: id, default: true, enabled: true, conditions, actions };
}
