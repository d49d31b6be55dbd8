/**
 * Which push rule an event matches, and so whether it notifies a user. Clients and the homeserver for tests decide
 * by the same code.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
 * @module
 */

import type { PushAction, PushCondition, PushRule, PushRuleset } from "./content/account_data_content.ts";
import type { PushRuleKind } from "./enums.ts";
import type { MatrixEvent } from "./events/event.ts";
import { matchesGlob } from "./globs.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** What an event does: whether it notifies the user, and how. */
export interface PushResult {
  /** Whether the user is notified; the event counts as unread. */
  readonly isNotified: boolean;
  /** Whether it is for this user in particular, such as a mention. */
  readonly isHighlighted: boolean;
  /** The name of the sound to play, mostly `default`; undefined: none. */
  readonly sound: string | undefined;
  /** The rule that the event matches; undefined: it matches none. */
  readonly rule: PushRule | undefined;
}

/** Evaluates the push rules of the client's user. */
export interface PushRuleEvaluation {
  /**
   * Finds out whether an event notifies the user, by the user's push rules. They are read from the server at the
   * first call, and kept up to date while the client syncs; what can't be a rule is left out. Who is in the room is
   * read as well, once, if the client does not know all members.
   *
   * @param event An event of a room that the user is in, as handlers get it: decrypted.
   * @returns Whether it notifies, and how. Own events and redacted ones notify nobody.
   * @throws {ValueError} If the event is none of a room.
   * @throws {MatrixRequestError} If the homeserver refuses to say the rules, or who is in the room.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#push-rules | Push rules}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function notifyOn(client: Client): void {
   *   client.on("m.room.message", async (event) => {
   *     const { isNotified, isHighlighted } = await client.pushRules.evaluate(event);
   *     if (isNotified) console.log(isHighlighted ? "For you:" : "New:", event.content.body);
   *   });
   * }
   * ```
   */
  evaluate(event: MatrixEvent): Promise<PushResult>;
}

/** What push rules look at of an event. */
export interface PushedEvent {
  readonly type: string;
  readonly sender: string;
  readonly room_id: string;
  readonly state_key?: string;
  readonly content: object;
}

/** What push rules ask beside the event, for one user. */
export interface PushFacts {
  /** The user's display name in the room; undefined: none. */
  readonly displayName: string | undefined;
  /** How many users have joined the room. */
  readonly memberCount: number;
  /** Whether the sender has the power to notify everybody in a way, like `room`. */
  mayNotify(way: string): boolean;
}

const COUNT = "room_member_count";
/** The kinds of rules, in the order in which they are tried. */
const KINDS: readonly PushRuleKind[] = ["override", "content", "room", "sender", "underride"];
/** What an event does that matches no rule. */
export const NO_PUSH: PushResult = {
  isNotified: false,
  isHighlighted: false,
  sound: undefined,
  rule: undefined,
};

/**
 * Finds the first rule that an event matches. Own events and redacted ones notify nobody: callers leave them out.
 *
 * @param rules The user's rules, each kind in order of priority.
 * @param event The event, decrypted.
 * @param facts What is asked beside it.
 * @returns What the rule does.
 */
export function evaluatePushRules(rules: PushRuleset, event: PushedEvent, facts: PushFacts): PushResult {
  for (const kind of KINDS) {
    const rule = rules[kind]?.find((each) => each.enabled && ruleMatches(kind, each, event, facts));
    if (rule !== undefined) return resultOf(rule);
  }
  return NO_PUSH;
}

function resultOf(rule: PushRule): PushResult {
  if (!rule.actions.includes("notify")) return { ...NO_PUSH, rule };
  const sound = tweak(rule.actions, "sound");
  return {
    isNotified: true,
    isHighlighted: (tweak(rule.actions, "highlight") ?? false) !== false,
    sound: typeof sound === "string" ? sound : undefined,
    rule,
  };
}

/** The value of a tweak, which is true if it names none; undefined: there is no such tweak. */
function tweak(actions: readonly PushAction[], name: string): unknown {
  const action = actions.find((each) => isJsonObject(each) && each.set_tweak === name);
  return isJsonObject(action) ? action.value ?? true : undefined;
}

function ruleMatches(kind: PushRuleKind, rule: PushRule, event: PushedEvent, facts: PushFacts): boolean {
  switch (kind) {
    case "content":
      return rule.pattern !== undefined && matchesGlob(rule.pattern, bodyOf(event), { words: true });
    case "room":
      return rule.rule_id === event.room_id;
    case "sender":
      return rule.rule_id === event.sender;
    default:
      // What has to be counted is looked at last.
      return (rule.conditions ?? []).every((each) => each.kind === COUNT || holds(each, event, facts)) &&
        (rule.conditions ?? []).every((each) => each.kind !== COUNT || holds(each, event, facts));
  }
}

function holds(condition: PushCondition, event: PushedEvent, facts: PushFacts): boolean {
  const { kind, key = "", pattern = "", is = "", value } = condition;
  switch (kind) {
    case "event_match":
      return matchesGlob(pattern, propertyOf(event, key), { words: key === "content.body" });
    case "event_property_is":
      return value !== undefined && propertyOf(event, key) === value;
    case "event_property_contains": {
      const list = propertyOf(event, key);
      return Array.isArray(list) && list.includes(value);
    }
    case "contains_display_name": {
      const { displayName = "" } = facts;
      return displayName !== "" &&
        matchesGlob(displayName.replaceAll("*", "?"), bodyOf(event), { words: true });
    }
    case COUNT:
      return isCount(is, facts.memberCount);
    case "sender_notification_permission":
      return facts.mayNotify(key);
    default:
      return false; // also what a later version of the specification has added
  }
}

function bodyOf({ content }: PushedEvent): unknown {
  return (content as JsonObject).body;
}

/** The property behind a dotted path, in which a backslash escapes a dot and a backslash. */
function propertyOf(event: PushedEvent, path: string): unknown {
  let value: unknown = event;
  for (const part of path.match(/(?:\\.|[^.\\])+/g) ?? []) {
    const name = part.replaceAll(/\\(.)/g, "$1");
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function isCount(condition: string, count: number): boolean {
  const [, operator = "==", number] = /^(==|<=|>=|<|>)?(\d+)$/.exec(condition) ?? [];
  if (number === undefined) return false;
  const limit = Number(number);
  if (operator === "==") return count === limit;
  return operator.endsWith("=") && count === limit ||
    (operator.startsWith("<") ? count < limit : count > limit);
}
