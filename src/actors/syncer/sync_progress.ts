/**
 * What a Syncer has delivered, where it goes on in the stream of responses, and what that may show again.
 *
 * The Store has two tokens: up to where responses were committed, and up to where they were handled. A
 * process that begins goes on from the second. What was committed behind it comes again, but not as it came
 * then: a server may answer from a cache of minutes, with less, or by a worker that lags behind, or with all
 * at once. So the client catches up until a response ends where the last committed one did, or until one
 * has come that was asked for when no server could lag any more.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { Clock } from "../../base/clock.ts";
import type { CatchUp, SyncRecord } from "../../store/device/mod.ts";
import { InternalEventType } from "../../types/events/event_type.ts";
import type { RoomID, SyncToken, UserID } from "../../types/ids.ts";
import type { SyncAnswer, SyncerOptions } from "./syncer_options.ts";
import { type ActorRef, ActorStoppedError } from "../kernel/mod.ts";
import type { InternalDelivery, RememberedRoom, StoreHandlers } from "../store/mod.ts";
import { RecentMap } from "../../base/recent_map.ts";
import type { StayView } from "./membership.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";
import { syncBatch } from "./sync_batch.ts";
import type { TakenSync } from "./sync_pipeline.ts";
import { freshName } from "./sync_reader.ts";

/** For how long a server may lag behind, in milliseconds: Synapse gives answers again for 120,000. */
const LONGEST_CATCH_UP = 600_000;

/** Where to go on. */
export interface SyncPosition {
  /** The token; undefined: from the start. */
  readonly since: SyncToken | undefined;
  /** Whether what follows may have been delivered before. */
  readonly repeated: boolean;
  /** Why what comes behind that may have been, too, as the Store is to keep it; undefined: it was not. */
  readonly again: CatchUp | undefined;
  /**
   * Whether the events of earlier responses have been handled, or will be: what comes again is not
   * handled again.
   */
  readonly handledBefore: boolean;
  /** Whether what follows may have been delivered because the application has moved the position. */
  readonly wasMoved: boolean;
  /** Whether what follows begins at the start, since the server does not know the token any more. */
  readonly anew: boolean;
  /** What the first response ended with, if it is to be handled once more. */
  readonly first: SyncToken | undefined;
}

/** What is known of a position beside what the Store has. */
export interface Life extends Pick<SyncerOptions, "resume"> {
  /** The token of the last response whose handlers have been started by this process. */
  readonly dispatched: SyncToken | undefined;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The place to continue from. What this process has dispatched need not come again, whether or not
 * it has settled.
 */
export function positionIn(
  { nextBatch, handled, first, again: before, anew, ahead }: SyncRecord,
  { dispatched, resume, now }: Life,
): SyncPosition {
  const goesOn = nextBatch === dispatched || resume === "committed";
  const since = goesOn ? nextBatch : anew === undefined ? handled : undefined;
  const isAnew = anew !== undefined && since === undefined;
  const isBack = since !== nextBatch;
  const catchesUp = before !== undefined;
  // Time in which nothing was asked says nothing, nor does a clock that was set back.
  const from = before === undefined || dispatched === undefined || before.from > now ? now : before.from;
  // Encryption may have come further than what was committed: to where is unknown.
  const until = catchesUp ? before.until : ahead === true ? undefined : nextBatch;
  // No server lags behind in the answer to a request this late: it has all that is to come again.
  const again = isBack || ahead === true
    ? { ...(until !== undefined && { until }), from: now }
    : catchesUp && now - from < LONGEST_CATCH_UP
    ? { ...before, from }
    : undefined;
  return {
    since,
    repeated: isBack || (catchesUp && nextBatch !== undefined),
    again,
    handledBefore: since !== undefined && !isBack && ahead !== true && !catchesUp,
    wasMoved: !isBack && before?.moved === true,
    anew: isAnew,
    first: since === undefined && !isAnew ? first : undefined,
  };
}

/** What a Syncer has delivered, and where it goes on from there. */
export class SyncProgress {
  /** What was shown of rooms. */
  readonly memory: RoomMemory;
  /** What distinguishes the next request that is to be unlike any before. */
  readonly fresh = { name: freshName() };
  readonly encryptions = new Set<string>(); // see SyncContext
  /** The number of the batch of handlers of the last response. */
  batch = 0;
  readonly #syncer: SyncerOptions;
  /** The token of the last response whose handlers have been started by this process. */
  #dispatched: SyncToken | undefined;
  /** The latest delivery of those that may go on behind a pass whose time is over. */
  #delivering: Promise<void> | undefined;

