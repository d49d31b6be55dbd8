/**
 * Servers whose answers look otherwise.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
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

/** Leaves the room of events out of pages of a room, as several servers do. */
export class NoRoomIds implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!/\/(?:messages|context\/[^/]+)$/.test(request.url.pathname)) {
      return response;
    }
    return await changed(response, (body) => {
      const { chunk = [], state = [], events_before = [], events_after = [], event } = body;
      for (const each of [...chunk, ...state, ...events_before, ...events_after, event ?? {}]) {
        if (each.room_id === undefined) continue;
        delete each.room_id;
        this.#place.does();
      }
    });
  }
}

/** Says that timelines are limited in front of which nothing is missing. */
export class LimitedWithoutNeed implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request)) return response;
    return await changedSync(response, { device }, (body) => {
      for (const [, { timeline }] of joinedIn(body)) {
        if (timeline === undefined || timeline.limited || !this.#place.chance.odds(0.4)) continue;
        timeline.limited = true;
        this.#place.does();
      }
    });
  }
}

/**
 * Shows timelines without events: of rooms where nothing was said, and of others with all of it in the gap.
 */
export class EmptyTimelines implements Layer {
  readonly #place: QuirkPlace;
  /** By device, the rooms that it was shown as joined. */
  readonly #rooms = new Map<Device, Set<string>>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request)) return response;
    const since = sinceOf(request);
    return await changedSync(response, { device }, (body) => {
      const rooms = this.#rooms.getOrInsertComputed(device, () => new Set());
      if (since !== null) { for (const [, room] of joinedIn(body)) this.#empty(room, body.next_batch); }
      if (since !== null && since !== body.next_batch) this.#add(body, { device, since, rooms });
      for (const [room] of joinedIn(body)) rooms.add(room);
    });
  }

  /** Has all that a timeline shows be in the gap before it. */
  #empty({ timeline }: Json, nextBatch: string): void {
    const { chance, does } = this.#place;
    if (timeline === undefined || timeline.events.length === 0) return;
    if (timeline.events.some(({ state_key }: Json) => state_key !== undefined) || !chance.odds(0.3)) return;
    Object.assign(timeline, { events: [], limited: true, prev_batch: pageOf(nextBatch) });
    does("with a gap");
  }

  /** Adds rooms in which nothing was said. */
  #add(
    body: Json,
    { device, since, rooms }: {
      readonly device: Device;
      readonly since: string;
      readonly rooms: Set<string>;
    },
  ): void {
    const { chance, homeserver, tokens, does } = this.#place;
    for (const room of rooms) {
      if (["join", "leave", "invite"].some((section) => body.rooms?.[section]?.[room]) || !chance.odds(0.3)) {
        continue;
      }
      const membership = homeserver.room(room as never).events.findLast(({ type, state_key }) =>
        type === "m.room.member" && state_key === device.userId
      );
      if (membership?.content.membership !== "join") continue;
      if (membership.origin_server_ts > (tokens.get(since) ?? -Infinity)) continue;
      const timeline = { events: [], limited: chance.odds(0.5), prev_batch: pageOf(since) };
      ((body.rooms ??= {}).join ??= {})[room] = { timeline };
      does();
    }
  }
}

/** The token of `/messages` for where a token of syncs is. */
function pageOf(token: string): string {
  return classicToken(token).replace(/^s(\d+)_.*/, "t$1");
}

/** The names of the parameter that asks for the state after a timeline, the newer one first. */
const STATE_AFTER = ["use_state_after", "org.matrix.msc4222.use_state_after"];

/** Answers with the state before the timeline to who asks for that after it. */
export class StateBefore implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ request }: Asked, next: Next): Promise<Response> {
    if (!isClassicSync(request)) return await next(request);
    const url = new URL(request.url);
    for (const name of STATE_AFTER) url.searchParams.delete(name);
    this.#place.does();
    return await next({ ...request, url });
  }
}

/** Answers with the state after the timeline, under the name by which it was asked for. */
export class StateAfter implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ request }: Asked, next: Next): Promise<Response> {
    const [stable = "", unstable = ""] = STATE_AFTER;
    const { searchParams } = request.url;
    if (!isClassicSync(request) || !(searchParams.has(stable) || searchParams.has(unstable))) {
      return await next(request);
    }
    const url = new URL(request.url);
    url.searchParams.delete(stable);
    url.searchParams.set(unstable, "true");
    const response = await next({ ...request, url });
    this.#place.does();
    if (!searchParams.has(stable)) return response;
    return await changed(response, (body) => {
      for (
        const room of [
          ...Object.values<Json>(body.rooms?.join ?? {}),
          ...Object.values<Json>(body.rooms?.leave ?? {}),
        ]
      ) {
        room.state_after = room["org.matrix.msc4222.state_after"];
        delete room["org.matrix.msc4222.state_after"];
      }
    });
  }
}

/** What an empty page has its token from: where it stands, and that. */
const EMPTY = /~\d+$/;

/** Answers to `/messages` that are short, begin with what the page before ended with, or are empty. */
export class OddPages implements Layer {
  readonly #place: QuirkPlace;
  /** By device, and where a page begins, the last event of the one before. */
  readonly #lasts = new Map<Device, Map<string, Json>>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    if (!request.url.pathname.endsWith("/messages")) return await next(request);
    const { chance, does } = this.#place;
    const url = new URL(request.url);
    const asked = url.searchParams.get("from") ?? "";
    const from = asked.replace(EMPTY, "");
    if (asked !== "") url.searchParams.set("from", from);
    if (from !== "" && asked === from && chance.odds(0.2)) {
      does("with nothing");
      return Response.json({ start: from, end: `${from}~${chance.below(1_000)}`, chunk: [] });
    }
    const limit = Number(url.searchParams.get("limit") ?? 10);
    if (chance.odds(0.6)) url.searchParams.set("limit", String(Math.min(limit, 1 + chance.below(3))));
    const response = await next({ ...request, url });
    const lasts = this.#lasts.getOrInsertComputed(device, () => new Map());
    const room = roomOf(request);
    return await changed(response, (body) => {
      const before = lasts.get(`${room} ${from}`);
      const last = body.chunk.at(-1);
      if (body.end !== undefined && last !== undefined) {
        lasts.set(`${room} ${body.end}`, structuredClone(last));
      }
      if (before === undefined || !chance.odds(0.5)) return;
      body.chunk.unshift(before);
      does("that overlap");
    });
  }
}

/** What a token that has moved has behind that of the homeserver in the process. */
const MOVED = /\+\d+$/;
/** For how long tokens move, and how often that begins, in milliseconds. */
const [MOVING, EVERY] = [20_000, 900_000];

/** Answers at once for a while, with nothing and another token each time. */
export class TokensMove implements Layer {
  readonly #place: QuirkPlace;
  #moves = 0;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ request }: Asked, next: Next): Promise<Response> {
    const since = request.url.searchParams.get("since");
    if (!isClassicSync(request) || since === null) return await next(request);
    const { timeline, tokens, does } = this.#place;
    const url = new URL(request.url);
    url.searchParams.set("since", since.replace(MOVED, ""));
    const moves = timeline.now % EVERY < MOVING;
    if (moves) url.searchParams.set("timeout", "0");
    const response = await next({ ...request, url });
    if (!moves) return response;
    does();
    return await changed(response, (body) => {
      const moved = `${body.next_batch}+${++this.#moves}`;
      tokens.set(moved, tokens.get(body.next_batch) ?? timeline.now);
      body.next_batch = moved;
    });
  }
}
