/**
 * The Syncer: asks for what is new, again and again, and hands each response down the pipeline.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { backoff } from "../backoff.ts";
import type { Clock } from "../clock.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { ValueError } from "../errors/value_error.ts";
import type { Logger } from "../log.ts";
import { Membership, type PresenceState } from "../types/enums.ts";
import type { RoomID, SyncToken, UserID } from "../types/ids.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import type { SyncResponse } from "../types/sync_response.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { Actor, ActorRef } from "./actor.ts";
import { ActorError, fatal } from "./actor_error.ts";
import type { Crypto } from "./crypto.ts";
import type { DispatcherProtocol, InternalDelivery } from "./dispatcher_protocol.ts";
import { fillGap, rewind } from "./gap_filler.ts";
import { later } from "./later.ts";
import { spawn } from "./spawn.ts";
import type { SyncSettings } from "./start_options.ts";
import type { OpenStore } from "./store_opener.ts";
import type { StoreProtocol } from "./store_protocol.ts";
import { asError, isDeadly } from "./sync_failure.ts";
import { SyncFilter } from "./sync_filter.ts";
import type { SyncContext } from "./sync_batch.ts";
import { processSync, type SyncPipeline } from "./sync_pipeline.ts";
import { type Read, SyncReader, tokenOf } from "./sync_reader.ts";
import type { SyncRequests } from "./sync_requests.ts";
import type { SyncerProtocol } from "./syncer_protocol.ts";

/** What the Syncer is made of. */
export interface SyncerOptions {
  /** The way to the server. */
  readonly requests: SyncRequests;
  /** Decrypts; asked for at each response, since it can be set later. */
  readonly crypto: () => Pick<Crypto, "start" | "receiveSync" | "idle"> | undefined;
  /** Which messages count that come in clear into an encrypted room; undefined: all do. */
  readonly acceptClear: () => SyncContext["acceptClear"];
  /** Keeps room state and the token. */
  readonly store: ActorRef<StoreProtocol>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Brings events to handlers. */
  readonly dispatcher: ActorRef<DispatcherProtocol>;
  /** Is called after each sync; never rejects. */
  readonly afterSync: () => Promise<void>;
  /** What to tell others of the user's presence. */
  readonly presence: () => PresenceState;
  /** Whether a handler wants the next request to wait for it. */
  readonly waits: () => boolean;
  /** Whether to go on from what was handled, or from what was committed. */
  readonly resume: "handled" | "committed";
  /** Measures waits. */
  readonly clock: Clock;
  /** Where it is told what goes on. */
  readonly log: Logger;
}

/** Waits after failures, in milliseconds. */
const BACKOFF = { base: 5_000, cap: 320_000 };
/** The longest wait that a server can ask for, in milliseconds. */
const MAX_RETRY_AFTER = 3_600_000;
/** How long to wait when the server answers at once and says nothing, in milliseconds: nothing may spin. */
const IDLE_WAIT = 1_000;
const DEFAULT_TIMEOUT = 30_000;
const DEFAULT_GAP_LIMIT = 1_000;
const INTERNAL = { source: SyncStream.INTERNAL };

/** Starts the Syncer; it is idle until it is asked to run. */
export function spawnSyncer(options: SyncerOptions): Actor<SyncerProtocol> {
  const syncer = new Syncer(options);
  return spawn<SyncerProtocol>({
    name: "syncer",
    log: options.log,
    handlers: {
      run: (settings, { stopping, signal }) => later(syncer.run(settings, stopping, signal)),
      stop: () => later(syncer.stop()),
      once: (settings, { stopping, signal }) => later(syncer.once(settings, stopping, signal)),
      take: (response, { stopping }) => later(syncer.take(response, stopping)),
    },
  });
}

