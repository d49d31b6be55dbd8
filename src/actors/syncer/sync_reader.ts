/**
 * Reads the stream of sync responses, the next one early if wanted, and notes which follow one another.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import { freshFilter, type SyncOptions } from "../../api/server/server.ts";
import type { FilterID, SyncToken } from "../../types/ids.ts";
import type { Filter, RoomEventFilter, SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncerOptions, SyncSettings } from "./syncer_options.ts";
import { isJsonObject } from "../../types/json.ts";
import type { FiltersAPI } from "../../api/account/account.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StoreHandlers } from "../store/mod.ts";
import type { SyncContext } from "./sync_batch.ts";
import { SLIDING, type SyncWindow, WINDOW } from "./window.ts";

/** After how long without the first answer it is said that one waits, in milliseconds. */
const LONG_WAIT = 30_000;

/** A response, and when it was requested. */
export interface Read {
  readonly response: SyncResponse & { readonly [WINDOW]?: SyncWindow };
  /** When, in milliseconds of the clock. */
  readonly asked: number;
}

/** Reads, and returns little: a loop would keep the whole response in memory while it waits for the next. */
export async function tokenOf(
  read: () => Promise<Read>,
): Promise<Pick<Read, "asked"> & { nextBatch: SyncToken; isEmpty: boolean; hasMore: boolean }> {
  const { asked, response } = await read();
  const isEmpty = !hasElements(response, "device_unused_fallback_key_types");
  return { asked, nextBatch: response.next_batch, isEmpty, hasMore: response[WINDOW]?.hasMore === true };
}

/** Whether a list in a value, however deep, is not empty, but for that of a name: all news is in lists. */
function hasElements(value: unknown, except?: string): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isJsonObject(value)) return false;
  for (const name in value) if (name !== except && hasElements(value[name])) return true;
  return false;
}

/** Reads one response after the other. */
export class SyncReader {
  readonly #syncer: Pick<SyncerOptions, "requests" | "sync" | "user" | "clearRooms" | "clock" | "log">;
  readonly #run: ReadingRun;
  #discard = new AbortController();
  #signal: AbortSignal;
  #ahead: EarlyRequest | undefined;
  /** Where the last answer ended: who does not go on from there wants to know at once how things are. */
  #end: SyncToken | undefined;

