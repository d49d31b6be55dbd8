/**
 * Counting the votes of a poll.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3381 | MSC3381}
 * @module
 */

import type { EventID, UserID } from "../../../types.ts";
import {
  byTime,
  editedPoll,
  type Poll,
  type PollAnswer,
  type PollEvent,
  pollEventOf,
  pollOf,
  readPoll,
  readPollVote,
} from "./read_poll.ts";
import { ValueError } from "../../../mod.ts";
import { checkOptions } from "../../errors/known_names.ts";

/**
 * Options of {@link tallyPoll}.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface TallyPollOptions {
  /**
   * Who may end the poll beside its creator: those who may redact others' events in the room.
   * Default: nobody.
   */
  canRedact?: (user: UserID) => boolean;
}

/**
 * The votes for one answer.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export interface PollAnswerTally extends PollAnswer {
  /** How many votes it has. */
  readonly votes: number;
  /** The users who voted for the answer. */
  readonly voters: readonly UserID[];
}

/**
 * The result of a poll.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
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
  readonly canShow: boolean;
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
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
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
  checkOptions(options, { canRedact: true }, "count a poll");
  const { canRedact = () => false } = options;
  const events = [...related];
  const count = countOf(editedPoll(start, events));
  do {
    for (const each of events) count.add(each, pollEventOf(each.type) === "end" && canRedact(each.sender));
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

/** Sums a count up. */
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
    canShow: !poll.isUndisclosed || endedAt !== undefined,
  };
}

/** A vote, as much as counts of it. */
interface Vote {
  readonly event_id: EventID;
  readonly origin_server_ts: number;
  /** What was selected; undefined: nothing, or what is no answer. */
  readonly selected: readonly string[] | undefined;
  /** Whether the user has voted before, too. */
  readonly hasOlder: boolean;
}

/**
 * Counts votes in any order, from the newest on at best.
 *
 * Only those up to the end of the poll count, which may become known after later ones. A user whose kept
 * vote turns out to be too late may have sent one in time that was not kept: then all are to be added
 * again, now that the end is known.
 */
export class PollCount {
  /** What is asked. */
  readonly poll: Poll;
  readonly #start: Pick<PollEvent, "event_id" | "sender">;
  readonly #answers: ReadonlySet<string>;
  readonly #last = new Map<UserID, Vote>();
  #end: Pick<PollEvent, "event_id" | "origin_server_ts"> | undefined;
  #misses = false;

  /**
   * @param start The event with which the poll began.
   * @param poll What that says.
   */
  constructor(start: PollEvent, poll: Poll) {
    const { event_id, sender } = start;
    this.#start = { event_id, sender };
    this.poll = poll;
    this.#answers = new Set(poll.answers.map(({ id }) => id));
  }

  /** When the poll ended, as far as is known, in milliseconds since the epoch; undefined: it has not. */
  get endedAt(): number | undefined {
    return this.#end?.origin_server_ts;
  }

  /** The votes that count, from old to new. */
  get votes(): readonly (readonly [UserID, Pick<Vote, "selected">])[] {
    return [...this.#last].toSorted(([, one], [, other]) => byTime(one, other));
  }

  /**
   * Returns whether all are to be added once more. Asks for that once for each time that it is so.
   */
  takeMisses(): boolean {
    const misses = this.#misses;
    this.#misses = false;
    return misses;
  }

  /**
   * Adds an event; what is no vote or end of the poll is left out.
   *
   * @param mayEnd Whether its sender may end the poll, beside who has begun it.
   */
  add(event: PollEvent, mayEnd: boolean = false): void {
    if (pollOf(event.content) !== this.#start.event_id) return;
    const kind = pollEventOf(event.type);
    if (kind === "response") this.#vote(event);
    else if (kind === "end" && (mayEnd || event.sender === this.#start.sender)) this.#over(event);
  }

  #vote({ sender, event_id, origin_server_ts, content }: PollEvent): void {
    if (this.#isLate(origin_server_ts)) return;
    const known = this.#last.get(sender);
    if (known !== undefined && byTime(known, { event_id, origin_server_ts }) > 0) {
      this.#last.set(sender, { ...known, hasOlder: true });
      return;
    }
    const selected = [...new Set(readPollVote(content)?.selections?.slice(0, this.poll.maxSelections))];
    const isValid = selected.length > 0 && selected.every((id) => this.#answers.has(id));
    const hasOlder = known !== undefined && known.event_id !== event_id;
    const vote = { event_id, origin_server_ts, selected: isValid ? selected : undefined, hasOlder };
    this.#last.set(sender, vote);
  }

  #over({ event_id, origin_server_ts }: PollEvent): void {
    const end = { event_id, origin_server_ts };
    if (this.#end !== undefined && byTime(this.#end, end) <= 0) return;
    this.#end = end;
    for (const [user, vote] of this.#last) {
      if (!this.#isLate(vote.origin_server_ts)) continue;
      this.#last.delete(user);
      this.#misses ||= vote.hasOlder;
    }
  }

  #isLate(at: number): boolean {
    return this.#end !== undefined && at > this.#end.origin_server_ts;
  }
}
