/**
 * Logs in though the homeserver is away for a while, as a client syncs then.
 *
 * @module
 */

import { type Client, MatrixRequestError } from "../../../mod.ts";
import { isPassing } from "../timers/mod.ts";

/** How long to wait at first, and at most, in milliseconds. */
const FIRST = 5_000;
const LONGEST = 300_000;

/**
 * Does again what fails since the homeserver is away, for as long as it takes.
 *
 * @param work Logs in.
 * @param signal Ends it.
 * @throws What it throws that does not pass.
 */
export async function untilBack(
  work: () => Promise<void>,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  for (let wait = FIRST; !signal.aborted; wait = Math.min(2 * wait, LONGEST)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      const asked = error instanceof MatrixRequestError ? error.retryAfter : undefined;
      const delay = Math.max(wait, asked ?? 0);
      client.log.warn("The bot can't log in yet, and tries again", { error, delay });
      await client.api.clock.delay(delay, { signal }).catch(() => {});
    }
  }
}
