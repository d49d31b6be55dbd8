/**
 * Joining a room that can't be joined yet.
 *
 * @module
 */

import { BadStateError, type Client, MatrixRequestError, type RequestOptions } from "../../../mod.ts";
import type { RoomID } from "../../../types.ts";
import { isPassing } from "../timers/jobs.ts";

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
  if (isPassing(error) && tried < AWAY) {
    const asked = error instanceof MatrixRequestError ? error.retryAfter : undefined;
    return Math.min(Math.max(asked ?? tried / 2, 5_000), LONGEST);
  }
  if (!(error instanceof MatrixRequestError) || error instanceof BadStateError) return undefined;
  const mayHearLate = (error.status === 403 || error.status === 404) && tried < HEARS_LATE;
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
