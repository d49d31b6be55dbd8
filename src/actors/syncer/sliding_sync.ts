/**
 * Reads by sliding sync, or by the classic sync, whichever of them has written the position. Loaded late.
 *
 * A connection of sliding sync shows the rooms with the latest news first, and then more and more, each at
 * first as it is. The server forgets a position once the next one is used: so each answer is kept until it is
 * handled, and a process that goes on from what was handled reads what was kept before it asks.
 *
 * After an absence the newest rooms of a connection come first, too, and then all others.
 *
 * Where no connection goes on, since the server has forgotten it or the classic sync has read so far, another
 * one begins; what was shown before is left out of it.
 *
 * Over 300 lines because what a process has seen decides what it asks next, and what of an answer is news.
 *
 * @module
 */

import type { AllAPI } from "../../api/api.ts";
import {
  freshFilter,
  type SlidingAnswer,
  slidingLack,
  type SlidingSpelling,
  slidingSpelling,
} from "../../api/server/server.ts";
import type { Session } from "../../api/http/mod.ts";
import { backoff, type Clock, elapsed } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { UnrecognizedError } from "../../errors/errcodes.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { PresenceState } from "../../types/enums.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { RoomID, SyncToken } from "../../types/ids.ts";
import { isList, isSameJson, objectOf } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { HandlerRegistry } from "../dispatcher/dispatcher.ts";
import type { StoreHandlers } from "../store/mod.ts";
import { typesBesideMembers } from "./lazy_state.ts";
import { NOTHING, syncBackoff, UnsupportedSyncError } from "./sync_failure.ts";
import type { SlideOptions } from "./syncer_options.ts";
import { keptResponse, type SyncWay, type SyncWindow, WINDOW } from "./window.ts";
import {
  askedFrom,
  type ClassicAnswer,
  classicAnswer,
  classicToken,
  invitationIn,
  requestToken,
  type SlidingPlace,
  slidingPlace,
} from "./sliding_codec.ts";

/** What a {@link SlidingSync} works with. */
export interface SlidingSyncOptions {
  /** The way to the server. */
  readonly api: Pick<AllAPI, "sync" | "getJoinedRooms" | "uploadKeys">;
  /** Says who acts. */
  readonly session: Session;
  /** By which sync the client reads; `auto`: by sliding sync where the server has it. */
  readonly sync: SyncWay;
  /** Whether there is encryption, for which one-time keys count. */
  readonly isEncrypted: boolean;
  /** The rooms that are shown at once. */
  readonly followed: ReadonlySet<RoomID>;
  /** Says which types of state have a handler: they come beside members that are loaded lazily. */
  readonly registry: Pick<HandlerRegistry, "stateTypes">;
  /** Keeps answers, and has the rooms of earlier ones. */
  readonly store: Pick<
    ActorRef<StoreHandlers>,
    "getState" | "keepResponse" | "keptResponse" | "position" | "rooms"
  >;
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs what is lost. */
  readonly log: Logger;
}

type WindowedResponse = SyncResponse & { readonly [WINDOW]?: SyncWindow };

/** Rooms that the user is not in, as a response has them. */
type Outside = Record<
  string,
  { readonly [State in "invite_state" | "knock_state"]?: { readonly events?: unknown } }
>;

/** What a response says of the keys that the server has of the device. */
type KeysLeft = Pick<SyncResponse, "device_one_time_keys_count" | "device_unused_fallback_key_types">;

const CONNECTION = "greenroom"; // a device has one
/** How many events of a room come at most: as many as in the classic sync, where the filter does not say. */
const TIMELINE_LIMIT = 10;
/** How many messages to the device one answer has at most: Synapse gives no more. */
const MESSAGES = 100;
/** How long a count of keys holds where none is said, in milliseconds: a server may have lost a change. */
const COUNTED = 20 * 60_000;

