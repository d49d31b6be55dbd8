/**
 * Joining a room that can't be joined yet.
 *
 * @module
 */

import { type Client, MatrixRequestError, type RequestOptions } from "../../../mod.ts";
import { BadStateError } from "../../../errors.ts";
import type { RoomID } from "../../../types.ts";
import { isPassing } from "../timers/mod.ts";

/**
 * How long a refusal may come from a server that has not heard yet of the invitation, or of the room: over
 * federation it takes seconds, at times minutes.
 */
const HEARS_LATE = 300_000;
/** How long it is tried while the homeserver is away, or has too much to do, in milliseconds. */
const AWAY = 30 * 86_400_000;
/** The longest time between two tries, in milliseconds. */
const LONGEST = 3_600_000;

/**
 * When to try again to join a room.
 *
 * @param error Why it failed.
 * @param tried For how long it has been tried, in milliseconds.
 * @returns After how long, in milliseconds; undefined: it is refused for good.
 */
export function nextJoin(error: unknown, tried: number): number | undefined {
  const refused = error instanceof MatrixRequestError ? error : undefined;
  if (isPassing(error) && tried < AWAY) {
    return Math.min(Math.max(refused?.retryAfter ?? tried / 2, 5_000), LONGEST);
  }
  const mayHearLate = (refused?.status === 403 || refused?.status === 404) &&
    !(refused instanceof BadStateError) && tried < HEARS_LATE;
  return mayHearLate ? Math.max(1_000, tried / 2) : undefined;
}

/** Joins a room, also where its server hears of that late. */
export async function joinLate(
  client: Pick<Client, "joinRoom" | "api">,
  room: RoomID,
  options: RequestOptions & { readonly servers?: readonly string[] },
): Promise<void> {
  const { clock } = client.api;
  const began = clock.now();
  for (;;) {
    try {
      await client.joinRoom(room, options);
      return;
    } catch (error) {
      // What passes was waited for already.
      const wait = isPassing(error) ? undefined : nextJoin(error, clock.now() - began);
      if (wait === undefined) throw error;
      await clock.delay(wait, { signal: options.signal });
    }
  }
}

/** How many go on at a time: a join over federation may take minutes, as its server likes. */
const AT_ONCE = 50;
/** How many of them for one inviter, so that nobody's slow server has the others wait. */
const OF_ONE = 2;

/** A join that waits. */
interface Waiting {
  readonly inviter: string;
  readonly begin: () => void;
}

/** Has joins wait for each other: those of one inviter begin in their order. */
export class JoinQueue {
  readonly #waiting: Waiting[] = [];
  /** The inviters of those that go on. */
  readonly #running: string[] = [];

  /** Joins, when it is its turn. */
  async run<Result>(inviter: string, join: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ inviter, begin });
      this.#next();
    });
    try {
      return await join();
    } finally {
      this.#running.splice(this.#running.indexOf(inviter), 1);
      this.#next();
    }
  }

  #next(): void {
    for (let at = 0; at < this.#waiting.length && this.#running.length < AT_ONCE;) {
      const { inviter, begin } = this.#waiting[at] as Waiting; // there is one
      if (this.#running.filter((each) => each === inviter).length >= OF_ONE) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      this.#running.push(inviter);
      begin();
    }
  }
}
