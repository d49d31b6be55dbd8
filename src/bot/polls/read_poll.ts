/**
 * Reading the events of polls, with the names of the proposal and those of the specification.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3381 | MSC3381}
 * @module
 */

import type { EventID, UserID } from "../../../types.ts";
import { isObject, memberOf, textOf } from "../text/mod.ts";

/**
 * What users can choose.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface PollAnswer {
  /** The ID of the answer, as votes have it. */
  readonly id: string;
  /** The text of the answer. */
  readonly text: string;
}

/**
 * What a poll asks.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface Poll {
  /** What is asked, in plain text. */
  readonly question: string;
  /** The answers, at most 20. */
  readonly answers: readonly PollAnswer[];
  /** How many answers one may select. */
  readonly maxSelections: number;
  /** Whether the votes are only to be shown when the poll has ended. */
  readonly isUndisclosed: boolean;
}

interface PollVote {
  /** The event with which the poll began. */
  readonly pollId: EventID;
  /** The IDs of what was selected, as they were sent; undefined if there is no list of IDs. */
  readonly selections: readonly string[] | undefined;
}

const MAX_ANSWERS = 20;
const START = ["m.poll.start", "org.matrix.msc3381.poll.start"];
const RESPONSE = ["m.poll.response", "org.matrix.msc3381.poll.response"];
const END = ["m.poll.end", "org.matrix.msc3381.poll.end"];

/** Returns which event of a poll a type of event is; undefined if it is none. */
export function pollEventOf(type: string): "start" | "response" | "end" | undefined {
  if (START.includes(type)) return "start";
  if (RESPONSE.includes(type)) return "response";
  return END.includes(type) ? "end" : undefined;
}

/**
 * Reads the beginning of a poll.
 *
 * What is optional and not there, or not as it should be, is taken for its default: one selection,
 * and undisclosed.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 * @param content The content of the event, as it was received.
 * @returns The poll; undefined if there is no question, or no answer.
 * @example
 * ```ts
 * import { pollStart, readPoll } from "@greenroom/matrix/bot";
 *
 * const poll = readPoll(pollStart({ question: "To be?", answers: ["Yes", "No"] }));
 * console.assert(poll?.question === "To be?" && poll.answers[1]?.text === "No");
 * ```
 */
export function readPoll(content: unknown): Poll | undefined {
  const block = first(content, ["m.poll", "org.matrix.msc3381.poll.start", "m.poll.start"]);
  const question = textIn(memberOf(block, "question"));
  const given = memberOf(block, "answers");
  const answers = new Map<string, PollAnswer>();
  for (const each of (Array.isArray(given) ? given : []).slice(0, MAX_ANSWERS)) {
    const id = textOf(first(each, ["m.id", "id"]));
    const text = textIn(each);
    if (id !== undefined && text !== undefined && !answers.has(id)) answers.set(id, { id, text });
  }
  if (question === undefined || answers.size === 0) return undefined;
  const most = memberOf(block, "max_selections");
  const kind = memberOf(block, "kind");
  return {
    question,
    answers: [...answers.values()],
    maxSelections: Number.isInteger(most) ? Math.max(1, most as number) : 1,
    isUndisclosed: kind !== "m.disclosed" && kind !== "org.matrix.msc3381.poll.disclosed" &&
      kind !== "m.poll.disclosed",
  };
}

/**
 * Reads a vote.
 *
 * @param content The content of the event, as it was received.
 * @returns The vote; undefined if it is for no poll, as what is left of a redacted one.
 */
export function readPollVote(content: unknown): PollVote | undefined {
  const pollId = pollOf(content);
  if (pollId === undefined) return undefined;
  const block = first(content, ["org.matrix.msc3381.poll.response", "m.poll.response"]);
  const selections = memberOf(content, "m.selections") ?? memberOf(block, "answers");
  const isList = Array.isArray(selections) && selections.every((id) => typeof id === "string");
  return { pollId, selections: isList ? selections : undefined };
}

/** The poll that a vote or an end refers to; undefined if it refers to none. */
export function pollOf(content: unknown): EventID | undefined {
  const relation = memberOf(content, "m.relates_to");
  const id = memberOf(relation, "event_id");
  const isReference = memberOf(relation, "rel_type") === "m.reference";
  return isReference && typeof id === "string" && id.startsWith("$") ? id as EventID : undefined;
}

function first(value: unknown, names: readonly string[]): unknown {
  return names.map((name) => memberOf(value, name)).find((member) => member !== undefined);
}

/** The text in a block: as a list of its forms, as plain text, or as the body of a message. */
function textIn(block: unknown): string | undefined {
  const forms = memberOf(block, "m.text") ?? memberOf(block, "org.matrix.msc1767.message");
  if (Array.isArray(forms)) {
    const plain = forms.slice(0, MAX_ANSWERS).find((form) => {
      const type = memberOf(form, "mimetype");
      return isObject(form) && (type === undefined || type === "text/plain");
    });
    const text = textOf(memberOf(plain, "body"));
    if (text !== undefined) return text;
  }
  return textOf(forms) ?? textOf(memberOf(block, "org.matrix.msc1767.text")) ??
    textOf(memberOf(block, "body"));
}

/**
 * A poll as it reads after its edits: the latest counts that its creator has made and that is a poll.
 *
 * @param start The event with which the poll began.
 * @param related Edits of it, decrypted, in any order; what is none is left out.
 */
export function editedPoll(start: PollEvent, related: Iterable<PollEvent>): PollEvent {
  let latest: PollEvent | undefined;
  for (const event of related) {
    const relation = memberOf(event.content, "m.relates_to");
    const isEdit = memberOf(relation, "rel_type") === "m.replace" &&
      memberOf(relation, "event_id") === start.event_id &&
      event.sender === start.sender && pollEventOf(event.type) === "start" &&
      readPoll(memberOf(event.content, "m.new_content")) !== undefined;
    if (isEdit && (latest === undefined || byTime(event, latest) > 0)) latest = event;
  }
  const content = memberOf(latest?.content, "m.new_content");
  return content === undefined ? start : { ...start, content: content as object };
}

/** From old to new; of those at one time, the order is the same for everybody. */
export function byTime(
  one: Pick<PollEvent, "event_id" | "origin_server_ts">,
  other: Pick<PollEvent, "event_id" | "origin_server_ts">,
): number {
  if (one.origin_server_ts !== other.origin_server_ts) return one.origin_server_ts - other.origin_server_ts;
  return one.event_id < other.event_id ? -1 : Number(one.event_id > other.event_id);
}

/**
 * As much of an event as is needed for counting.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface PollEvent {
  /** Distinguishes starts, responses and ends. */
  readonly type: string;
  /** What responses and ends refer to. */
  readonly event_id: EventID;
  /** The user ID of the event's sender. */
  readonly sender: UserID;
  /** When, in milliseconds since the epoch. */
  readonly origin_server_ts: number;
  /** The content of the event, decrypted. */
  readonly content: object;
}