  /** @param syncer What the Syncer is made of. */
  constructor(syncer: SyncerOptions) {
    this.#syncer = syncer;
    this.memory = new RoomMemory(syncer.store);
  }

  /** Where to go on. */
  async position(): Promise<SyncPosition> {
    const { store, resume, clock } = this.#syncer;
    const record = await store.position();
    const isMoved = record.anew === undefined && record.nextBatch === record.handled &&
      record.nextBatch !== this.#dispatched;
    if (isMoved) this.memory.clear(); // by the application: events may come again
    return positionIn(record, { dispatched: this.#dispatched, resume, now: clock.now() });
  }

  /** The same, when what is being delivered has been. */
  async next(signal: AbortSignal): Promise<SyncPosition> {
    if (this.#delivering !== undefined) await abortable(this.#delivering, signal);
    return await this.position();
  }

  /**
   * Delivers a committed response to handlers, until they have been started: `waitSync` ones have settled.
   *
   * @param limit A delivery that takes longer goes on by itself. Default: it is waited for.
   */
  async deliver(taken: TakenSync, limit?: AbortSignal): Promise<void> {
    const delivered = this.#deliver(taken);
    const { trace } = taken;
    if (trace !== undefined) delivered.then(() => trace.end(), (error) => trace.end(error));
    if (limit === undefined) return await delivered;
    this.#delivering = delivered.catch(() => {}); // the Dispatcher's `done` rejects with it, too
    await abortable(delivered, limit).catch((error) => {
      if (!limit.aborted || limit.reason instanceof ActorStoppedError) throw error;
    });
  }

  /** Delivers an event of Greenroom's own, if it has handlers. */
  async announce(event: InternalDelivery): Promise<void> {
    const { deliverer, dispatcher } = this.#syncer;
    if (deliverer.wantsInternal(event.type)) await dispatcher.announce(event);
  }

  async #deliver({ parts, context, recovered, committed, trace }: TakenSync): Promise<void> {
    const { dispatcher, deliverer } = this.#syncer;
    const known = await committed;
    const place = trace && { trace: trace.parent };
    if (recovered.length > 0) await dispatcher.recover({ events: recovered, ...place });
    const tellsKeys = deliverer.wantsInternal(InternalEventType.DEVICE_OTK_COUNT) ||
      deliverer.wantsInternal(InternalEventType.DEVICE_LISTS);
    const batch = syncBatch(parts, context, { ...known, tellsKeys });
    this.batch = await dispatcher.dispatch(place === undefined ? batch : { ...batch, ...place });
    this.#dispatched = parts.nextBatch;
  }
}

export const NEVER_SEEN: RememberedRoom = { isJoined: false, shown: "", entries: [] };

/** How much is remembered of rooms, in characters: 10 MB at most, with some 100 bytes for each room. */
const CAPACITY = 8_000_000;
const WEIGHT_OF_ROOM = 100;

/**
 * Remembers rooms from one response to the next. The Store has what was forgotten, as far as it was
 * handled.
 */
export class RoomMemory {
  readonly #store: ActorRef<StoreHandlers>;
  readonly #rooms = new RecentMap<RoomID, RememberedRoom>(CAPACITY);

  /** @param store Has what earlier processes have handled. */
  constructor(store: ActorRef<StoreHandlers>) {
    this.#store = store;
  }

  /**
   * What was remembered of rooms before a response. A promise if the Store has to be asked.
   *
   * @param rooms The parts of the response.
   * @param own The acting user.
   */
  views(rooms: readonly RoomPart[], own: UserID): StayView[] | Promise<StayView[]> {
    const views: StayView[] = [];
    const unknown: { readonly index: number; readonly roomId: RoomID }[] = [];
    for (const { roomId } of rooms) {
      const known = this.#rooms.get(roomId);
      if (known === undefined) unknown.push({ index: views.length, roomId });
      views.push({ own, before: known ?? NEVER_SEEN });
    }
    if (unknown.length === 0) return views; // the usual case
    return this.#store.remembered(unknown.map(({ roomId }) => roomId)).then((recalled) => {
      for (const [place, { index }] of unknown.entries()) {
        views[index] = { own, before: recalled[place] ?? NEVER_SEEN };
      }
      return views;
    });
  }

