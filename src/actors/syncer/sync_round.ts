/**
 * One run of syncing: receives responses, one after the other, and delivers them in the same order.
 *
 * While a response is being committed, a few responses behind it are received already, so that the
 * Store makes one commit for several.
 *
 * @module
 */

import { REGISTERED } from "../../base/tracing.ts";
import type { SyncToken, UserID } from "../../types/ids.ts";
import { Membership } from "../../types/enums.ts";
import { InternalEventType } from "../../types/events/event_type.ts";
import { SyncStream } from "../../types/events/event.ts";
import { GapPages } from "./gap_filler.ts";
import { RoomContinuity } from "./room_continuity.ts";
import type { SyncedOnce, SyncerOptions, SyncSettings } from "./syncer_options.ts";
import { type Read, SyncFilter, SyncReader } from "./sync_reader.ts";
import { markOwn, type SyncParts, takeApart } from "./sync_parts.ts";
import { type TakenSync, takeSync } from "./sync_pipeline.ts";
import type { SyncPosition, SyncProgress } from "./sync_progress.ts";
import { keptResponse, WINDOW } from "./window.ts";

/** One run of a Syncer. */
export interface SyncRun {
  /** What the application wants. */
  readonly settings: SyncSettings;
  /** The acting user. */
  readonly own: UserID;
  /** How long the server may wait for something new where the application does not say, in milliseconds. */
  readonly timeout: number;
  /** Whether the next response may be requested before one has been handled. */
  readonly ahead: boolean;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** A response that was taken in. */
interface Taken extends TakenSync {
  readonly read: Read;
  /** Whether there is more than it has: it ends where the very first one did, or shows some rooms alone. */
  readonly isCut: boolean;
  /** The one behind it, if that is being taken in already. */
  readonly next: Promise<Taken> | undefined;
}

/** How many event IDs are told of a response. */
const MAX_IDS = 10_000;

/** What a response has brought. */
type Brought = Pick<SyncedOnce, "events" | "ids" | "isNews" | "isCut">;

const DEFAULT_GAP_LIMIT = 1_000;
/** How often a response is requested again whose gaps a server that may be restarting hides. */
const GAP_PATIENCE = 3;
/** How many responses may be on their way to handlers at a time. */
const MAX_UNDERWAY = 4;
/**
 * How many events a response may have so that the next one is received before it is handled: all
 * are in memory.
 */
const MAX_EVENTS = 100;

/** Receives responses and delivers them. */
export class SyncRound {
  readonly #syncer: SyncerOptions;
  readonly #progress: SyncProgress;
  readonly #run: SyncRun;
  readonly #filter: SyncFilter;
  readonly #reader: SyncReader;
  readonly #continuity: RoomContinuity;
  #isFirst = true;
  /** Whether rooms that are shown as they are have nothing new: what happened before the start is dropped. */
  #dropsOld = false;
  /** What the latest response has brought, if none is requested ahead. */
  brought: Brought = { events: 0, ids: [], isNews: false, isCut: false };
  /** The response to be delivered next, if it is being received already. */
  #next: Promise<Taken> | undefined;
  /** For each response that was received and not delivered, a function that forgets it. */
  readonly #underway: (() => void)[] = [];
  /** The wait until fewer are under way. */
  #waiting: (PromiseWithResolvers<void> & { readonly limit: number }) | undefined;
  /** Why responses that were received ahead are given up, while some of them are under way. */
  #failure: { readonly error: unknown } | undefined;

