/**
 * The Syncer: requests what is new, again and again, and passes each response through the pipeline.
 *
 * Over 300 lines because runs, passes and what ends them change the same few fields of one actor.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { backoff, type BackoffRange, elapsed } from "../../base/clock.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { SyncToken, UserID } from "../../types/ids.ts";
import { InternalEventType } from "../../types/events/event_type.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import { SyncStream } from "../../types/events/event.ts";
import {
  type Actor,
  ActorError,
  ActorStoppedError,
  fatal,
  type Later,
  later,
  spawn,
  type TurnContext,
} from "../kernel/mod.ts";
import {
  NOBODY,
  type OnceSettings,
  type SyncedOnce,
  type SyncerOptions,
  type SyncSettings,
} from "./syncer_options.ts";
import { asError, isFinal, reasonOf, RefusedTokenError, syncBackoff } from "./sync_failure.ts";
import { noteRooms } from "./room_continuity.ts";
import { takeApart } from "./sync_parts.ts";
import { tokenOf } from "./sync_reader.ts";
import { takeSync } from "./sync_pipeline.ts";
import { SyncProgress } from "./sync_progress.ts";
import { SyncRound } from "./sync_round.ts";

export type {
  StartOptions,
  SyncBackoff,
  SyncFeed,
  SyncOnceOptions,
  SyncPass,
  SyncSettings,
} from "./syncer_options.ts";
export type { SlidingSync } from "./sliding_sync.ts";
export { ClearRooms } from "./sync_progress.ts";

/** The longest wait that a server can ask for, in milliseconds. */
const MAX_RETRY_AFTER = 3_600_000;
/** How long to wait when the server answers at once and without events, in milliseconds. */
const IDLE_WAIT = 1_000; // nothing may spin
/** How many responses without events may come in a row at once: a server may have tokens that move. */
const MAX_EMPTY = 4;
const DEFAULT_TIMEOUT = 30_000;
const INTERNAL = { source: SyncStream.INTERNAL };

/** Starts the Syncer; it is idle until it is asked to run. */
export function spawnSyncer(options: SyncerOptions): Actor<SyncerHandlers> {
  return spawn({ name: "syncer", handlers: new SyncerHandlers(options), log: options.log });
}

/** What the Syncer can be asked. */
export class SyncerHandlers {
  readonly #options: SyncerOptions;
  readonly #progress: SyncProgress;
  #running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;

  /** @param options What they work with. */
  constructor(options: SyncerOptions) {
    this.#options = options;
    this.#progress = new SyncProgress(options);
  }

  /**
   * Syncs until it is stopped, and answers then. A dead token, or another final failure, is fatal.
   */
  run(settings: SyncSettings, { stopping, signal }: TurnContext): Later<void> {
    return later(this.#run(settings, stopping, signal));
  }

  /** Ends the sync, and answers when it has ended. */
  end(): Later<void> {
    return later(this.#end());
  }

  /**
   * Syncs once, and answers when all handlers have settled and encryption has made its requests; or
   * before, if it is cancelled when the response has been taken in. That handlers have settled is
   * recorded durably; or, in a pass, with the commit that hands the device back.
   */
  once(settings: OnceSettings, { stopping, signal }: TurnContext): Later<SyncedOnce> {
    return later(this.#once(settings, stopping, signal));
  }

  /**
   * Takes a response that was requested elsewhere. Answers with the number of its batch when
   * handlers have been started.
   */
  take(response: SyncResponse, { stopping }: TurnContext): Later<number> {
    return later(this.#take(response, stopping));
  }

  async #run(settings: SyncSettings, ...signals: (AbortSignal | undefined)[]): Promise<void> {
    const waits = syncBackoff(settings.backoff);
    this.#checkWay(settings);
    const before = this.#end();
    await this.#runs(signals, async (signal) => {
      await before;
      await this.#loop(settings, waits, signal);
    });
  }

  /** Sliding sync takes no filters. */
  #checkWay({ filterData }: SyncSettings): void {
    if (this.#options.sync === "classic" || filterData === undefined) return;
    throw new ValueError(
      "Cannot sync with filterData by sliding sync, which has no filters; leave it out, or sync by the classic sync",
    );
  }

  async #end(): Promise<void> {
    this.#running?.abort.abort();
    await this.#running?.done;
  }

