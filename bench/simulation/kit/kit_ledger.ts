/**
 * What a bot of the kit has done, as its functions saw it: over all processes of its device.
 *
 * @module
 */

import type { EventID, RoomID } from "@greenroom/matrix/types";

/** An answer that no conversation took. */
export interface Untaken {
  /** The number of the command that the conversation began with. */
  readonly command: number;
  /** Which of its questions was answered. */
  readonly question: string;
  /** The number of the answer. */
  readonly answer: number;
  /** When the bot looked at it. */
  readonly at: number;
}

/** A reaction that no conversation took. */
export interface UntakenReaction {
  /** What somebody reacted to. */
  readonly to: string;
  readonly key: string;
  readonly sender: string;
  /** When the bot looked at it. */
  readonly at: number;
}

/** The end of a conversation without an answer. */
export interface ConversationEnd {
  readonly reason: string;
  readonly at: number;
  /** Since when the process had asked what is new. */
  readonly since: number;
  /** Whether the process had not been told yet what was said before it, and should have waited for that. */
  readonly isDeaf: boolean;
}

/** A change of a session from outside of handlers. */
export interface OutsideChange {
  readonly room: RoomID;
  /** What it has added. */
  readonly entry: string;
  /** Whether the bot has said that it is made. */
  isMade: boolean;
}

/** A value that was set in `bot.store` from outside of handlers, by a key of its own. */
export interface OutsideValue {
  readonly key: readonly [string, number];
  /** Whether the bot has said that it is set. */
  isSet: boolean;
  /** Whether it is to be deleted. */
  isGoing: boolean;
  /** Whether the bot has said that it is deleted. */
  isGone: boolean;
}

/** The ledger of a device. */
export class KitLedger {
  /** By command and question, the number of the answer that was taken. */
  readonly taken = new Map<string, number>();
  /** By number of the answer, what it was taken for. */
  readonly uses = new Map<number, string>();
  readonly untaken: Untaken[] = [];
  readonly untakenReactions: UntakenReaction[] = [];
  /** By command, how its conversation ended without an answer. */
  readonly ended = new Map<number, ConversationEnd>();
  /** By what failed with another reason than that the client ended, why. */
  readonly failed = new Map<string, string>();
  readonly outside: OutsideChange[] = [];
  readonly outsideValues: OutsideValue[] = [];
  /** Where the bot says what comes again and again. */
  room: RoomID | undefined;
  /** When the schedule was due, each time that it was called. */
  readonly ticks: number[] = [];
  /** Whether its clock has ever been wrong. */
  isSkewed = false;
  /**
   * The commands of conversations in which another answer was taken in place of one that can't come again.
   */
  readonly resumed = new Set<number>();
  /** By name of the deliveries that were committed as handled, when. */
  readonly settled = new Map<string, number>();
  /** By text, when the bot was last about to send it. */
  readonly putAt = new Map<string, number>();
  /** By command and question, since when the process had asked what is new that took the answer. */
  readonly takenSince = new Map<string, number>();

  /**
   * Whether it was committed that the bot has handled an event: other handlers have nothing to do with it.
   */
  hasSettled(eventId: EventID): boolean {
    return this.settledAt(eventId) !== undefined;
  }

  /** When that was committed; undefined: it was not. */
  settledAt(eventId: EventID): number | undefined {
    return this.settled.entries().find(([name]) => name.startsWith(`${eventId}-`) && name.endsWith(":bot"))
      ?.[1];
  }

  /** Whether a text may be there twice: it was said because of an answer, and again because of the next. */
  mayRepeat(text: string): boolean {
    return this.resumed.has(Number(/ of (\d+)/.exec(text)?.[1]));
  }

  /**
   * Notes that an answer was taken. What comes again has to be the same.
   *
   * @param isGone Whether an answer that was taken before can't come again.
   */
  take(
    of: string,
    answer: number,
    { isGone, onProblem }: {
      readonly isGone: (answer: number) => boolean;
      readonly onProblem: (what: string) => void;
    },
  ): void {
    const before = this.taken.getOrInsert(of, answer);
    if (before !== answer && isGone(before)) {
      this.taken.set(of, answer);
      this.resumed.add(Number(of.split(" ").at(-1)));
    } else if (before !== answer) onProblem(`"${of}" took the answer ${answer}, and ${before} before`);
    const use = this.uses.getOrInsert(answer, of);
    if (use !== of) onProblem(`the answer ${answer} was given to "${of}", and to "${use}" before`);
  }
}
