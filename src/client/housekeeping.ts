/**
 * Removes, once a day, what is not needed any more.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { ActorError, ActorStoppedError } from "../actors/kernel/mod.ts";
import type { OpenableStore, PruneStep } from "../actors/store/mod.ts";

/** What was removed. */
export interface PruneSummary {
  /**
   * How many records were removed, by their kind: `state` of rooms that were left; those of
   * encryption begin with `crypto/`.
   */
  readonly removed: Readonly<Record<string, number>>;
}

/** The actors whose records are pruned. */
interface PrunedCore extends OpenableStore {
  /** Prunes the records of encryption, and resolves to the number of removed ones by kind. */
  readonly own: { prune(): Promise<Readonly<Record<string, number>>> } | undefined;
}

const DAY = 86_400_000;
/**
 * How long the state of a room stays after it was left, in milliseconds: time for handlers, and to
 * come back.
 */
const LEFT_ROOMS_FOR = 7 * DAY;
/** The record of when this was done, or checked, last. */
const CHECKED_AT = ["pruned"];
/**
 * A clock that leaps ahead by more may be wrong, in milliseconds: removed records do not come back.
 */
const LEAP = 30 * DAY;
/** For how many days such a clock must run before it is trusted. */
const DOUBTFUL_DAYS = 7;
/** The record of how many of these days are left. */
const DOUBTS = ["pruneDoubts"];

/** Prunes when it is due, or on request. */
export class Housekeeping {
  readonly #core: PrunedCore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #checkedAt: number | undefined;
  #running: Promise<PruneSummary> | undefined;

  /**
   * @param core Has what is pruned.
   * @param client Its wall clock, and its log.
   */
  constructor(core: PrunedCore, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    [this.#core, this.#clock, this.#log] = [core, clock, log];
  }

  /**
   * Prunes if the last time is a day ago, and the clock can be trusted. Never rejects: it tries
   * again the next day.
   */
  async pruneIfDue(): Promise<void> {
    const [clock, log] = [this.#clock, this.#log];
    if (elapsed(clock.now(), this.#checkedAt) < DAY) return;
    try {
      if (!await this.#isDue()) return;
      const { removed } = await this.prune();
      if (Object.keys(removed).length > 0) log.info("Removed what need not be kept", removed);
    } catch (error) {
      if (error instanceof ActorStoppedError || error instanceof ActorError) return; // the client is ending
      log.warn("Could not remove what need not be kept", { error: String(error) });
    }
  }

  /** Prunes in small steps, between which other work is done. A call while it runs joins it. */
  async prune(): Promise<PruneSummary> {
    try {
      return await (this.#running ??= this.#prune());
    } finally {
      this.#running = undefined;
    }
  }

  /** Resolves when no pruning is under way. */
  async tidied(): Promise<void> {
    await this.#running?.catch(() => {}); // `prune()` rejects with it
  }

  /** Returns whether the last time is a day ago, on a clock that can be trusted. */
  async #isDue(): Promise<boolean> {
    const [{ store, ready }, clock] = [this.#core, this.#clock];
    await ready();
    const [checkedAt, doubts] = await store.readRecords([CHECKED_AT, DOUBTS]);
    const now = clock.now();
    if (typeof checkedAt !== "number") {
      await this.#note(now, 0); // a new device has nothing to remove yet
      return false;
    }
    this.#checkedAt = checkedAt;
    if (elapsed(now, checkedAt) < DAY) return false;
    const before = typeof doubts === "number" ? doubts : 0;
    const left = checkedAt > now ? 0 : before > 0 ? before - 1 : now - checkedAt >= LEAP ? DOUBTFUL_DAYS : 0;
    if (left > 0) await this.#note(now, left);
    return left === 0;
  }

  async #note(checkedAt: number, doubts: number): Promise<void> {
    this.#checkedAt = checkedAt;
    const notes = [[CHECKED_AT, checkedAt], [DOUBTS, doubts]] as const;
    const mutations = notes.map(([key, value]) => ({ type: "set", key, value } as const));
    await this.#core.store.commitRecords(mutations);
  }

  async #prune(): Promise<PruneSummary> {
    const [{ store, ready, own }, clock] = [this.#core, this.#clock];
    await ready();
    const now = clock.now();
    this.#checkedAt = now;
    let state = 0;
    let step: PruneStep = { removed: 0, isDone: false };
    while (!step.isDone) {
      step = await store.pruneRooms({ leftBefore: now - LEFT_ROOMS_FOR, after: step.after });
      state += step.removed;
    }
    const ofCrypto = Object.entries(await own?.prune() ?? {});
    await this.#note(now, 0);
    return {
      removed: {
        ...(state > 0 && { state }),
        ...Object.fromEntries(ofCrypto.map(([kind, count]) => [`crypto/${kind}`, count])),
      },
    };
  }
}
