/**
 * Servers that show again what they have shown.
 *
 * @module
 */

import { STATE_TYPES } from "../actions/state.ts";
import type { Device } from "../world/device.ts";
import type { SentRequest } from "../world/process.ts";
import { classicToken, isClassicSync, isSync, sinceOf } from "../world/sync_view.ts";
import {
  type Asked,
  changed,
  changedSync,
  joinedIn,
  type Json,
  type Layer,
  type Next,
  type QuirkPlace,
  roomOf,
} from "./quirk.ts";

/** How often a timeline has something in it again. */
const AGAIN = 0.4;
/** How far back what is shown again stands at most: Greenroom remembers 64 events of a room. */
const LATEST = 48;

/**
 * Shows events again, at any place of a later timeline, or of the same, or of a page of a gap. What begins
 * a stream, or a room on a connection, goes on from nothing: the server reads that in one piece, and a client
 * has nothing but its place in there to tell what is new.
 */
export class ShownAgain implements Layer {
  readonly #place: QuirkPlace;
  /** By device and room, the events that it was shown, by their IDs. */
  readonly #shown = new Map<Device, Map<string, Map<string, Json>>>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    const rooms = this.#shown.getOrInsertComputed(device, () => new Map());
    if (request.url.pathname.endsWith("/messages")) return await this.#page(request, { response, rooms });
    if (!isSync(request)) return response;
    const since = sinceOf(request);
    return await changedSync(response, { device }, (body) => {
      for (const [room, { timeline, initial }] of joinedIn(body)) {
        if (timeline === undefined) continue;
        const shown = rooms.getOrInsertComputed(room, () => new Map());
        const before = since === null || initial === true ? [] : this.#before(room, { shown, since });
        for (const event of timeline.events) shown.set(event.event_id, event);
        const own = new Set(timeline.events.map(({ event_id }: Json) => event_id));
        this.#put(timeline, before.filter(({ event_id }) => !own.has(event_id)));
      }
    });
  }

  /** Shows something of before a gap again in it. */
  async #page(
    request: SentRequest,
    { response, rooms }: { readonly response: Response; readonly rooms: Map<string, Map<string, Json>> },
  ): Promise<Response> {
    const { chance, does } = this.#place;
    const [room, since] = [roomOf(request) ?? "", request.url.searchParams.get("to")];
    const shown = rooms.get(room);
    if (shown === undefined || since === null) return response;
    return await changed(response, ({ chunk }) => {
      const ids = new Set(chunk.map(({ event_id }: Json) => event_id));
      const before = this.#before(room, { shown, since }).filter(({ event_id }) => !ids.has(event_id));
      if (before.length === 0 || chunk.length === 0 || !chance.odds(AGAIN)) return;
      chunk.splice(chance.below(chunk.length + 1), 0, {
        ...structuredClone(chance.pick(before)),
        room_id: room,
      });
      does("in a gap");
    });
  }

  /**
   * The latest that was shown before a token was given, as it is now;
   * of state that Greenroom goes by only what is in force: a server may mean that it is again.
   */
  #before(
    room: string,
    { shown, since }: { readonly shown: Map<string, Json>; readonly since: string },
  ): Json[] {
    const { tokens, homeserver } = this.#place;
    const until = tokens.get(since) ?? tokens.get(classicToken(since)) ?? -Infinity;
    const events = homeserver.room(room as never).events;
    const latest = events.filter(({ origin_server_ts }) => origin_server_ts <= until).slice(-LATEST);
    return latest.filter((event) => {
      const { type, state_key } = event;
      if (!shown.has(event.event_id)) return false;
      const index = events.indexOf(event);
      return state_key === undefined || STATE_TYPES.includes(type) ||
        !events.some((other, at) => at > index && other.type === type && other.state_key === state_key);
    }).map(({ event_id, content }) => ({ ...shown.get(event_id), content }));
  }

  #put(timeline: Json, before: readonly Json[]): void {
    const { chance, does } = this.#place;
    const { events } = timeline;
    while (events.length > 0 && chance.odds(AGAIN)) {
      const isOwn = before.length === 0 || chance.odds(0.3);
      if (isOwn) {
        const at = chance.below(events.length);
        if (events[at].state_key !== undefined && !STATE_TYPES.includes(events[at].type)) continue;
        events.splice(at + 1 + chance.below(events.length - at), 0, structuredClone(events[at]));
      } else {
        // A gap ends where a timeline begins with what was shown.
        const first = timeline.limited === true ? 1 : 0;
        events.splice(
          first + chance.below(events.length + 1 - first),
          0,
          structuredClone(chance.pick(before)),
        );
      }
      does();
    }
  }
}

/** Shows the own join a second time in the timeline that it is in, as Synapse with workers does. */
export class OwnJoinTwice implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request)) return response;
    return await changedSync(response, { device }, (body) => {
      for (const [, { timeline }] of joinedIn(body)) this.#repeat(timeline?.events ?? [], device.userId);
    });
  }

  #repeat(events: Json[], userId: string): void {
    const { chance, does } = this.#place;
    const at = events.findLastIndex(({ type, state_key, content }) =>
      type === "m.room.member" && state_key === userId && content.membership === "join"
    );
    if (at < 0) return;
    const again = structuredClone(events[at]);
    if (chance.odds(0.3)) delete again.unsigned?.prev_content;
    events.splice(at + 1 + chance.below(events.length - at), 0, again);
    does();
  }
}

/** For how long Synapse keeps an answer to a sync, in milliseconds. */
const CACHED = 120_000;
/** What Synapse tells two syncs of a device apart by. */
const TELLING = [
  "timeout",
  "since",
  "filter",
  "full_state",
  "use_state_after",
  "org.matrix.msc4222.use_state_after",
];

/**
 * Answers a sync as the same one was answered within the last two minutes, as Synapse does.
 * In half of the worlds any sync from the same token is the same, as by a worker that is behind.
 */
export class CachedAnswers implements Layer {
  readonly #place: QuirkPlace;
  readonly #answers = new Map<string, { readonly answer: Promise<Response>; until: number }>();
  readonly #isBehind: boolean;

  constructor(place: QuirkPlace) {
    this.#place = place;
    this.#isBehind = place.chance.odds(0.5);
  }

  forget(): void {
    this.#answers.clear();
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    if (!isClassicSync(request)) return await next(request);
    const { searchParams } = request.url;
    const isBehind = this.#isBehind && searchParams.has("since");
    const telling = isBehind ? ["since"] : TELLING;
    const key = JSON.stringify([device.deviceId, ...telling.map((name) => searchParams.get(name))]);
    const { timeline: { now }, does } = this.#place;
    const known = this.#answers.get(key);
    if (known !== undefined && now < known.until) {
      does();
      if (isBehind) device.laggedAt = now;
      return (await known.answer).clone();
    }
    const answer = next(request);
    const kept = { answer, until: Infinity };
    this.#answers.set(key, kept);
    const drop = (): void => {
      if (this.#answers.get(key) === kept) this.#answers.delete(key);
    };
    try {
      const response = await answer;
      const waits = isBehind || Number(searchParams.get("timeout") ?? 0) > 0 && searchParams.has("since") &&
          !searchParams.has("full_state");
      const { next_batch } = response.ok ? await response.clone().json() : { next_batch: undefined };
      if (!response.ok || waits && next_batch === searchParams.get("since")) drop();
      else kept.until = this.#place.timeline.now + CACHED;
      return response.clone();
    } catch (error) {
      drop();
      throw error;
    }
  }
}