  async #once(
    { isPass = false, ...settings }: OnceSettings,
    ...signals: (AbortSignal | undefined)[]
  ): Promise<SyncedOnce> {
    if (this.#running !== undefined) {
      throw new ValueError("Cannot sync once: the client is syncing already; stop() it first");
    }
    this.#checkWay(settings);
    return await this.#runs(signals, async (signal) => {
      const brought = await this.#single(settings, signal);
      const isSettled = await abortable(this.#settle({ later: isPass }, brought.isCut), signal).then(
        () => true,
        (error) => {
          if (!signal.aborted || signal.reason instanceof ActorStoppedError) throw error;
          return false; // what was begun goes on
        },
      );
      return { ...brought, isSettled };
    });
  }

  /** Waits until handlers have settled and requests are made: the program may end then. */
  async #settle(noted: { readonly later: boolean }, isCut: boolean): Promise<void> {
    const { dispatcher, encryption, afterSync, first } = this.#options;
    await dispatcher.noted(noted);
    await encryption.crypto?.idle();
    await afterSync();
    if (!isCut) first.resolve();
  }

  async #take(response: SyncResponse, signal: AbortSignal): Promise<number> {
    const own = await this.#open(signal);
    const { store, log, encryption: { crypto }, acceptClear, clearRooms, clock } = this.#options;
    clearRooms.answered({ since: undefined, nextBatch: response.next_batch, asked: clock.now() });
    const context = {
      own,
      initial: false,
      repeated: false,
      again: (await store.position()).again,
      handledBefore: false, // unknown
      members: "some", // the filter is unknown
      acceptClear: crypto && acceptClear,
      outlives: false, // such a response may come twice
      dropTimeline: false,
    } as const;
    const { memory } = this.#progress;
    const parts = takeApart({ ...response }, own, log);
    await noteRooms(parts, { own, memory, log });
    const taken = await takeSync(parts, context, { crypto, store });
    memory.remember(parts);
    await this.#progress.deliver(taken);
    return this.#progress.batch;
  }

  /** Work that {@link SyncerHandlers.end} ends and waits for. */
  async #runs<Result>(
    signals: readonly (AbortSignal | undefined)[],
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { store } = this.#options;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, ...signals.filter((signal) => signal !== undefined)]);
    const ending = () => void store.ending({ isEnding: signal.aborted }).catch(() => {});
    signal.addEventListener("abort", ending); // so that handlers which are cut off are not blamed
    ending();
    const done = work(signal);
    const running = { abort, done: done.then(() => {}, () => {}) };
    this.#running = running;
    try {
      return await done;
    } finally {
      signal.removeEventListener("abort", ending);
      if (this.#running === running) this.#running = undefined;
    }
  }

  async #single(settings: SyncSettings, signal: AbortSignal): Promise<Omit<SyncedOnce, "isSettled">> {
    try {
      const round = await this.#prepare(settings, signal, { ahead: false });
      await round.sync();
      return round.brought;
    } catch (error) {
      const reason = await this.#reasonOf(error, signal);
      if (!(reason instanceof RefusedTokenError)) throw reason;
      await this.#beginAnew(reason);
      return await this.#single(settings, signal);
    }
  }

  async #loop(settings: SyncSettings, waits: BackoffRange, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failure: Error | undefined;
    let round: SyncRound | undefined;
    let token: SyncToken | undefined;
    let [empty, isFirst] = [0, true];
    await this.#progress.announce({ type: InternalEventType.SYNC_STARTED, data: INTERNAL });
    // What has been received when the end comes is delivered.
    for (let failures = 0; (!signal.aborted || round?.isAhead) && failure === undefined;) {
      try {
        const current = round ??= await this.#prepare(settings, signal, { ahead: true });
        const [since, began] = [token, clock.now()];
        const { asked, nextBatch, isEmpty, hasMore } = await tokenOf(() => current.sync());
        isFirst &&= this.#reportFirst(hasMore);
        [token, failures] = [nextBatch, 0];
        this.#options.afterSync();
        empty = isEmpty && elapsed(clock.now(), began) < IDLE_WAIT ? empty + 1 : 0;
        if (token !== since && empty <= MAX_EMPTY) continue;
        const tooFast = IDLE_WAIT - elapsed(clock.now(), empty > MAX_EMPTY ? began : asked);
        if (tooFast > 0) await clock.delay(tooFast, { signal });
      } catch (error) {
        if (signal.aborted && !(error instanceof ActorError)) break; // a part that failed stops all others
        const reason = await this.#reasonOf(error, signal, failures);
        if (reason instanceof RefusedTokenError) await this.#beginAnew(reason);
        else if (isFinal(reason)) failure = reason;
        else await this.#waitAfter(asError(reason), backoff(failures++, waits), signal);
      }
    }
    await this.#progress.announce({
      type: InternalEventType.SYNC_STOPPED,
      data: { ...INTERNAL, error: failure },
    });
    await this.#options.store.flush().catch(() => {}); // a store that failed rejects its `done`
    if (failure !== undefined) throw fatal(failure);
  }

  async #prepare(
    settings: SyncSettings,
    signal: AbortSignal,
    { ahead }: { readonly ahead: boolean },
  ): Promise<SyncRound> {
    const own = await this.#open(signal);
    const started = this.#options.encryption.crypto?.start(ahead ? signal : undefined);
    await abortable(Promise.resolve(started), signal);
    const timeout = ahead ? DEFAULT_TIMEOUT : 0;
    return new SyncRound(this.#options, this.#progress, { settings, own, timeout, ahead, signal });
  }

  /**
   * Opens the store for the acting user, whose comings and goings matter;
   * later it rejects if another one acts.
   */
  async #open(signal: AbortSignal): Promise<UserID> {
    const { session, ready, feed } = this.#options;
    const own = session.mxid || await session.userId({ signal });
    await ready(signal);
    return feed === undefined ? own : NOBODY;
  }

  /** Returns whether the first response is one of several, and not the last of them. */
  #reportFirst(hasMore: boolean): boolean {
    const { dispatcher, first } = this.#options;
    if (hasMore) return true;
    // A part that failed rejects its `done`.
    dispatcher.settled(this.#progress.batch).then(() => first.resolve(), () => {});
    return false;
  }

  /** Lets the next sync begin at the start, without what was handled. */
  async #beginAnew(error: RefusedTokenError): Promise<void> {
    const { log, store } = this.#options;
    log.warn("The homeserver does not know the sync token: syncing from the start", { error: error.message });
    await this.#progress.announce({
      type: InternalEventType.SYNC_ERRORED,
      data: { ...INTERNAL, error, sleepFor: 0 },
    });
    await store.syncAnew();
  }

  async #reasonOf(error: unknown, signal: AbortSignal, failures?: number): Promise<unknown> {
    const { requests } = this.#options;
    return await reasonOf(error, { requests, position: () => this.#progress.position(), signal, failures });
  }

  async #waitAfter(error: Error, wait: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const asked = error instanceof MatrixRequestError ? error.retryAfter : undefined;
    const sleepFor = asked === undefined ? wait : Math.min(Math.max(asked, IDLE_WAIT), MAX_RETRY_AFTER);
    log.warn("A sync failed", { error: String(error), sleepFor: Math.round(sleepFor) });
    await this.#progress.announce({
      type: InternalEventType.SYNC_ERRORED,
      data: { ...INTERNAL, error, sleepFor },
    });
    await clock.delay(sleepFor, { signal }).catch(() => {}); // the loop checks the signal
  }
}
