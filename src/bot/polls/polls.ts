/**
 * Polls: how a bot begins, counts and ends them, and their contents as clients send them today: with
 * the names that the proposal had before it was accepted, which all clients with polls know.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3381 | MSC3381}
 * @module
 */

import { type Client, encryptionOf, ValueError } from "../../../mod.ts";
import { type ClientEvent, type EventID, type RelatesTo, type RoomID, SyncStream } from "../../../types.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import type { Run } from "../run/mod.ts";
import { editedPoll, type PollAnswer, pollEventOf } from "./read_poll.ts";
import { countOf, type PollTally, tallyOf } from "./tally_poll.ts";

export { type Poll, type PollAnswer, type PollEvent, readPoll } from "./read_poll.ts";
export { type PollAnswerTally, type PollTally, tallyPoll, type TallyPollOptions } from "./tally_poll.ts";

/**
 * What {@linkcode BotRoom.sendPoll} takes beside the question and the answers.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type SendPollOptions = Omit<PollOptions, "question" | "answers">;

export const POLL: OptionNames<SendPollOptions> = { maxSelections: true, undisclosed: true };

const ENCRYPTED = "m.room.encrypted";
/** How many votes are asked for at once. */
const PAGE = 100;
/** How many edits of a poll are looked at, the newest first. */
const MAX_EDITS = 100;

/** Begins a poll. */
export async function sendPoll(
  client: Client,
  room: RoomID,
  { relatesTo, ...poll }: PollOptions & { readonly relatesTo?: RelatesTo },
  options: Run["sends"] = {},
): Promise<EventID> {
  const related = relatesTo === undefined ? {} : { "m.relates_to": relatesTo };
  const content = { ...pollStart(poll), ...related };
  return await client.sendMessageEvent(room, POLL_EVENTS.START, content, options);
}

/**
 * Counts the votes of a poll, as far as the server gives them and they can be decrypted. They are read page
 * by page, the newest first, and one of each user is kept. In an encrypted room nothing counts that came in
 * clear: the server, or who has a user's token, may have written it. Nor does what only a key of the backup
 * or of an inviter opens, who could have written it in another's name; the poll itself may be read so.
 *
 * @throws {ValueError} If it is no poll, or came in clear into an encrypted room.
 */
export async function countPoll(client: Client, room: RoomID, poll: EventID): Promise<PollTally> {
  const start = await client.getEvent(room, poll);
  const isEncrypted = start.type === ENCRYPTED || await client.isRoomEncrypted(room);
  if (isEncrypted && start.type !== ENCRYPTED) {
    throw new ValueError(
      `Cannot count the votes for event ${poll}: it came in clear, into an encrypted room`,
    );
  }
  const edits: ClientEvent[] = [];
  for await (const event of client.iterateRelations(room, poll, { relType: "m.replace", limit: PAGE })) {
    if (event.sender !== start.sender || event.type !== start.type) continue; // what is encrypted stays so
    edits.push(await eventInClear(client, event, "by its sender"));
    if (edits.length === MAX_EDITS) break;
  }
  const count = countOf(editedPoll(await eventInClear(client, start), edits));
  do {
    for await (const event of client.iterateRelations(room, poll, { relType: "m.reference", limit: PAGE })) {
      if (isEncrypted && event.type !== ENCRYPTED) continue;
      const clear = await eventInClear(client, event, "by its sender");
      const isEnd = pollEventOf(clear.type) === "end";
      count.add(clear, isEnd && await client.stateStore.hasPowerLevel(room, clear.sender, "redact"));
    }
  } while (count.takeMisses());
  return tallyOf(count);
}

/**
 * An event in plain text; as it is if it can't be decrypted, or not by a key that shows who has sent it where
 * that is asked for, so that it counts for nothing.
 */
export async function eventInClear(
  client: Client,
  event: ClientEvent,
  shown?: "by its sender",
): Promise<ClientEvent> {
  if (event.type !== ENCRYPTED || client.crypto === undefined) return event;
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  const decrypted = await client.crypto.decrypt({ ...event, source, state_key: undefined });
  if ("code" in decrypted) return event;
  const { keySource } = encryptionOf(decrypted.event) ?? {};
  if (shown !== undefined && (keySource === "backup" || keySource === "bundle")) return event;
  const { type, content } = decrypted.event;
  // The relation stands in clear, beside what is encrypted.
  return { ...event, type, content: { "m.relates_to": event.content["m.relates_to"], ...content } };
}

/** Ends a poll with what it came to. */
export async function endPoll(
  client: Client,
  room: RoomID,
  poll: EventID,
  options: Run["sends"] = {},
): Promise<PollTally> {
  const tally = await countPoll(client, room, poll);
  if (tally.endedAt === undefined) {
    await client.sendMessageEvent(room, POLL_EVENTS.END, { ...pollEnd(poll, tally) }, options);
  }
  return tally;
}

/**
 * The types of the events of a poll, by which they are sent.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export const POLL_EVENTS = {
  /** A poll begins. */
  START: "org.matrix.msc3381.poll.start",
  /** Somebody votes. */
  RESPONSE: "org.matrix.msc3381.poll.response",
  END: "org.matrix.msc3381.poll.end",
} as const;

/** The name of text in the events of polls. */
const TEXT = "org.matrix.msc1767.text";
/** More answers are cut off by clients. */
const MAX_ANSWERS = 20;

