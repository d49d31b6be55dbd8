/**
 * Which push rule an event matches, and so whether it notifies a user. Clients and the homeserver for tests
 * decide by the same code. Globs, of access lists too, are not made into regular expressions, whose time has
 * no bound where a glob has several stars.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
 * @module
 */

import type { PushAction, PushCondition, PushRule, PushRuleset } from "./content/account_data_content.ts";
import type { PushRuleKind } from "./enums.ts";
import type { MatrixEvent } from "./events/event.ts";
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
   * Finds out whether an event notifies the user, by the user's push rules. They are read from the server at
   * the first call, and kept up to date while the client syncs; what can't be a rule is left out. Who is in
   * the room is read as well, once, if the client does not know all members.
   *
   * @param event An event of a room that the user is in, as handlers get it: decrypted.
   * @returns Whether it notifies, and how. Own events and redacted ones notify nobody.
   * @throws {ValueError} If the event is none of a room.
   * @throws {MatrixRequestError} If the homeserver refuses to say the rules, or who is in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules | Push rules}
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
  /** Returns whether the sender has the power to notify everybody in a way, like `room`. */
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
 * Finds the first rule that an event matches. Own events and redacted ones
 * notify nobody: callers leave them out.
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

/** Longer globs match nothing: the time that one takes grows with its length times that of the text. */
const MAX_GLOB = 255;

/**
 * Returns whether a text matches a glob, in which `*` stands for any characters and `?` for one; letters of
 * both cases are the same.
 *
 * @param pattern The glob.
 * @param value The text; what is no text matches nothing.
 * @param options How to look.
 * @param options.words Whether it is enough that whole words within the text match.
 */
export function matchesGlob(pattern: string, value: unknown, { words = false } = {}): boolean {
  if (typeof value !== "string" || pattern.length > MAX_GLOB) return false;
  const text = value.toLowerCase();
  const [head = "", ...rest] = pattern.toLowerCase().split("*");
  const tail = rest.pop();
  const begins = (at: number) => words ? isEdge(text, at - 1) : at === 0;
  const ends = (at: number) => words ? isEdge(text, at) : at === text.length;
  if (tail === undefined) {
    return find(head, text, 0, (at) => begins(at) && ends(at + head.length)) !== undefined;
  }
  let from = find(head, text, 0, begins); // the first is best: it leaves the most for the others
  for (const part of rest) from = from === undefined ? undefined : find(part, text, from, () => true);
  return from !== undefined && find(tail, text, from, (at) => ends(at + tail.length)) !== undefined;
}

/** Finds the first end of a part of a glob, at a place that fits; undefined: nowhere. */
function find(part: string, text: string, from: number, fits: (at: number) => boolean): number | undefined {
  const isPlain = !part.includes("?");
  for (let at = from; at + part.length <= text.length; at++) {
    if (isPlain) {
      at = text.indexOf(part, at);
      if (at < 0) return undefined;
    }
    if (fits(at) && (isPlain || isAt(part, text, at))) return at + part.length;
  }
  return undefined;
}

function isAt(part: string, text: string, at: number): boolean {
  for (let index = 0; index < part.length; index++) {
    if (part[index] !== "?" && part[index] !== text[at + index]) return false;
  }
  return true;
}

/** Returns whether there is no part of a word: another character, or an end of the text. */
function isEdge(text: string, at: number): boolean {
  return !/^[a-z0-9_]/.test(text.charAt(at));
}