  /**
   * @param syncer What the Syncer is made of.
   * @param run What one run of it reads.
   */
  constructor(
    syncer: Pick<SyncerOptions, "requests" | "sync" | "user" | "clearRooms" | "clock" | "log">,
    run: ReadingRun,
  ) {
    [this.#syncer, this.#run] = [syncer, run];
    this.#signal = AbortSignal.any([run.signal, this.#discard.signal]);
  }

  /**
   * Reads what is new since a token, with the request under way if it is for the same token.
   *
   * @param first What the first response ended with, if it is to be handled once more.
   */
  async read(since: SyncToken | undefined, first?: SyncToken): Promise<Read> {
    if (this.#ahead !== undefined && this.#ahead.since !== since) this.discard();
    const { asked, response } = this.#ahead ?? this.#ask(since, first);
    this.#ahead = undefined;
    return { asked, response: await response };
  }

  /** Requests what is new since a token early, for a later read. */
  readAhead(since: SyncToken): void {
    this.#ahead = this.#ask(since);
    this.#ahead.response.catch(() => {}); // `read()` rejects with it
  }

  /**
   * Resolves when the request has had time to leave. `fetch` sends nothing before the event loop
   * comes round: without a pause the server is idle as long as there is something to do here.
   */
  sent(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    platform.nextTask(() => platform.nextTask(resolve)); // the first is called in the same round
    return promise;
  }

  #ask(since: SyncToken | undefined, first?: SyncToken): EarlyRequest {
    const { requests, sync, user, clearRooms, clock } = this.#syncer;
    const { filter, timeout, fresh } = this.#run;
    const signal = this.#signal;
    const asked = clock.now();
    const slides = sync !== "classic" || (since ?? first)?.startsWith(SLIDING) === true;
    const goesOn = since !== undefined && since === this.#end;
    const ask = (filterId: SyncOptions["filterId"], wait = timeout): Promise<Read["response"]> => {
      const { presence: setPresence } = user;
      const options = { since, setPresence, useStateAfter: true, signal, filterId, timeout: wait };
      return slides ? requests.slide({ ...options, isLazy: filter.isLazy }) : requests.sync(options);
    };
    const answer = goesOn ? filter.use(ask) : filter.useFresh(fresh.name, ask);
    if (!goesOn) this.#watch(answer);
    const response = answer.then((read) => {
      if (!goesOn) fresh.name = freshName();
      this.#end = read.next_batch;
      const { isGrowing = false, hasMore = false } = read[WINDOW] ?? {};
      if (isGrowing || hasMore) clearRooms.interrupted(); // it does not show all rooms
      else clearRooms.answered({ since, nextBatch: read.next_batch, asked });
      return read;
    }, (error) => {
      clearRooms.interrupted();
      throw error;
    });
    return { since, asked, response };
  }

  /** Says that one waits, if it takes long: a server may take minutes to collect what a large account has. */
  #watch(answer: Promise<unknown>): void {
    const { clock, log } = this.#syncer;
    const { signal } = this.#run;
    const answered = new AbortController();
    const over = AbortSignal.any([answered.signal, signal]);
    clock.delay(LONG_WAIT, { signal: over }).then(
      () =>
        log.info("Waiting for the first answer to a sync: the homeserver may have much to collect", {
          waited: LONG_WAIT,
        }),
      () => {},
    );
    answer.finally(() => answered.abort()).catch(() => {}); // `read()` rejects with it
  }

  /** Cancels the early request: another response has to come first. */
  discard(): void {
    this.#ahead = undefined;
    this.#discard.abort();
    this.#discard = new AbortController();
    this.#signal = AbortSignal.any([this.#run.signal, this.#discard.signal]);
  }
}

/** A request under way. */
interface EarlyRequest {
  readonly since: SyncToken | undefined;
  readonly asked: number;
  readonly response: Promise<Read["response"]>;
}

/** What one run of a Syncer reads. */
interface ReadingRun {
  readonly filter: SyncFilter;
  /** What distinguishes the next request that is to be unlike any before. */
  readonly fresh: { name: number };
  /** How long the server may wait for something new, in milliseconds. */
  readonly timeout: number;
  /** Ends the request under way. */
  readonly signal: AbortSignal;
}

/**
 * A number that distinguishes a request from any before, of this process or another.
 * Tries of one request share it, so that the server need not begin anew with each.
 */
export function freshName(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number; // there is one
}

const DEFAULT_LIMIT = 10; // events of a room, where the filter does not say
const MAX_IN_ADDRESS = 4_000; // characters of a filter: servers take 8,000 of a whole address
const MAX_FRESH_WAIT = 1_000; // by how much timeouts of requests differ at most, in milliseconds

/** What uploads a filter, and what remembers it. */
interface FilterKeepers {
  readonly requests: Pick<FiltersAPI, "createFilter">;
  readonly store: ActorRef<StoreHandlers>;
}

/** The filter that the settings describe, by the ID that the server gave it. */
export class SyncFilter {
  readonly #syncer: FilterKeepers;
  readonly #signal: AbortSignal | undefined;
  readonly #filter: FilterID | Filter | undefined;
  /** The filter's ID: requested once, since a client syncs thousands of times. */
  #id: FilterID | undefined;
  /** Whether the settings leave out members. */
  readonly isLazy: boolean;
  /** Which members it lets through: `some` if only the filter's ID is known. */
  readonly members: SyncContext["members"];

