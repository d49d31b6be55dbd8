/**
 * Servers that say no for a moment, or take their time.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import type { SentRequest } from "../world/process.ts";
import { isClassicSync, isSync, sinceOf, timeoutOf, withoutWait } from "../world/sync_view.ts";
import { type Asked, changedSync, type Layer, type Next, type QuirkPlace, refusal, roomOf } from "./quirk.ts";

/** For how long at most an invitation can't be accepted, in milliseconds. */
const LONGEST_WAIT = 60_000;

/** Refuses to let somebody in for a moment after the invitation, as servers do whose room is on another. */
export class InvitationsWait implements Layer {
  readonly #place: QuirkPlace;
  /** By invitation, until when it can't be accepted. */
  readonly #until = new Map<string, number>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const room = /\/join(?:\/|$)/.test(request.url.pathname) ? roomOf(request) : undefined;
    if (room === undefined) return await next(request);
    const { homeserver, timeline, chance, does } = this.#place;
    const invitation = homeserver.room(room as never).events.findLast(({ type, state_key }) =>
      type === "m.room.member" && state_key === device.userId
    );
    if (invitation?.content.membership !== "invite") return await next(request);
    const { event_id, origin_server_ts } = invitation;
    const until = this.#until.getOrInsertComputed(
      event_id,
      () => origin_server_ts + (chance.odds(0.6) ? chance.below(LONGEST_WAIT) : 0),
    );
    if (timeline.now >= until) return await next(request);
    does();
    device.noteTrouble("passing");
    return chance.odds(0.5)
      ? refusal(403, "M_FORBIDDEN")
      : refusal(404, chance.pick(["M_NOT_FOUND", "M_UNKNOWN"]));
  }
}

/**
 * How often the server does not know the token any more that a process begins with, and how often in a world.
 */
const [REFUSED, MOST_REFUSED] = [0.3, 3];

/** Does not know the tokens of syncs any more that it gave before, until it has given them again. */
export class TokensRefused implements Layer {
  readonly #place: QuirkPlace;
  /** By device, the process that has asked last, before when tokens are refused, and those given since. */
  readonly #devices = new Map<
    Device,
    { process: unknown; before: number; readonly given: Set<string>; readonly status: number }
  >();
  #times = 0;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    if (!isSync(request)) return await next(request);
    const since = sinceOf(request);
    const { timeline, chance, tokens, does } = this.#place;
    const state = this.#devices.getOrInsertComputed(
      device,
      () => ({
        process: undefined,
        before: -Infinity,
        given: new Set<string>(),
        status: chance.pick([400, 404]),
      }),
    );
    if (state.process !== device.process && since !== null) {
      state.process = device.process;
      if (this.#times < MOST_REFUSED && chance.odds(REFUSED)) {
        this.#times++;
        state.before = timeline.now;
        state.given.clear();
      }
    }
    const isKnown = since === null || state.given.has(since) ||
      (tokens.get(since) ?? -Infinity) >= state.before;
    if (isKnown) {
      return await changedSync(await next(request), { device }, (body) => state.given.add(body.next_batch));
    }
    const refused = await this.#check(request, next);
    if (refused !== undefined) return refused;
    does();
    // Sliding sync has an error of its own for that.
    const isSliding = !isClassicSync(request) && state.status === 400;
    const errcode = isSliding ? "M_UNKNOWN_POS" : state.status === 400 ? "M_UNKNOWN" : "M_NOT_FOUND";
    return refusal(state.status, errcode);
  }

  /** What a server says to who may not ask: it looks at that first. */
  async #check(request: SentRequest, next: Next): Promise<Response | undefined> {
    const url = new URL("/_matrix/client/v3/account/whoami", request.url);
    const answer = await next({ ...request, method: "GET", body: undefined, url });
    return answer.ok ? undefined : answer;
  }
}

/**
 * From what absence on a sync is slow, how long it takes at least,
 * and how much more at most, in milliseconds.
 */
const [ABSENCE, SLOW, MORE] = [600_000, 31_000, 100_000];

