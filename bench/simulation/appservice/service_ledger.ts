/**
 * What an application service has done, by what its processes say of it.
 *
 * @module
 */

import type { EventID, UserID } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";

/** An answer. */
export interface Answer {
  /** What the counter of the room was. */
  readonly count: number;
  /** The number of the message that it is about. */
  readonly number: number;
}

/** What it has done. */
export class ServiceLedger {
  /** By number of a message, when it was handed to a handler first. */
  readonly handedAt = new Map<number, number>();
  /**
   * By number of a message, when its transaction was committed as what the
   * own user knows, with all before it.
   */
  readonly toldBy = new Map<number, number>();
  /** When the own user was last told something, and had that committed. */
  #toldAt = -Infinity;
  /** The answers that are known to have arrived. */
  readonly answers = new Map<EventID, Answer>();
  /** What could not be read when it came. */
  readonly late = new Set<EventID>();
  /** The numbers of messages whose handlers have failed, since something could not be asked for. */
  readonly failed = new Set<number>();
  /** The numbers of those of which it is not known yet whether they have settled, by their process. */
  readonly #failing = new Map<string, Set<number>>();
  /** By user, when the homeserver last deleted its device, and with it what it had sent. */
  readonly deletedAt = new Map<UserID, number>();
  /** By user, since when its device has its keys on the homeserver. */
  readonly publishedAt = new Map<UserID, number>();
  /** By user, since when its device is signed there; it is missing if the device was deleted since. */
  readonly signedAt = new Map<UserID, number>();
  /** By user, the master key of its identity. */
  readonly masters = new Map<UserID, string>();
  /** Devices of others that the homeserver has shown it otherwise than they are, or hidden. */
  readonly hidden = new Set<Device>();
  #last: string | undefined;

  /** Notes that a process has a message; whether one had it before. */
  handed(number: number, now: number): boolean {
    const isRepeated = this.handedAt.has(number);
    this.handedAt.getOrInsert(number, now);
    this.toldBy.getOrInsert(number, this.#toldAt);
    return isRepeated;
  }

  /** Notes that a handler of a process has failed. */
  fails(process: string, number: number): void {
    this.#failing.getOrInsertComputed(process, () => new Set()).add(number);
  }

  /** Notes that what the handlers of a process have done so far is stored: those that failed have settled. */
  settled(process: string): void {
    for (const number of this.#failing.get(process) ?? []) this.failed.add(number);
    this.#failing.delete(process);
  }

  /** Notes which process goes on with the inbox, and says whether another had it before. */
  goesOn(process: string, now: number): string {
    this.#toldAt = now;
    const before = this.#last;
    this.#last = process;
    if (before === undefined) return "begins";
    return before === process ? "goes on" : "goes on where another process was";
  }
}