  /**
   * Remembers the rooms of a response that is about to be delivered. Returns a function that undoes
   * it.
   */
  remember({ rooms }: SyncParts): () => void {
    for (const { roomId, news } of rooms) {
      if (news === undefined) continue;
      const { before, after, added } = news;
      // A room that the user was removed from and is invited to again is in two sections.
      if (after.isJoined || added !== "") this.#set(roomId, after);
      else this.#set(roomId, { ...this.#rooms.get(roomId) ?? before, isJoined: false });
    }
    return () => {
      for (const { roomId, news } of rooms.toReversed()) this.#set(roomId, news?.before);
    };
  }

  /** Forgets everything: the Store is asked then. */
  clear(): void {
    this.#rooms.clear();
  }

  /** Remembers a room. Undefined forgets it: the Store is asked then. */
  #set(roomId: RoomID, room: RememberedRoom | undefined): void {
    if (room === undefined) this.#rooms.remove(roomId);
    else this.#rooms.set(roomId, room, room.shown.length + WEIGHT_OF_ROOM);
  }
}

/** No homeserver is restored in this time, in milliseconds. */
const UNNOTICED = 1_000;

/**
 * Which rooms are known not to be encrypted: the server has said so while nothing can have been left out,
 * and a sync would show that they have become it.
 *
 * A homeserver that was restored from a backup counts on from an earlier place than the one up to which this
 * client has been told. What happens there until the places meet again is never shown, and that may be the
 * encryption of a room. Nothing in a response tells it. But such a server was away, so that a sync has
 * failed, or there was a time without one.
 */
export class ClearRooms {
  readonly #clock: Clock;
  readonly #rooms = new Set<RoomID>();
  /** Counts from when on what the server said is remembered. */
  #stretch = 0;
  /** Whether what comes next may leave something out. */
  #isCut = true;
  #lastAnswer = -Infinity;

  /** @param clock The wall clock. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a sync has failed. */
  interrupted(): void {
    this.#isCut = true;
    this.#begin();
  }

  /** Notes a response. After one that goes on from where it began, all that happens is shown. */
  answered({ since, nextBatch, asked }: SyncAnswer): void {
    // A request that was under way before the last response has left no time without one.
    if (asked - this.#lastAnswer > UNNOTICED) this.interrupted();
    this.#lastAnswer = this.#clock.now();
    if (!this.#isCut || since === nextBatch) return;
    this.#isCut = false;
    this.#begin();
  }

  /** Whether a room is known not to be encrypted. */
  has(roomId: RoomID): boolean {
    return this.#rooms.has(roomId);
  }

  /** Begins to ask the server about a room; what is returned notes that it is not encrypted. */
  asks(roomId: RoomID): () => void {
    const stretch = this.#stretch;
    return () => {
      if (!this.#isCut && stretch === this.#stretch) this.#rooms.add(roomId);
    };
  }

  #begin(): void {
    this.#stretch++;
    this.#rooms.clear();
  }
}
