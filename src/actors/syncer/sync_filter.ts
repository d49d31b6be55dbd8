/**
 * The filter of a sync: uploaded once, and remembered.
 *
 * @module
 */

import { MatrixRequestError } from "../../errors/request_error.ts";
import type { Filter, RoomEventFilter } from "../../types/api/filter.ts";
import type { FilterID } from "../../types/ids.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { SyncSettings } from "./start_options.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";
import type { SyncContext } from "./sync_batch.ts";
import type { SyncRequests } from "./sync_requests.ts";

/** What servers let through where the filter says nothing. */
const DEFAULT_LIMIT = 10;

/** Knows the ID of the filter that the settings describe. */
export class SyncFilter {
  readonly #requests: Pick<SyncRequests, "createFilter">;
  readonly #store: ActorRef<StoreProtocol>;
  readonly #filter: FilterID | Filter | undefined;
  /** What the server knows the filter by: asked for once, since a sync in a loop is made thousands of times. */
  #id: FilterID | undefined;

  /**
   * @param settings Say what to sync.
   * @param requests Upload a filter.
   * @param store Remembers it.
   */
  constructor(
    { filterData, lazyLoadMembers }: SyncSettings,
    requests: Pick<SyncRequests, "createFilter">,
    store: ActorRef<StoreProtocol>,
  ) {
    this.#requests = requests;
    this.#store = store;
    this.#filter = lazyLoadMembers === true && typeof filterData !== "string"
      ? lazily(filterData)
      : filterData;
  }

  /** Which members it lets through. Of a filter of which only the ID is known nobody knows. */
  get members(): SyncContext["members"] {
    if (this.#filter === undefined) return "all";
    if (typeof this.#filter === "string" || this.#filter.event_fields !== undefined) return "some";
    const { state, timeline } = this.#filter.room ?? {};
    if (chooses(state) || state?.limit !== undefined || chooses(timeline)) return "some";
    return state?.lazy_load_members === true ? "lazy" : "all";
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

  /** Makes a request with the filter. A remembered one that the server has forgotten is uploaded anew. */
  async use<Result>(request: (filterId: FilterID | undefined) => Promise<Result>): Promise<Result> {
    const filter = this.#filter;
    if (typeof filter !== "object") return await request(filter);
    const known = this.#id ?? await this.#remembered(filter);
    if (known === undefined) return await request(await this.#upload(filter));
    this.#id = known;
    try {
      return await request(known);
    } catch (error) {
      const refused = error instanceof MatrixRequestError && (error.status === 400 || error.status === 404);
      if (!refused) throw error;
      return await request(await this.#upload(filter));
    }
  }

  /** The ID that the Store knows the filter by, if it knows this one. */
  async #remembered(filter: Filter): Promise<FilterID | undefined> {
    const { filter: remembered } = await this.#store.ask("position", undefined);
    return remembered?.definition === JSON.stringify(filter) ? remembered.id : undefined;
  }

  async #upload(filter: Filter): Promise<FilterID> {
    this.#id = undefined;
    const id = await this.#requests.createFilter(filter);
    await this.#store.ask("saveFilter", { id, definition: JSON.stringify(filter) });
    return this.#id = id;
  }
}

/** Whether a filter leaves out events by what they are. */
function chooses({ types, not_types, senders, not_senders, contains_url }: RoomEventFilter = {}): boolean {
  return [types, not_types, senders, not_senders, contains_url].some((choice) => choice !== undefined);
}

function lazily(filter: Filter = {}): Filter {
  const state = { ...filter.room?.state, lazy_load_members: true };
  return { ...filter, room: { ...filter.room, state } };
}
