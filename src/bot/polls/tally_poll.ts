/**
 * Counting the votes of a poll.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3381 | MSC3381}
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { editedPoll } from "./poll_edits.ts";
import { PollCount, type PollEvent } from "./poll_count.ts";
import { type Poll, type PollAnswer, pollEventOf, readPoll } from "./read_poll.ts";

/** Options of {@link tallyPoll}. */
export interface TallyPollOptions {
  /**
   * Who may end the poll beside its creator: those who may redact others' events in the room.
   * Default: nobody.
   */
  mayRedact?: (user: UserID) => boolean;
}

/** The votes for one answer. */
export interface PollAnswerTally extends PollAnswer {
  /** How many votes it has. */
  readonly votes: number;
  /** Who selected it. */
  readonly voters: readonly UserID[];
}

/** The result of a poll. */
export interface PollTally {
  /** What was asked, with its latest edit. */
  readonly poll: Poll;
  /** The answers, in the order of the poll. */
  readonly answers: readonly PollAnswerTally[];
  /** The answers that have most votes; none if there is no vote. */
  readonly winners: readonly PollAnswerTally[];
  /** How many users voted for an answer. */
  readonly voters: number;
  /** Users whose last vote counts for nothing: it was taken back, or names what is no answer. */
  readonly spoiled: readonly UserID[];
  /** When the poll ended, in milliseconds since the epoch. Default: it has not. */
  readonly endedAt?: number;
  /** Whether the result may be shown: the poll is disclosed, or has ended. */
  readonly mayShow: boolean;
}

/**
 * Counts the votes of a poll.
 *
 * The last vote of each user counts, by the clocks of their servers, and none that was sent after
 * the end. Of too many selections the first ones count; one that is no answer spoils the vote. The
 * first end counts that was sent by the creator, or by somebody who may redact. Of a poll that its
 * creator has edited the latest answers count. What is no vote, edit or end of this poll is left out,
 * redacted votes too, so all that refers to the poll can be given, in any order. What came in clear into an
 * encrypted room is not to be given: the homeserver can write it. `c.getPollResults()` leaves it out.
 *
 * @param start The event with which the poll began.
 * @param related Votes, edits and ends, decrypted, as `client.iterateRelations()` gives them.
 * @param options Who may end it.
 * @throws {ValueError} If the first event is no poll.
 * @example
 * ```ts
 * import { POLL_EVENTS, type PollEvent, pollResponse, pollStart, tallyPoll } from "@greenroom/matrix/bot";
 *
 * const start: PollEvent = {
 *   type: POLL_EVENTS.START,
 *   event_id: "$poll",
 *   sender: "@alice:example.org",
 *   origin_server_ts: 1,
 *   content: pollStart({ question: "To be?", answers: ["Yes", "No"] }),
 * };
 * const vote: PollEvent = {
 *   ...start,
 *   type: POLL_EVENTS.RESPONSE,
 *   event_id: "$vote",
 *   content: pollResponse("$poll", ["2"]),
 * };
 * console.assert(tallyPoll(start, [vote]).winners[0]?.text === "No");
 * ```
 */
export function tallyPoll(
  start: PollEvent,
  related: Iterable<PollEvent>,
  options: TallyPollOptions = {},
): PollTally {
  checkOptions(options, { mayRedact: true }, "count a poll");
  const { mayRedact = () => false } = options;
  const events = [...related];
  const count = countOf(editedPoll(start, events));
  do {
    for (const each of events) count.add(each, pollEventOf(each.type) === "end" && mayRedact(each.sender));
  } while (count.takeMisses());
  return tallyOf(count);
}

/**
 * A count without votes.
 *
 * @param start The event with which the poll began.
 * @throws {ValueError} If it is no poll.
 */
export function countOf(start: PollEvent): PollCount {
  const poll = pollEventOf(start.type) === "start" ? readPoll(start.content) : undefined;
  if (poll === undefined) {
    throw new ValueError(`Cannot count the votes for event ${start.event_id}: it is no poll`);
  }
  return new PollCount(start, poll);
}

/** What a count has come to. */
export function tallyOf({ poll, votes, endedAt }: PollCount): PollTally {
  const votersOf = new Map(poll.answers.map(({ id }) => [id, [] as UserID[]]));
  const spoiled: UserID[] = [];
  for (const [user, { selected }] of votes) {
    if (selected === undefined) spoiled.push(user);
    for (const id of selected ?? []) votersOf.get(id)?.push(user);
  }
  const answers = poll.answers.map((answer) => {
    const voters = votersOf.get(answer.id) ?? [];
    return { ...answer, votes: voters.length, voters };
  });
  const most = Math.max(...answers.map(({ votes }) => votes));
  return {
    poll,
    answers,
    winners: answers.filter(({ votes }) => votes > 0 && votes === most),
    voters: votes.length - spoiled.length,
    spoiled,
    ...(endedAt !== undefined && { endedAt }),
    mayShow: !poll.undisclosed || endedAt !== undefined,
  };
}