/** Reads responses. */
export class SlidingSync {
  readonly #options: SlidingSyncOptions;
  /** The spelling of the homeserver, as it said last; undefined: it has not been asked. */
  #spelling: { readonly of: SlidingSpelling | undefined; readonly lack: string } | undefined;
  /** What the user is to rooms, as of the last response; undefined: the Store has not been asked. */
  #memberships: Map<string, string> | undefined;
  /** By room, the latest invitation of the user. */
  readonly #invitations = new Map<string, string>();
  /** The rooms that this process has seen on the connection, as long as not all have been shown. */
  readonly #seen = new Set<string>();
  /** What the server has said of the keys that it has of the device: it need not say it again. */
  #keys: KeysLeft = {};
  /** When it was said or asked last how many keys are left, in milliseconds since the epoch. */
  #countedAt = -Infinity;
  /** The token that the last response ended with, if it was one that had been kept. */
  #keptEnd: SyncToken | undefined;
  #losses = 0; // connections in a row
  /** How many answers in a row had messages to the device without a token behind them. */
  #repeats = 0;
  #hasAsked = false;

  /** @param options What it works with. */
  constructor(options: SlidingSyncOptions) {
    this.#options = options;
  }

  /** Asks what is new since a place, which either sync has written. */
  async sync(options: SlideOptions): Promise<WindowedResponse> {
    const { since } = options;
    const { store } = this.#options;
    // Before anything is taken in that the Store has not committed yet.
    this.#memberships ??= await this.#known();
    const kept = await store.keptResponse({ since });
    if (kept !== undefined) {
      const [response, window] = JSON.parse(kept) as [SyncResponse, SyncWindow];
      this.#note(response);
      this.#keptEnd = response.next_batch;
      const { pages = [] } = window;
      return Object.assign(response, {
        [WINDOW]: { ...window, hasMore: true, isKept: true as const, pages },
      });
    }
    // After what was kept, the first request does not wait for news: the server may have some already.
    const response = await this.#read(since === this.#keptEnd ? { ...options, timeout: 0 } : options);
    this.#keptEnd = undefined;
    return response;
  }

