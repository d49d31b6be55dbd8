/**
 * A count of votes that keeps one vote of each user, however many there are.
 *
 * @module
 */

import type { EventID, UserID } from "../../../types.ts";
import { type Poll, pollEventOf, pollOf, readPollVote } from "./read_poll.ts";

/** As much of an event as is needed for counting. */
export interface PollEvent {
  /** Distinguishes starts, responses and ends. */
  readonly type: string;
  /** What responses and ends refer to. */
  readonly event_id: EventID;
  /** Who sent it. */
  readonly sender: UserID;
  /** When, in milliseconds since the epoch. */
  readonly origin_server_ts: number;
  /** What it says, decrypted. */
  readonly content: object;
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
   * Whether all are to be added once more. Asks for that once for each time that it is so.
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

/** From old to new; of those at one time, the order is the same for everybody. */
function byTime(
  one: Pick<PollEvent, "event_id" | "origin_server_ts">,
  other: Pick<PollEvent, "event_id" | "origin_server_ts">,
): number {
  if (one.origin_server_ts !== other.origin_server_ts) return one.origin_server_ts - other.origin_server_ts;
  return one.event_id < other.event_id ? -1 : Number(one.event_id > other.event_id);
}