/**
 * What {@link pollStart} takes.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface PollOptions {
  /** The question that users answer. */
  question: string;
  /** From one to twenty answers; those without an ID get their number. */
  answers: readonly (string | PollAnswer)[];
  /** How many answers one may select. Default: 1. */
  maxSelections?: number;
  /**
   * Whether the votes are only shown when the poll has ended. The server sends them to everybody
   * all the same: only clients hide them. Default: `false`.
   */
  undisclosed?: boolean;
}

const OPTIONS: OptionNames<PollOptions> = {
  ...{ question: true, answers: true, maxSelections: true, undisclosed: true },
};

/**
 * Content of `org.matrix.msc3381.poll.start`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type PollStartContent = {
  "org.matrix.msc3381.poll.start": {
    /** Whether votes are shown while it runs. */
    kind: "org.matrix.msc3381.poll.disclosed" | "org.matrix.msc3381.poll.undisclosed";
    /** How many answers one may select. */
    max_selections: number;
    /** What is asked. */
    question: { "org.matrix.msc1767.text": string; body: string; msgtype: "m.text" };
    answers: { id: string; "org.matrix.msc1767.text": string }[];
  };
  /** The question and the answers, for clients without polls. */
  "org.matrix.msc1767.text": string;
};

/**
 * How the events of a poll refer to its beginning.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type PollRelation = {
  /** Always a reference. */
  rel_type: "m.reference";
  /** The beginning of the poll. */
  event_id: EventID;
};

/**
 * Content of `org.matrix.msc3381.poll.response`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type PollResponseContent = {
  "m.relates_to": PollRelation;
  /** The vote. */
  "org.matrix.msc3381.poll.response": { answers: string[] };
};

/**
 * Content of `org.matrix.msc3381.poll.end`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type PollEndContent = {
  "m.relates_to": PollRelation;
  "org.matrix.msc3381.poll.end": Record<string, never>;
  /** The result, for clients without polls. */
  "org.matrix.msc1767.text": string;
};

/**
 * Writes the beginning of a poll, to be sent as an event of the type `POLL_EVENTS.START`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 * @param options The question and the answers.
 * @returns The content, with question and answers as text for clients without polls.
 * @throws {ValueError} If there is no question, there are no answers, more than 20 or two with one
 *   ID, or more are to be selected than there are.
 * @example
 * ```ts
 * import { pollStart } from "@greenroom/matrix/bot";
 *
 * const content = pollStart({ question: "To be?", answers: ["Yes", "No"] });
 * console.assert(content["org.matrix.msc1767.text"] === "To be?\n1. Yes\n2. No");
 * ```
 */
export function pollStart(options: PollOptions): PollStartContent {
  checkOptions(options, OPTIONS, "start the poll");
  const { question, answers, maxSelections = 1, undisclosed = false } = options;
  const refuse = (why: string) => new ValueError(`Cannot start the poll: ${why}`);
  if (!Array.isArray(answers)) throw refuse('its answers must be a list, as ["Yes", "No"]');
  const all: readonly PollAnswer[] = answers.map((answer, at) =>
    typeof answer === "string" ? { id: `${at + 1}`, text: answer } : answer
  );
  if (question.trim() === "") throw refuse("there is no question");
  if (all.length === 0 || all.length > MAX_ANSWERS) {
    throw refuse(`there are ${all.length} answers; give from 1 to ${MAX_ANSWERS}`);
  }
  if (all.some(({ id, text }) => id === "" || text.trim() === "")) throw refuse("an answer says nothing");
  if (new Set(all.map(({ id }) => id)).size < all.length) throw refuse("two answers have the same ID");
  if (!Number.isInteger(maxSelections) || maxSelections < 1 || maxSelections > all.length) {
    throw refuse(`${maxSelections} answers can't be selected; give an integer from 1 to ${all.length}`);
  }
  return {
    [POLL_EVENTS.START]: {
      kind: undisclosed ? "org.matrix.msc3381.poll.undisclosed" : "org.matrix.msc3381.poll.disclosed",
      max_selections: maxSelections,
      question: { [TEXT]: question, body: question, msgtype: "m.text" },
      answers: all.map(({ id, text }) => ({ id, [TEXT]: text })),
    },
    [TEXT]: [question, ...all.map(({ text }, at) => `${at + 1}. ${text}`)].join("\n"),
  };
}

/**
 * Writes a vote, to be sent as an event of the type `POLL_EVENTS.RESPONSE`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 * @param pollId The event with which the poll began.
 * @param answers The IDs of the answers; none to take the vote back.
 */
export function pollResponse(pollId: EventID, answers: readonly string[]): PollResponseContent {
  return { "m.relates_to": relationTo(pollId), [POLL_EVENTS.RESPONSE]: { answers: [...answers] } };
}

/**
 * Writes the end of a poll, to be sent as an event of the type `POLL_EVENTS.END`.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 * @param pollId The event with which the poll began.
 * @param result The result: a tally, which is put in words, or words.
 */
export function pollEnd(pollId: EventID, result: PollTally | string): PollEndContent {
  const text = typeof result === "string" ? result : `The poll has ended. ${resultOf(result)}`;
  return { "m.relates_to": relationTo(pollId), [POLL_EVENTS.END]: {}, [TEXT]: text };
}

function relationTo(pollId: EventID): PollRelation {
  return { rel_type: "m.reference", event_id: pollId };
}

function resultOf({ winners }: PollTally): string {
  const [first, ...others] = winners;
  if (first === undefined) return "Nobody voted.";
  const votes = `${first.votes} ${first.votes === 1 ? "vote" : "votes"}`;
  if (others.length === 0) return `Top answer: ${first.text} (${votes})`;
  return `Top answers: ${winners.map(({ text }) => text).join(", ")} (${votes} each)`;
}