class Syncer {
  readonly #options: SyncerOptions;
  /** The token of the last response whose handlers have been started by this process. */
  #dispatched: SyncToken | undefined;
  #running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  async run(settings: SyncSettings, ...signals: (AbortSignal | undefined)[]): Promise<void> {
    const before = this.stop();
    await this.#runs(signals, async (signal) => {
      await before;
      await this.#loop(settings, signal);
    });
  }

  async stop(): Promise<void> {
    this.#running?.abort.abort();
    await this.#running?.done;
  }

  async once(settings: SyncSettings, ...signals: (AbortSignal | undefined)[]): Promise<SyncResponse> {
    if (this.#running !== undefined) {
      throw new ValueError("Cannot sync once: the client is syncing already; stop() it first");
    }
    return await this.#runs(signals, async (signal) => {
      const round = await this.#prepare(settings, signal, 0);
      const { response } = await this.#sync(round, { ahead: false });
      await this.#options.dispatcher.ask("noted", undefined);
      await abortable(Promise.resolve(this.#options.crypto()?.idle()), signal); // the program may end now
      await abortable(this.#options.afterSync(), signal);
      return response;
    });
  }

  async take(response: SyncResponse, signal: AbortSignal): Promise<number> {
    const own = await this.#options.requests.userId();
    await this.#options.ready(signal); // it looks at who acts
    const context = {
      own,
      initial: false,
      repeated: false,
      members: "some",
      acceptClear: this.#options.acceptClear(),
      dropTimeline: false,
    } as const;
    return await this.#process(response, context, {
      fillGaps: () => Promise.resolve(),
      readAhead: () => {},
    });
  }

  /** Work that {@link Syncer.stop} ends and waits for. */
  async #runs<Result>(
    signals: readonly (AbortSignal | undefined)[],
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const abort = new AbortController();
    const done = work(AbortSignal.any([abort.signal, ...signals.filter((signal) => signal !== undefined)]));
    const running = { abort, done: done.then(() => {}, () => {}) };
    this.#running = running;
    try {
      return await done;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  async #loop(settings: SyncSettings, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failure: Error | undefined;
    let round: Round | undefined;
    let token: SyncToken | undefined;
    await this.#announce({ type: InternalEventType.SYNC_STARTED, data: INTERNAL });
    for (let failures = 0; !signal.aborted && failure === undefined;) {
      try {
        const current = round ??= await this.#prepare(settings, signal, DEFAULT_TIMEOUT);
        const since = token;
        const { asked, nextBatch } = await tokenOf(() => this.#sync(current, { ahead: true }));
        [token, failures] = [nextBatch, 0];
        this.#options.afterSync();
        const tooFast = asked + IDLE_WAIT - clock.now();
        if (token === since && tooFast > 0) await clock.delay(tooFast, { signal });
      } catch (error) {
        if (signal.aborted && !(error instanceof ActorError)) break; // a part that fails stops all others
        if (isDeadly(error)) failure = error;
        else await this.#waitAfter(asError(error), failures++, signal);
      }
    }
    await this.#announce({ type: InternalEventType.SYNC_STOPPED, data: { ...INTERNAL, error: failure } });
    await this.#options.store.ask("flush", undefined).catch(() => {}); // the store that failed says so by its `done`
    if (failure !== undefined) throw fatal(failure);
  }

  async #prepare(settings: SyncSettings, signal: AbortSignal, byDefault: number): Promise<Round> {
    const { requests, store, ready, presence, clock } = this.#options;
    const own = await requests.userId();
    await ready(signal); // it looks at who acts
    await abortable(Promise.resolve(this.#options.crypto()?.start()), signal);
    const filter = new SyncFilter(settings, requests, store);
    const { timeout = byDefault } = settings;
    const reader = new SyncReader({ requests, filter, timeout, presence, clock, signal });
    return { settings, signal, own, filter, reader, first: true };
  }

  /** One response and what follows from it; the next one is asked for meanwhile if that is wanted, and possible. */
  async #sync(round: Round, { ahead }: { readonly ahead: boolean }): Promise<Read> {
    const { requests, waits, log } = this.#options;
    const { settings, signal, own, filter, reader, first: isFirst } = round;
    const { since, repeated, first } = await this.#position();
    const read = await reader.read(since);
    const { response } = read;
    const isInitial = since === undefined;
    const told = { data: response, isInitial, isFirst, ...INTERNAL };
    await this.#announce({ type: InternalEventType.SYNC_SUCCESSFUL, data: told });
    signal.throwIfAborted();
    const dropTimeline = (isInitial && settings.ignoreInitialSync === true) ||
      (isFirst && settings.ignoreFirstSync === true);
    const acceptClear = this.#options.acceptClear();
    const context = { own, initial: isInitial, repeated, members: filter.members, acceptClear, dropTimeline };
    // What came in several responses before comes in one now, which may be too much for its timelines.
    const wanted = settings.fillGaps || repeated;
    const limit = wanted === true ? DEFAULT_GAP_LIMIT : wanted || 0;
    // The very first response once more goes as far as it went then: what came after it comes after it.
    const upToFirst = first === undefined ? response : { ...response, next_batch: first };
    await this.#process(upToFirst, context, {
      fillGaps: async ({ rooms }) => {
        if (first !== undefined) {
          const from = { requests, since, limit: dropTimeline ? 0 : filter.timelineLimit, signal, log };
          for (const room of rooms) await rewind(room, first, { ...from, filter: filter.timeline });
          return;
        }
        if (since === undefined || limit === 0 || dropTimeline) return;
        for (const room of rooms) {
          if (!room.limited || !await this.#wasJoined(room.roomId)) continue;
          await fillGap(room, { requests, since, limit, filter: filter.timeline, signal, log });
        }
      },
      readAhead: ({ toDevice, nextBatch }) => {
        // The server forgets what it had for the device when it is asked for more: that has to have been handled.
        if (ahead && toDevice.length === 0 && nextBatch !== since && !waits()) reader.readAhead(nextBatch);
      },
    });
    round.first = false;
    return read;
  }

  async #process(
    response: SyncResponse,
    context: SyncContext,
    { fillGaps, readAhead }: Pick<SyncPipeline, "fillGaps" | "readAhead">,
  ): Promise<number> {
    const { crypto, store, dispatcher, log } = this.#options;
    const pipeline = { crypto: crypto(), store, dispatcher, fillGaps, readAhead, log };
    const batch = await processSync({ ...response }, context, pipeline);
    this.#dispatched = response.next_batch;
    return batch;
  }

  /**
   * The token to go on from, and whether what follows may have been delivered before. What this process has dispatched need not
   * come again, whatever has settled by now.
   */
  async #position(): Promise<Position> {
    const { nextBatch, handled, first } = await this.#options.store.ask("position", undefined);
    const goesOn = nextBatch === this.#dispatched || this.#options.resume === "committed";
    const since = goesOn ? nextBatch : handled;
    return { since, repeated: since !== nextBatch, first: since === undefined ? first : undefined };
  }

  async #wasJoined(roomId: RoomID): Promise<boolean> {
    return (await this.#options.store.ask("room", roomId))?.membership === Membership.JOIN;
  }

  async #waitAfter(error: Error, failures: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const asked = error instanceof MatrixRequestError ? error.retryAfter : undefined;
    const sleepFor = asked === undefined
      ? backoff(failures, BACKOFF)
      : Math.min(Math.max(asked, IDLE_WAIT), MAX_RETRY_AFTER);
    log.warn("A sync failed", { error: String(error), sleepFor: Math.round(sleepFor) });
    await this.#announce({ type: InternalEventType.SYNC_ERRORED, data: { ...INTERNAL, error, sleepFor } });
    await clock.delay(sleepFor, { signal }).catch(() => {}); // the loop looks at the signal
  }

  async #announce(event: InternalDelivery): Promise<void> {
    await this.#options.dispatcher.ask("announce", event);
  }
}

/** Where to go on. */
interface Position {
  /** The token; undefined: from the start. */
  readonly since: SyncToken | undefined;
  /** Whether what follows may have been delivered before. */
  readonly repeated: boolean;
  /** What the first response ended with, if it is to be handled once more. */
  readonly first: SyncToken | undefined;
}

/** What stays the same from one sync of a run to the next. */
interface Round {
  readonly settings: SyncSettings;
  readonly signal: AbortSignal;
  readonly own: UserID;
  readonly filter: SyncFilter;
  readonly reader: SyncReader;
  first: boolean;
}