  /** What the user is to the rooms of the Store. */
  async #known(): Promise<Map<string, string>> {
    const { store, session } = this.#options;
    const rooms = await store.rooms();
    for (const { roomId, membership } of rooms) {
      if (membership !== "invite" && membership !== "knock") continue;
      const member = await store.getState({ roomId, type: "m.room.member", stateKey: session.mxid });
      const invitation = invitationIn([member], session.mxid);
      if (invitation !== undefined) this.#invitations.set(roomId, invitation);
    }
    return new Map(rooms.map(({ roomId, membership }) => [roomId, membership]));
  }

  /** Reads by the sync that goes on from a place. */
  async #read(options: SlideOptions): Promise<WindowedResponse> {
    const { isLazy: _, ...classic } = options;
    const { since, signal } = classic;
    const { api, store, sync } = this.#options;
    const place = slidingPlace(since);
    if (sync === "sliding" || (sync === "auto" && await this.#spelled(signal) !== undefined)) {
      if (place !== undefined) return await this.#goOn(place, options);
      if (!await this.#isHandled(since)) return await api.sync(classic); // shows what was not handled
      if (since === undefined) {
        const isFirst = (await store.position()).anew === undefined;
        return await this.#begin({ isFirst, isBehind: false }, options);
      }
      await this.#spell(signal);
      await this.#acknowledge(since, signal);
      return await this.#begin({ base: since, isFirst: false, isBehind: false }, options);
    }
    if (place === undefined) return await api.sync(classic);
    // The classic token of a place is ahead of rooms that were not shown, and messages that did not come.
    const isShown = place.shown === undefined && !place.isBehind;
    if (!isShown && await this.#spelled(signal) !== undefined) return await this.#goOn(place, options);
    // Of a place with lazily loaded members, it is ahead of state that was not asked for.
    const isWhole = isShown && place.isLazy !== true;
    // Without sliding sync, the messages to the device that have come must not come again.
    if (!isWhole && !place.isBehind) await this.#acknowledge(classicToken(place), signal);
    const isNeverShown = place.isBehind || place.isFirst || place.isLazy === true;
    const token = isWhole ? classicToken(place) : isNeverShown ? undefined : place.base;
    const response = await api.sync({ ...classic, since: token });
    const window = {
      ...(token !== undefined && { since: token }),
      initial: token === undefined ? Object.keys(response.rooms?.join ?? {}) : [],
      isWhole: false, // the application's filter may leave some out
      isGrowing: !isWhole,
      isFirst: place.isFirst,
      isNew: token === undefined,
      hasMore: false,
    };
    return Object.assign(response, { [WINDOW]: window });
  }

  /** Whether all that the classic sync has brought has been handled: it alone gives that again. */
  async #isHandled(since: SyncToken | undefined): Promise<boolean> {
    const { handled, nextBatch, again, anew } = await this.#options.store.position();
    if (since === undefined) return anew !== undefined || nextBatch === undefined;
    return handled === since && nextBatch === since && again === undefined;
  }

  /** The next answer of a connection; or the first of another, if the server has forgotten it. */
  async #goOn(place: SlidingPlace, options: SlideOptions): Promise<WindowedResponse> {
    const { signal } = options;
    // To the other form the position is garbage, which no server tells from a token that it has forgotten.
    const isOther = (place.isToken ?? false) !== (await this.#spell(signal)).isToken;
    // What a connection has not shown of rooms, it does not show when more is asked for: another one does.
    const { isLazy = place.isLazy ?? false } = options;
    if (isOther || isLazy !== (place.isLazy ?? false)) return await this.#anew(place, options);
    try {
      const response = await this.#ask(place, options);
      this.#losses = 0;
      return response;
    } catch (error) {
      if (!(error instanceof MatrixRequestError && error.errcode === "M_UNKNOWN_POS")) throw error;
    }
    const { clock, log } = this.#options;
    const wait = this.#losses === 0 ? 0 : backoff(this.#losses - 1, syncBackoff());
    this.#losses++;
    log.warn("The homeserver has forgotten the connection of sliding sync: starting another", {
      waiting: Math.round(wait),
    });
    if (wait > 0) await clock.delay(wait, { signal });
    return await this.#anew(place, options);
  }

  /** The first answer of a connection behind another one. */
  async #anew(place: SlidingPlace, options: SlideOptions): Promise<WindowedResponse> {
    const { toDevice, isFirst, isBehind, base = isFirst ? undefined : requestToken(place) } = place;
    const before = { ...(toDevice !== undefined && { toDevice }), ...(base !== undefined && { base }) };
    return await this.#begin({ ...before, isFirst, isBehind }, options);
  }

  async #begin(place: SlidingPlace, options: SlideOptions): Promise<WindowedResponse> {
    this.#seen.clear();
    return await this.#ask({ ...place, shown: 0, ...(options.isLazy && { isLazy: true }) }, options);
  }

  async #ask(place: SlidingPlace, options: SlideOptions): Promise<WindowedResponse> {
    const { since, timeout = 0, setPresence, signal } = options;
    const { session, followed, registry, store, clock } = this.#options;
    const spelling = await this.#spell(signal);
    const before = this.#memberships ?? new Map<string, string>();
    const minute = Math.floor(clock.now() / 60_000);
    if (this.#repeats > 0) {
      await clock.delay(Math.round(backoff(this.#repeats - 1, syncBackoff())), { signal });
    }
    const from = askedFrom(place, { rooms: before.size, minute: this.#hasAsked ? undefined : minute });
    const answer = await spelling.ask(session, {
      connection: CONNECTION,
      pos: place.pos,
      timeout: from.shown !== undefined || from.base !== undefined || from.isBehind ? 0 : timeout,
      rooms: from.shown,
      followed: from.shown === undefined ? [] : [...followed],
      events: TIMELINE_LIMIT,
      lazily: from.isLazy ? typesBesideMembers(registry.stateTypes) : undefined,
      toDevice: { since: place.toDevice, limit: MESSAGES },
      presence: setPresence,
      signal,
    }).catch((error) => {
      if (error instanceof UnrecognizedError) this.#spelling = undefined; // it may have changed
      throw error;
    });
    this.#hasAsked = true;
    const { isToken } = spelling;
    const known = { own: session.mxid, from, messages: MESSAGES, isToken, minute, memberships: before };
    const classic = classicAnswer(answer, { ...known, invitations: this.#invitations, seen: this.#seen });
    const { response, window, memberships } = classic;
    const isAgain = isList(answer.toDevice.events) && answer.toDevice.events.length > 0 &&
      classic.place.toDevice === place.toDevice;
    this.#repeats = isAgain ? this.#repeats + 1 : 0;
    if (window.isGrowing) await this.#reconcile(classic, signal);
    Object.assign(response, await this.#countKeys(answer, signal));
    // An answer without a new position is given again as it is.
    const isKept = response.next_batch !== since;
    if (isKept) await store.keepResponse(keptResponse(since, [response, window]));
    this.#note(response);
    for (const [roomId, membership] of memberships) before.set(roomId, membership);
    return Object.assign(response, { [WINDOW]: { ...window, ...(isKept && { pages: [] }) } });
  }

  /** Once all rooms were shown, adds those that the user has left by themselves: no connection shows them. */
  async #reconcile(
    { response, place, memberships }: ClassicAnswer,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (const roomId of memberships.keys()) this.#seen.add(roomId);
    if (place.shown !== undefined) return;
    const missing = [...this.#memberships ?? []].filter(([roomId, membership]) =>
      membership === "join" && !this.#seen.has(roomId)
    );
    this.#seen.clear();
    if (missing.length === 0) return;
    const joined = new Set<string>(await this.#options.api.getJoinedRooms({ signal }));
    const { leave = {} } = response.rooms ?? {};
    for (const [roomId] of missing) {
      if (joined.has(roomId)) continue;
      const timeline = { events: [], limited: true, prev_batch: requestToken(place) };
      leave[roomId as RoomID] = { timeline, state_after: { events: [] } };
    }
    response.rooms = { ...response.rooms, leave };
  }

  /** What is not said is as before; how many keys are left is asked where that was not said for long. */
  async #countKeys({ e2ee }: SlidingAnswer, signal: AbortSignal | undefined): Promise<KeysLeft> {
    const { device_one_time_keys_count: said, device_unused_fallback_key_types: fallback } = e2ee;
    const { api, clock, isEncrypted } = this.#options;
    const now = clock.now();
    let counts = this.#keys.device_one_time_keys_count;
    if (said !== undefined) {
      [counts, this.#countedAt] = [objectOf(said) as typeof counts, now];
    } else if (isEncrypted && elapsed(now, this.#countedAt) >= COUNTED) {
      const before = counts;
      counts = await api.uploadKeys({ signal }).catch((error) => {
        if (before === undefined) throw error;
        return before; // it is asked again after a while
      });
      // Where keys were taken, others are about to be uploaded: then it is asked again.
      this.#countedAt = before === undefined || isSameJson(counts, before) ? now : -Infinity;
    }
    this.#keys.device_one_time_keys_count = counts;
    if (Array.isArray(fallback)) this.#keys.device_unused_fallback_key_types = fallback;
    return { ...this.#keys };
  }

  /** Notes the rooms of a response, and the invitations to them. */
  #note({ rooms = {} }: SyncResponse): void {
    const { mxid } = this.#options.session;
    for (
      const [roomId, { invite_state, knock_state }] of Object.entries(
        { ...rooms.invite, ...rooms.knock } as Outside,
      )
    ) {
      const invitation = invitationIn((invite_state ?? knock_state)?.events, mxid);
      if (invitation !== undefined) this.#invitations.set(roomId, invitation);
    }
    for (const membership of ["join", "invite", "knock", "leave"] as const) {
      for (const roomId of Object.keys(rooms[membership] ?? {})) this.#memberships?.set(roomId, membership);
    }
  }

  /** The spelling of the homeserver, which must have one. */
  async #spell(signal: AbortSignal | undefined): Promise<SlidingSpelling> {
    const spelling = await this.#spelled(signal);
    if (spelling !== undefined) return spelling;
    const lack = this.#spelling?.lack;
    this.#spelling = undefined; // the next start asks again
    throw new UnsupportedSyncError(
      `Cannot sync: the homeserver ${lack}; make the option sync "auto", or leave it out: the same store goes on ` +
        "by the classic sync",
    );
  }

  /** The spelling of the homeserver; undefined: it has no sliding sync. */
  async #spelled(signal: AbortSignal | undefined): Promise<SlidingSpelling | undefined> {
    if (this.#spelling === undefined) {
      const { unstable_features: features } = await this.#options.session.versions({ signal });
      this.#spelling = { of: slidingSpelling(features), lack: slidingLack(features) };
    }
    return this.#spelling.of;
  }

  /** Lets the server forget the messages to the device that have come up to a classic token. */
  async #acknowledge(since: SyncToken, signal: AbortSignal | undefined): Promise<void> {
    const presence = { setPresence: PresenceState.OFFLINE };
    await this.#options.api.sync({ since, timeout: 0, filterId: freshFilter(NOTHING), ...presence, signal });
  }
}
