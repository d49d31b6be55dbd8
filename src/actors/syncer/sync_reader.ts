/**
 * Reads the stream of sync responses, the next one ahead if that is wanted.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { PresenceState } from "../../types/enums.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncFilter } from "./sync_filter.ts";
import type { SyncRequests } from "./sync_requests.ts";

/** What a {@link SyncReader} asks with. */
export interface SyncReaderOptions {
  /** The way to the server. */
  readonly requests: Pick<SyncRequests, "sync">;
  /** What to sync. */
  readonly filter: Pick<SyncFilter, "use">;
  /** How long the server may wait for something new, in milliseconds. */
  readonly timeout: number;
  /** What to tell others of the user's presence. */
  readonly presence: () => PresenceState;
  /** Tells when something was asked. */
  readonly clock: Clock;
  /** Ends what is on its way. */
  readonly signal: AbortSignal;
}

/** A response, and when it was asked for. */
export interface Read {
  /** The response. */
  readonly response: SyncResponse;
  /** When, in milliseconds of the clock. */
  readonly asked: number;
}

/** Reads, and forgets all but the token: a loop holds what it has seen until it comes round, and that waits for the server. */
export async function tokenOf(
  read: () => Promise<Read>,
): Promise<{ readonly asked: number; readonly nextBatch: SyncToken }> {
  const { asked, response } = await read();
  return { asked, nextBatch: response.next_batch };
}

/** Reads one response after the other. */
export class SyncReader {
  readonly #options: SyncReaderOptions;
  #discard = new AbortController();
  #signal: AbortSignal;
  #ahead: Question | undefined;

  /** @param options What to ask with. */
  constructor(options: SyncReaderOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#discard.signal]);
  }

  /** Reads what is new since a token: the answer to the question that is on its way, if that is what it asks. */
  async read(since: SyncToken | undefined): Promise<Read> {
    if (this.#ahead !== undefined && this.#ahead.since !== since) this.discard();
    const { asked, response } = this.#ahead ?? this.#ask(since);
    this.#ahead = undefined;
    return { asked, response: await response };
  }

  /** Asks for what is new since a token already, so that it is there, or on its way, when it is to be read. */
  readAhead(since: SyncToken): void {
    this.#ahead = this.#ask(since);
    this.#ahead.response.catch(() => {}); // whoever reads it learns of it
  }

  /**
   * Resolves when what was asked has had the time to leave. `fetch` sends nothing before the event loop comes round: without a
   * pause the server has nothing to do as long as there is something to do here.
   */
  sent(): Promise<void> {
    // The first is called in the same round of the event loop.
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  #ask(since: SyncToken | undefined): Question {
    const { requests, filter, timeout, presence, clock } = this.#options;
    const signal = this.#signal;
    const asked = clock.now();
    const response = filter.use((filterId) =>
      requests.sync({ since, filterId, timeout, setPresence: presence(), useStateAfter: true, signal })
    );
    return { since, asked, response };
  }

  /** Takes back what is asked, since another response has to come again first. */
  discard(): void {
    this.#ahead = undefined;
    this.#discard.abort();
    this.#discard = new AbortController();
    this.#signal = AbortSignal.any([this.#options.signal, this.#discard.signal]);
  }
}

/** A question on its way. */
interface Question {
  readonly since: SyncToken | undefined;
  readonly asked: number;
  readonly response: Promise<SyncResponse>;
}
