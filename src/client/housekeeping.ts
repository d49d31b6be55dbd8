/**
 * Lets go, once a day, of what need not be kept any more.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { ActorRef } from "../actors/kernel/actor.ts";
import { ActorError, ActorStoppedError } from "../actors/kernel/actor_error.ts";
import type { StoreProtocol } from "../actors/store/store_protocol.ts";

/** What was let go of. */
export interface PruneSummary {
  /** How many records were removed, by their kind: `state` of rooms that were left; those of encryption begin with `crypto/`. */
  readonly removed: Readonly<Record<string, number>>;
}

/** What housekeeping works with. */
export interface HousekeepingOptions {
  /** Keeps the state of rooms, and when this was done last. */
  readonly store: ActorRef<StoreProtocol>;
  /** Opens the store, the first time. */
  readonly ready: () => Promise<void>;
  /** Has encryption let go of what it can; says how many records of which kind it removed. Absent: there is none. */
  readonly pruneCrypto: (() => Promise<Readonly<Record<string, number>>>) | undefined;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it is told. */
  readonly log: Logger;
}

const DAY = 86_400_000;
/** How long the state of a room is kept that was left, in milliseconds: handlers, and people who mistook a room, have that long. */
const LEFT_ROOMS_FOR = 7 * DAY;
/** Where it is noted when this was done, or thought of, last. */
const LOOKED_AT = ["pruned"];
/** A clock that is so much ahead of the last time may be wrong, in milliseconds: what is removed does not come back with the right time. */
const LEAP = 30 * DAY;
/** For how many days such a clock must go on before it is believed. */
const DOUBTFUL_DAYS = 7;
/** Where it is noted how many of them are left. */
const DOUBTS = ["pruneDoubts"];

/** Does it when it is due, or when it is asked to. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #lookedAt: number | undefined;
  #running: Promise<PruneSummary> | undefined;

  /** @param options What it works with. */
  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Does it if the last time is a day ago, and the clock can be believed. Never rejects: the next day is another. */
  async look(): Promise<void> {
    const { clock, log } = this.#options;
    if (elapsed(clock.now(), this.#lookedAt) < DAY) return;
    try {
      if (!await this.#isDue()) return;
      const { removed } = await this.prune();
      if (Object.keys(removed).length > 0) log.info("Removed what need not be kept", removed);
    } catch (error) {
      if (error instanceof ActorStoppedError || error instanceof ActorError) return; // the client is ending
      log.warn("Could not remove what need not be kept", { error: String(error) });
    }
  }

  /** Does it, in small steps between which others come; what is asked for while it is done is the same. */
  async prune(): Promise<PruneSummary> {
    try {
      return await (this.#running ??= this.#prune());
    } finally {
      this.#running = undefined;
    }
  }

  /** Resolves when nothing is being let go of. */
  async tidied(): Promise<void> {
    await this.#running?.catch(() => {}); // whoever asked for it is told
  }

  /** Whether the last time is a day ago, on a clock that can be believed. */
  async #isDue(): Promise<boolean> {
    const { store, ready, clock } = this.#options;
    await ready();
    const [lookedAt, doubts] = await store.ask("readRecords", [LOOKED_AT, DOUBTS]);
    const now = clock.now();
    if (typeof lookedAt !== "number") {
      await this.#note(now, 0); // a new device has nothing yet, and its first sync was work enough: a look at every room is more
      return false;
    }
    this.#lookedAt = lookedAt;
    if (elapsed(now, lookedAt) < DAY) return false;
    const before = typeof doubts === "number" ? doubts : 0;
    const left = lookedAt > now ? 0 : before > 0 ? before - 1 : now - lookedAt >= LEAP ? DOUBTFUL_DAYS : 0;
    if (left > 0) await this.#note(now, left);
    return left === 0;
  }

  async #note(lookedAt: number, doubts: number): Promise<void> {
    this.#lookedAt = lookedAt;
    const notes = [[LOOKED_AT, lookedAt], [DOUBTS, doubts]] as const;
    const mutations = notes.map(([key, value]) => ({ type: "set", key, value } as const));
    await this.#options.store.ask("commitRecords", mutations);
  }

  async #prune(): Promise<PruneSummary> {
    const { store, ready, pruneCrypto, clock } = this.#options;
    await ready();
    const now = clock.now();
    this.#lookedAt = now;
    let state = 0;
    for (let isDone = false; !isDone;) {
      const step = await store.ask("pruneRooms", { leftBefore: now - LEFT_ROOMS_FOR });
      state += step.removed;
      isDone = step.isDone;
    }
    const ofCrypto = Object.entries(await pruneCrypto?.() ?? {});
    await this.#note(now, 0);
    return {
      removed: {
        ...(state > 0 && { state }),
        ...Object.fromEntries(ofCrypto.map(([kind, count]) => [`crypto/${kind}`, count])),
      },
    };
  }
}