/** Takes its time for a first sync, and for one after a long absence, as servers do for large accounts. */
export class SlowFirstSyncs implements Layer {
  readonly #place: QuirkPlace;
  /** By device, when it was last answered. */
  readonly #answered = new Map<Device, number>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const isWithoutRooms = request.url.searchParams.get("filter")?.includes('"rooms":[]') === true;
    if (!isSync(request) || isWithoutRooms) return await next(request);
    const { timeline } = this.#place;
    const answered = this.#answered.get(device) ?? -Infinity;
    const isLong = sinceOf(request) === null || timeline.now - answered > ABSENCE;
    const response = isLong ? await this.#slowly(request, next) : await next(request);
    this.#answered.set(device, timeline.now);
    return response;
  }

  /** It has enough to do: it does not wait for more. */
  async #slowly(request: SentRequest, next: Next): Promise<Response> {
    const { timeline, chance, does } = this.#place;
    does();
    const response = await next(withoutWait(request));
    await timeline.clock().delay(SLOW + chance.below(MORE));
    return response;
  }
}

/** How often a sync is late, and by how much at least and in addition at most, in milliseconds. */
const [LATE, DELAY, MORE_DELAY] = [0.4, 500, 6_000];

/** Looks at what is new a while after it was asked, as a worker that is behind: more comes at once. */
export class LateSyncs implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ request }: Asked, next: Next): Promise<Response> {
    const { timeline, chance, does } = this.#place;
    if (!isSync(request) || !chance.odds(LATE)) return await next(request);
    does();
    await timeline.clock().delay(DELAY + chance.below(MORE_DELAY));
    return await next(request);
  }
}

/** How often a sync that does not wait is answered by a worker that is behind. */
const BEHIND = 0.3;

/**
 * Shows nothing to a sync that does not wait, as a worker that has not heard of anything since: a wake may be
 * earlier.
 */
export class SyncsLag implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    if (!isSync(request)) return await next(request);
    const [since, waits] = [sinceOf(request), timeoutOf(request) > 0];
    const { timeline, chance, does } = this.#place;
    if (since === null || waits || !chance.odds(BEHIND)) return await next(request);
    return await changedSync(await next(request), { device }, (body) => {
      if (body.next_batch === since) return;
      for (const name of Object.keys(body)) if (!name.startsWith("device_")) delete body[name];
      delete body.device_lists;
      body.next_batch = since;
      device.laggedAt = timeline.now;
      does();
    });
  }
}

/** A kind of limit of Synapse with its defaults. */
interface Limit {
  readonly path: RegExp;
  readonly perSecond: number;
  readonly burst: number;
}

const LIMITS: readonly Limit[] = [
  { path: /\/rooms\/[^/]+\/(?:send|state|redact)\//, perSecond: 0.2, burst: 10 },
  { path: /\/join(?:\/|$)/, perSecond: 0.1, burst: 10 },
  { path: /\/invite$/, perSecond: 0.3, burst: 10 },
];

/** Limits how often users may do what they do, as Synapse does without being told. */
export class RateLimits implements Layer {
  readonly #place: QuirkPlace;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const { url: { pathname }, method } = request;
    const limit = method === "GET" ? undefined : LIMITS.find(({ path }) => path.test(pathname));
    if (limit === undefined) return await next(request);
    const { timeline: { now }, does } = this.#place;
    const key = `${device.userId} ${limit.path.source}`;
    const bucket = this.#buckets.getOrInsertComputed(key, () => ({ level: 0, at: now }));
    bucket.level = Math.max(0, bucket.level - (now - bucket.at) / 1_000 * limit.perSecond);
    bucket.at = now;
    if (bucket.level + 1 > limit.burst) {
      does();
      device.noteTrouble("passing");
      const ms = Math.ceil((bucket.level + 1 - limit.burst) / limit.perSecond * 1_000);
      const answer = refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: ms });
      answer.headers.set("retry-after", String(Math.ceil(ms / 1_000)));
      return answer;
    }
    bucket.level++;
    return await next(request);
  }

  forget(): void {
    this.#buckets.clear();
  }
}
