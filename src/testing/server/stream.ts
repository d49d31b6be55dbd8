/**
 * The one stream position that numbers everything a sync can contain, and the sleep of those
 * who wait for more; and events that are sent later.
 *
 * @module
 */

import { abortReason, type Clock } from "../../base/clock.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { Failure, notFound } from "../json/json.ts";
import type { IdGenerator } from "../homeserver_options.ts";

const over = abortReason("The wait is over");

/** Counts changes and wakes who waits for them. */
export class Stream {
  #position = 1;
  readonly #clock: Clock;
  readonly #waiting = new Map<UserID, Set<() => void>>();

  /** Starts at position 1, so that 0 lies before everything. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The position of the latest change. */
  get position(): number {
    return this.#position;
  }

  /** Takes the next position, for a change that is about to be stored. */
  advance(): number {
    return ++this.#position;
  }

  /** Wakes the waiting syncs of `users`. Call it after the change is stored. */
  wake(users: Iterable<UserID>): void {
    for (const user of users) {
      const waiting = this.#waiting.get(user);
      if (waiting === undefined) continue;
      this.#waiting.delete(user);
      for (const resume of waiting) resume();
    }
  }

  /** Wakes everyone, when the homeserver shuts down. */
  wakeAll(): void {
    this.wake([...this.#waiting.keys()]);
  }

  /**
   * Sleeps until there is something for `user`, or until `ms` have passed. Rejects when `signal` is
   * aborted.
   */
  async wait(user: UserID, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(user) ?? new Set();
    waiting.add(resolve);
    this.#waiting.set(user, waiting);
    const timer = new AbortController();
    const timeout = this.#clock.delay(ms, { signal: AbortSignal.any([signal, timer.signal]) });
    try {
      await Promise.race([promise, timeout]);
    } finally {
      waiting.delete(resolve);
      timer.abort(over());
      // The promises that lost the race reject with the abort above, and are ignored.
      await timeout.catch(() => {});
    }
  }
}

/** An event that is sent later. */
interface Delayed {
  readonly user: UserID;
  readonly roomId: RoomID;
  readonly type: string;
  readonly stateKey: string | undefined;
  readonly content: JsonObject;
  readonly delay: number;
  readonly send: () => void;
  /** Since when its time runs. */
  since: number;
}

/** What the homeserver does for them. */
interface Surroundings {
  readonly settings: { readonly ids: IdGenerator };
  readonly now: number;
  /** Calls back after some milliseconds. */
  later(ms: number, action: () => void): void;
}

/** The longest delay, in milliseconds: a day. */
const MAX_DELAY = 86_400_000;

/** The events that a homeserver sends later. */
export class DelayedEvents {
  readonly #server: Surroundings;
  readonly #events = new Map<string, Delayed>();

  constructor(server: Surroundings) {
    this.#server = server;
  }

  /** Adds one. Returns its ID. */
  add(event: Omit<Delayed, "since">): string {
    const { delay } = event;
    if (delay > MAX_DELAY) {
      const error = `The requested delay (${delay}ms) exceeds the allowed maximum (${MAX_DELAY}ms)`;
      throw new Failure(400, "ORG.MATRIX.MSC4140_DELAY_TOO_LARGE", error);
    }
    const id = this.#server.settings.ids.next("delay", 16);
    this.#events.set(id, { ...event, since: this.#server.now });
    this.#wait(id);
    return id;
  }

  /** Those of a user. */
  of(user: UserID): JsonObject[] {
    return [...this.#events].filter(([, event]) => event.user === user).map(([id, event]) => ({
      delay_id: id,
      room_id: event.roomId,
      type: event.type,
      ...(event.stateKey !== undefined && { state_key: event.stateKey }),
      delay_ms: event.delay,
      delayed_since_ts: event.since,
      content: event.content,
    }));
  }

  /** Has one wait anew. */
  restart(id: string): void {
    this.#find(id).since = this.#server.now;
    this.#wait(id);
  }

  /** Takes one out. */
  cancel(id: string): Delayed {
    const event = this.#find(id);
    this.#events.delete(id);
    return event;
  }

  #wait(id: string): void {
    const event = this.#find(id);
    const { since } = event;
    this.#server.later(event.delay, () => {
      if (this.#events.get(id) !== event || event.since !== since) return; // cancelled, or begun anew
      this.cancel(id);
      try {
        event.send();
      } catch {
        return; // the user may have left by now: then nothing is sent
      }
    });
  }

  #find(id: string): Delayed {
    const event = this.#events.get(id);
    if (event === undefined) throw notFound("Delayed event not found");
    return event;
  }
}