  /**
   * @param syncer What the Syncer is made of.
   * @param progress Delivers what is received.
   * @param run What is to be received.
   */
  constructor(syncer: SyncerOptions, progress: SyncProgress, run: SyncRun) {
    [this.#syncer, this.#progress, this.#run] = [syncer, progress, run];
    const { settings, own, signal, ahead, timeout } = run;
    const filter = this.#filter = new SyncFilter(settings, syncer, signal);
    this.#reader = new SyncReader(syncer, {
      filter,
      fresh: progress.fresh,
      timeout: settings.timeout ?? timeout,
      signal,
    });
    const patience = ahead ? GAP_PATIENCE : 0;
    this.#continuity = new RoomContinuity({
      ...syncer,
      own,
      filter,
      signal,
      memory: progress.memory,
      patience,
    });
  }

  /** Whether a response is being received ahead, which has to be delivered. */
  get isAhead(): boolean {
    return this.#next !== undefined;
  }

  /** One response, until its handlers have been started. */
  async sync(): Promise<Read> {
    const ahead = this.#next;
    this.#next = undefined;
    try {
      const taken = await (ahead ?? this.#take(await this.#progress.next(this.#run.signal)));
      this.#next = taken.next;
      const { ahead: isRead, own, signal } = this.#run;
      await this.#progress.deliver(taken, isRead ? undefined : signal);
      if (!isRead) this.brought = broughtBy(taken, own);
      this.#delivered();
      return taken.read;
    } catch (error) {
      await this.#giveUp(error);
      throw error;
    }
  }

  /** Reads and receives a response, as soon as it may follow the one before. */
  async #take(position: SyncPosition, after?: SyncToken): Promise<Taken> {
    const [syncer, { settings, signal, own }] = [this.#syncer, this.#run];
    const { since, repeated, again, handledBefore, anew } = position;
    const read = await this.#reader.read(since, position.first);
    const { response } = read;
    const window = response[WINDOW];
    // With a window, it comes again as it came.
    const first = window === undefined ? position.first : undefined;
    const isTold = syncer.deliverer.wantsInternal(InternalEventType.SYNC_SUCCESSFUL);
    if (after !== undefined) await this.#atMost(isTold || syncer.registry.waits ? 0 : MAX_UNDERWAY - 1);
    const isInitial = since === undefined;
    const isFirst = this.#isFirst && after === undefined;
    if (isTold) {
      const data = { data: response, isInitial, isFirst, source: SyncStream.INTERNAL };
      await this.#progress.announce({ type: InternalEventType.SYNC_SUCCESSFUL, data });
    }
    signal.throwIfAborted();
    const dropTimeline = (isInitial && !anew && settings.ignoreInitialSync === true) ||
      (isFirst && settings.ignoreFirstSync === true);
    if (isFirst || window?.isGrowing !== true) this.#dropsOld = settings.ignoreFirstSync === true && isFirst;
    const dropOld = this.#dropsOld || (window?.isFirst === true && settings.ignoreInitialSync === true);
    const { crypto } = syncer.encryption;
    const context = {
      own,
      initial: isInitial && !anew,
      anew,
      isNew: window?.isNew,
      repeated,
      handledBefore,
      again,
      ...(window?.isKept && { encryptions: this.#progress.encryptions }),
      after,
      members: syncer.feed === undefined ? window?.members ?? this.#filter.members : "some",
      acceptClear: crypto && syncer.acceptClear,
      outlives: syncer.isDurable,
      atOnce: syncer.resume === "committed",
      dropTimeline,
    };
    // A repetition of the very first response ends where that ended: what came later comes later.
    const upToFirst = first === undefined ? { ...response } : { ...response, next_batch: first };
    const parts = takeApart(upToFirst, own, syncer.log);
    if (syncer.feed !== undefined) markOwn(parts, syncer.feed);
    const limit = this.#gapLimit(position);
    const pages = window?.pages && new GapPages(syncer.requests, window.pages);
    await this.#continuity.connect(parts, {
      ...position,
      first,
      limit,
      dropTimeline,
      window,
      dropOld,
      pages,
    });
    if (window !== undefined && pages?.news !== undefined) {
      const kept = { ...window, pages: pages.news };
      await syncer.store.keepResponse(keptResponse(since, [response, kept]));
    }
    const isAsked = this.#readAhead(parts, since);
    if (isAsked && syncer.isDurable) await this.#reader.sent();
    const trace = REGISTERED in globalThis ? new (await import("./sync_trace.ts")).SyncTrace() : undefined;
    const ports = { crypto, store: syncer.store };
    const taken =
      await (trace === undefined ? takeSync(parts, context, ports) : trace.take(parts, context, ports));
    this.#underway.push(this.#progress.memory.remember(parts));
    const { nextBatch } = parts;
    const isFollowed = isAsked && this.#mayBeFollowed(taken);
    const next = isFollowed
      ? this.#take({ ...position, since: nextBatch, handledBefore: true, anew: false }, nextBatch)
      : undefined;
    next?.catch(() => {}); // its delivery rejects with it
    return { ...taken, read, isCut: first !== undefined || window?.hasMore === true, next };
  }

  /** Requests the next response early, if that is allowed. */
  #readAhead({ toDevice, nextBatch }: SyncParts, since: SyncToken | undefined): boolean {
    const [syncer, { ahead }] = [this.#syncer, this.#run];
    // A request for more makes the server forget to-device messages: they must have been handled by
    // then.
    const mayAsk = ahead && toDevice.length === 0 && nextBatch !== since && !syncer.registry.waits;
    if (!mayAsk || this.#failure !== undefined) return false;
    this.#reader.readAhead(nextBatch);
    return true;
  }

  /** Whether the next response may be received before this one has been handled. */
  #mayBeFollowed(
    { parts: { rooms, undecryptable }, context: { initial, handledBefore } }: TakenSync,
  ): boolean {
    const { isDurable, resume } = this.#syncer;
    if (!isDurable || resume === "committed" || initial || !handledBefore) return false;
    if (this.#failure !== undefined || undecryptable.size > 0) return false; // those are kept whole
    let events = 0;
    for (const { state, filled, timeline } of rooms) events += state.length + filled.length + timeline.length;
    return events <= MAX_EVENTS;
  }

  /**
   * How many events of a gap are read: what came in several responses before may come in one now, with gaps.
   */
  #gapLimit({ repeated, wasMoved, anew }: SyncPosition): number | false {
    const { fillGaps = true } = this.#run.settings;
    const wanted = fillGaps || (repeated && !wasMoved) || anew;
    return wanted === true ? DEFAULT_GAP_LIMIT : wanted;
  }

  #delivered(): void {
    this.#isFirst = false;
    this.#underway.shift();
    const waiting = this.#waiting;
    if (waiting === undefined || this.#underway.length > waiting.limit) return;
    this.#waiting = undefined;
    waiting.resolve();
  }

  /** Resolves when no more than so many responses are on their way to handlers. */
  async #atMost(limit: number): Promise<void> {
    if (this.#underway.length > limit && this.#failure === undefined) {
      this.#waiting = { limit, ...Promise.withResolvers<void>() };
      await this.#waiting.promise;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /**
   * Stops receiving, and waits until what was received has reached the Store: it will come again.
   */
  async #giveUp(error: unknown): Promise<void> {
    this.#failure = { error };
    this.#waiting?.resolve();
    this.#waiting = undefined;
    if (this.#next !== undefined) this.#reader.discard();
    while (this.#next !== undefined) {
      const taken: Taken | undefined = await this.#next.catch(() => undefined);
      taken?.trace?.end(error);
      this.#next = taken?.next;
    }
    for (const takeBack of this.#underway.splice(0).reverse()) takeBack();
    this.#failure = undefined;
  }
}

/** What a response has brought. An invitation counts as an event of somebody else's. */
function broughtBy({ parts: { rooms, toDevice }, isCut }: Taken, own: UserID): Brought {
  const events = rooms.flatMap(({ filled, timeline, shown }) =>
    [...filled, ...timeline].filter((event) => !shown.has(event))
  );
  const invitations = rooms.filter(({ membership }) => membership === Membership.INVITE).length;
  const others = invitations + toDevice.length;
  return {
    events: events.length + others,
    ids: events.slice(-MAX_IDS).map(({ event_id }) => event_id),
    isNews: others > 0 || events.some(({ sender }) => sender !== own),
    isCut,
  };
}