  /**
   * @param settings Say what to sync.
   * @param syncer Has what uploads a filter, and what remembers it.
   * @param signal Ends the upload. Default: nothing does.
   */
  constructor(
    { filterData, lazyLoadMembers }: SyncSettings,
    syncer: FilterKeepers,
    signal?: AbortSignal,
  ) {
    this.#syncer = syncer;
    this.#signal = signal;
    this.isLazy = lazyLoadMembers === true;
    this.#filter = this.isLazy && typeof filterData !== "string" ? lazily(filterData) : filterData;
    this.members = membersOf(this.#filter);
  }

  /** What it lets through of timelines, as far as that is known. */
  get timeline(): RoomEventFilter | undefined {
    if (typeof this.#filter !== "object" || this.#filter.room?.timeline === undefined) return undefined;
    const { limit: _, ...timeline } = this.#filter.room.timeline;
    return timeline;
  }

  /** How many events of a room it lets through at once, as far as that is known. */
  get timelineLimit(): number {
    return (typeof this.#filter === "object" ? this.#filter.room?.timeline?.limit : undefined) ??
      DEFAULT_LIMIT;
  }

  /**
   * Makes a request with the filter as it is in no request before.
   *
   * @param name What it differs by.
   * @param request Gets the filter; and by how many milliseconds its timeout is to differ, if the filter
   *   can't: what it has is not known, or is too long for an address, or the server takes none there.
   */
  async useFresh<Result>(
    name: number,
    request: (filterId: FilterID | undefined, wait: number) => Promise<Result>,
  ): Promise<Result> {
    const otherwise = () => this.use((id) => request(id, 1 + name % MAX_FRESH_WAIT));
    if (typeof this.#filter === "string") return await otherwise();
    const filter = freshFilter(this.#filter, name.toString(36));
    if (encodeURIComponent(filter).length > MAX_IN_ADDRESS) return await otherwise();
    try {
      return await request(filter, 0);
    } catch (error) {
      if (!isRefused(error)) throw error;
      return await otherwise();
    }
  }

  /** Makes a request with the filter. If the server has forgotten it, it is uploaded again. */
  async use<Result>(request: (filterId: FilterID | undefined) => Promise<Result>): Promise<Result> {
    const filter = this.#filter;
    if (typeof filter !== "object") return await request(filter);
    const known = this.#id ?? await this.#remembered(filter);
    if (known === undefined) return await request(await this.#upload(filter));
    this.#id = known;
    try {
      return await request(known);
    } catch (error) {
      if (!isRefused(error)) throw error;
      return await request(await this.#upload(filter));
    }
  }

  /** The ID that the Store has of this filter. */
  async #remembered(filter: Filter): Promise<FilterID | undefined> {
    const { filter: remembered } = await this.#syncer.store.position();
    return remembered?.definition === JSON.stringify(filter) ? remembered.id : undefined;
  }

  async #upload(filter: Filter): Promise<FilterID> {
    this.#id = undefined;
    const id = await this.#syncer.requests.createFilter(filter, { signal: this.#signal });
    await this.#syncer.store.saveFilter({ id, definition: JSON.stringify(filter) });
    return this.#id = id;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof MatrixRequestError && (error.status === 400 || error.status === 404);
}

function membersOf(filter: FilterID | Filter | undefined): SyncContext["members"] {
  if (filter === undefined) return "all";
  if (typeof filter === "string" || filter.event_fields !== undefined) return "some";
  const { state, timeline } = filter.room ?? {};
  if (chooses(state) || state?.limit !== undefined || chooses(timeline)) return "some";
  return state?.lazy_load_members === true ? "lazy" : "all";
}

/** Whether a filter leaves out events by what they are. */
function chooses({ types, not_types, senders, not_senders, contains_url }: RoomEventFilter = {}): boolean {
  return [types, not_types, senders, not_senders, contains_url].some((choice) => choice !== undefined);
}

function lazily(filter: Filter = {}): Filter {
  const state = { ...filter.room?.state, lazy_load_members: true };
  return { ...filter, room: { ...filter.room, state } };
}
