/**
 * Where a gap starts, on servers that read on beyond that.
 *
 * @module
 */

import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { type ShownEvents, wasShown } from "../store/mod.ts";
import type { TimelineEvent } from "./sync_parts.ts";

/** A page of what stands before a gap, from new to old. */
export interface OlderPage {
  readonly events: readonly TimelineEvent[];
  /** Whether there are no more. */
  readonly isLast: boolean;
}

/** What a {@link GapStart} works with. */
export interface GapStartOptions {
  /** The latest events that were shown before the gap. */
  readonly shown: ShownEvents;
  /** Whether the server may have read on without having come to an event that is remembered. */
  readonly isDoubtful: boolean;
  /** Reads the next page of what stands before the gap. */
  readonly readOlder: () => Promise<OlderPage>;
}

/** Events of a page that belong to the gap. */
export interface Sifted {
  /** The events, from new to old. */
  readonly events: readonly TimelineEvent[];
  /** Whether the page lies before the gap. */
  readonly isBefore: boolean;
}

/** How many pages in a row may have nothing. */
const PATIENCE = 10;

/**
 * Tells what belongs to a gap from what stands before it.
 *
 * An event that was shown proves only itself: it may stand among new ones. It also is what comes first where
 * the server reads on beyond the gap, and then there are events behind it that were shown too long ago to be
 * remembered, or never. So from there on each page is compared with what the server gives from the token on at
 * which the gap starts.
 */
export class GapStart {
  readonly #options: GapStartOptions;
  /** The events before the gap, as far as they have been read. */
  readonly #older = new Set<string>();
  #isAllRead = false;
  /** How many events the server has given since it may have read on; undefined: it has not. */
  #doubtful: number | undefined;

  /** @param options What it works with. */
  constructor(options: GapStartOptions) {
    this.#options = options;
    if (options.isDoubtful) this.#doubtful = 0;
  }

  /**
   * Takes the events of a page that belong to the gap.
   *
   * @param page The events, from new to old: pages come in order.
   * @throws {ServiceResponseError} If the server does not show what stands before the gap.
   */
  async sift(page: readonly TimelineEvent[]): Promise<Sifted> {
    const { shown } = this.#options;
    const isNew = (event: TimelineEvent): boolean => !wasShown(shown, event);
    const first = page.findIndex((event) => !isNew(event));
    if (this.#doubtful === undefined && first < 0) return { events: page, isBefore: false };
    this.#doubtful = (this.#doubtful ?? -Math.max(first, 0)) + page.length;
    await this.#readOlder(this.#doubtful);
    const isOlder = ({ event_id }: TimelineEvent): boolean => this.#older.has(event_id);
    const unknown = page.filter(isNew);
    const events = unknown.filter((event) => !isOlder(event));
    return { events, isBefore: events.length === 0 && unknown.length > 0 };
  }

  /** Reads so many events before the gap: a server that has read on has given no more of them. */
  async #readOlder(count: number): Promise<void> {
    for (let empty = 0; !this.#isAllRead && this.#older.size < count;) {
      const { events, isLast } = await this.#options.readOlder();
      events.forEach(({ event_id }) => this.#older.add(event_id));
      this.#isAllRead = isLast;
      empty = events.length === 0 ? empty + 1 : 0;
      if (empty === PATIENCE) {
        throw new ServiceResponseError(
          "Cannot tell where a gap starts: the homeserver shows nothing before it",
        );
      }
    }
  }
}
