/**
 * What a bot of the kit has done, as its functions saw it: over all processes of its device.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";

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

  /** Notes that an answer was taken. What comes again has to be the same. */
  take(of: string, answer: number, onProblem: (what: string) => void): void {
    const before = this.taken.getOrInsert(of, answer);
    if (before !== answer) onProblem(`"${of}" took the answer ${answer}, and ${before} before`);
    const use = this.uses.getOrInsert(answer, of);
    if (use !== of) onProblem(`the answer ${answer} was given to "${of}", and to "${use}" before`);
  }
}
