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

/** A change of a session from outside of handlers. */
export interface OutsideChange {
  readonly room: RoomID;
  /** What it has added. */
  readonly entry: string;
  /** Whether the bot has said that it is made. */
  isMade: boolean;
}

/** The ledger of a device. */
export class KitLedger {
  /** By command and question, the number of the answer that was taken. */
  readonly taken = new Map<string, number>();
  /** By number of the answer, what it was taken for. */
  readonly uses = new Map<number, string>();
  readonly untaken: Untaken[] = [];
  readonly untakenReactions: UntakenReaction[] = [];
  /** By command, how its conversation ended without an answer, and when. */
  readonly ended = new Map<number, { readonly reason: string; readonly at: number }>();
  /** By what failed with another reason than that the client ended, why. */
  readonly failed = new Map<string, string>();
  readonly outside: OutsideChange[] = [];
  /** Where the bot says what comes again and again. */
  room: RoomID | undefined;
  /** When the schedule was due, each time that it was called. */
  readonly ticks: number[] = [];
  /** Whether its clock has ever been wrong. */
  isSkewed = false;
  /** The commands of conversations in which another answer was taken in place of one that can't come again. */
  readonly resumed = new Set<number>();
  /** Names of the deliveries that were committed as handled. */
  readonly settled = new Set<string>();

  /** Whether it was committed that the bot has handled an event: other handlers have nothing to do with it. */
  hasSettled(eventId: EventID): boolean {
    return this.settled.values().some((name) => name.startsWith(`${eventId}-`) && name.endsWith(":bot"));
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
