/**
 * The network between devices and the homeserver, with what goes wrong there.
 *
 * Over 300 lines because all that can become of a request on its way is told in one place.
 *
 * @module
 */

import type { Quirks } from "../quirks/quirks.ts";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Timeline } from "../core/timeline.ts";
import type { Device } from "./device.ts";
import { pathName } from "./operations.ts";
import type { SentRequest } from "./process.ts";
import { changeSync, classicToken, sinceOf } from "./sync_view.ts";
import type { Sender, Wire } from "./wire.ts";

/** What happens to requests of a device. */
export interface Weather {
  readonly kind:
    | "lost"
    | "lost after"
    | "twice"
    | "late"
    | "late answer"
    | "overtaken"
    | "429"
    | "502"
    | "500"
    | "403"
    | "the last one";
  /** Which requests: a part of the path; empty: all. */
  readonly path: string;
  /** Requests of these names are spared. Default: none are. */
  readonly spares?: ReadonlySet<string>;
  /** The only name of requests that it hits. Default: all. */
  readonly only?: string;
  /** How many requests it still hits. */
  times: number;
  /** How late, in milliseconds. */
  readonly ms: number;
  /** Takes the body of each request that it hits. */
  readonly onHit?: (body: string) => void;
}

/** How long a request that is overtaken waits at most for another, in milliseconds. */
const OVERTAKEN = 5_000;
/** In place of this text values come that are nested deeply. */
export const DEEP = "deeply nested";
const NESTED = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
/** In place of a message of this type those come that were held back. */
export const PLACEHOLDER = "org.example.held";

/** Where devices get files. */
export const FILES = "/media/download/";

/** The headers of the homeserver's answers that clients look at. */
const TOLD = ["content-type", "retry-after", "location"];

/** A message to a device. */
interface ToDevice {
  readonly type: string;
  readonly content: { readonly held?: string };
}

/** Changes the JSON of an answer. */
// deno-lint-ignore no-explicit-any -- a hostile server changes it in any way
type Change = (body: any) => void;

/** Takes what the server has accepted of a device. */
export type Published = (
  device: Device,
  pathname: string,
  exchange: { readonly body: string; readonly answer: string },
) => void;

/** The network. */
export class Network {
  /** What goes wrong with which device's requests. */
  readonly weather = new Map<Device, Weather[]>();
  readonly #tampers: { readonly device: Device; readonly path: string; readonly change: Change }[] = [];
  /** Messages to devices that come late, by the number of the message that they come in place of. */
  readonly #held = new Map<string, readonly unknown[]>();
  /** By header with a token, what looks at requests with it. */
  readonly #watched = new Map<string, (request: SentRequest) => void>();
  /** Devices over which the server fails whenever they are to get something. */
  readonly #resented = new Set<Device>();
  /** Requests that wait to be overtaken, by device. */
  readonly #overtaken = new Map<Device, (() => void)[]>();
  /** By the text of a one-time key, when it was given first. */
  readonly #given = new Map<string, number>();
  /** By user and device, the one-time keys that were claimed first. */
  readonly #claimed = new Map<string, { readonly keys: unknown; readonly at: number }>();
  /** Takes whose keys are given again, and when they were first, if that is to happen with the next claim. */
  #onRepeat: ((device: readonly [userId: string, deviceId: string], at: number) => void) | undefined;
  /** The last messages to a device that came encrypted. */
  readonly #messages = new Map<Device, readonly unknown[]>();
  /** Until when devices reach nothing. */
  readonly #cutOff = new Map<Device, number>();
  /** Until when the server is away. */
  #backAt = 0;
  /** Aborted when the server goes away. */
  #up = new AbortController();
  /** By sync token, when the server made it. */
  readonly tokens = new Map<string, number>();
  /** By device, the sync tokens that it was given. */
  readonly shown = new Map<Device, Set<string>>();
  /** By sync token, the events of rooms in the response that began at the start and ended there. */
  readonly firsts = new Map<string, ReadonlySet<string>>();
  readonly #options: {
    readonly homeserver: WorldHomeserver;
    readonly timeline: Timeline;
    readonly wire: Wire;
    readonly reach: (what: string) => void;
    readonly published: Published;
    readonly reused: (device: readonly [userId: string, deviceId: string], at: number) => void;
    readonly upToDate: (device: Device) => void;
  };
  /** What real servers do, and this one does not. */
  readonly quirks: Quirks;

  constructor(
    options: {
      readonly homeserver: WorldHomeserver;
      /** Makes what real servers do, and this one does not. */
      readonly quirks: (tokens: Map<string, number>) => Quirks;
      readonly timeline: Timeline;
      readonly wire: Wire;
      readonly reach: (what: string) => void;
      readonly published: Published;
      /** Takes whose one-time key was given again, and when it was first. */
      readonly reused: (device: readonly [userId: string, deviceId: string], at: number) => void;
      /** Takes who has asked what is new, and was told that nothing is. */
      readonly upToDate: (device: Device) => void;
    },
  ) {
    this.#options = options;
    this.quirks = options.quirks(this.tokens);
  }

  /** Sends a request, or has it go wrong. */
  async send(sender: Sender, request: SentRequest): Promise<Response> {
    const { wire } = this.#options;
    if (this.#watched.size > 0) {
      this.#watched.get(new Headers(request.headers).get("authorization") ?? "")?.(request);
    }
    wire.inspect(sender, request);
    wire.repeated(sender, request);
    const response = await this.#deliver(sender.device, request);
    if (sender.process.isAlive) wire.answered(sender, request);
    return response;
  }

  async #deliver(device: Device, request: SentRequest): Promise<Response> {
    const { timeline } = this.#options;
    if (timeline.now < (this.#cutOff.get(device) ?? 0)) {
      device.noteTrouble("passing");
      throw new TypeError("there is no network");
    }
    const weather = this.#strike(device, request);
    switch (weather?.kind) {
      case undefined:
        return await this.#serve(device, request);
      case "lost":
        throw new TypeError("the connection was lost");
      case "lost after":
        await this.#serve(device, request);
        throw new TypeError("the connection was lost");
      case "twice":
        this.#serve(device, request).catch(() => {});
        return await this.#serve(device, request);
      case "late":
        await this.#wait(weather.ms);
        return await this.#serve(device, request);
      case "overtaken": {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#overtaken.getOrInsertComputed(device, () => []).push(resolve);
        timeline.schedule(OVERTAKEN, "", resolve);
        await promise;
        return await this.#serve(device, request);
      }
      case "late answer": {
        const { signal } = this.#up;
        const response = await this.#serve(device, request);
        await this.#wait(weather.ms);
        if (signal.aborted) throw new TypeError("the connection was lost"); // by a restart
        return response;
      }
      case "429":
        return Response.json({ errcode: "M_LIMIT_EXCEEDED", error: "Slowly", retry_after_ms: weather.ms }, {
          status: 429,
        });
      case "502":
        return new Response("<html>Bad gateway</html>", { status: 502 });
      case "403":
        return Response.json({ errcode: "M_FORBIDDEN", error: "Not you" }, { status: 403 });
      case "the last one":
        this.#options.homeserver.expireTokens(device.userId);
        return await this.#serve(device, request);
      case "500":
        timeline.instant();
        return Response.json({ errcode: "M_UNKNOWN", error: "Internal server error" }, { status: 500 });
    }
  }

  #strike(device: Device, { url: { pathname }, method, body }: SentRequest): Weather | undefined {
    const all = this.weather.get(device) ?? [];
    const name = `${method} ${pathName(pathname)}`;
    const weather = all.find(({ path, spares, only = name }) =>
      pathname.includes(path) && !spares?.has(name) && only === name
    );
    if (weather === undefined) return undefined;
    weather.onHit?.(body ?? "");
    device.noteTrouble(weather.kind === "500" || weather.kind === "403" ? "final" : "passing");
    if (--weather.times === 0) all.splice(all.indexOf(weather), 1);
    this.#options.reach(`${name} | ${weather.kind}`);
    return weather;
  }

  async #wait(ms: number): Promise<void> {
    await this.#options.timeline.clock().delay(ms);
  }

  /** Has the next answer to a kind of requests of a device be changed. */
  tamper(device: Device, path: string, change: Change): void {
    this.#tampers.push({ device, path, change });
  }

  /**
   * Has messages to a device come late, in reverse order: in place of a message of the type
   * {@link PLACEHOLDER}, which the server sends again until the device has it.
   *
   * @returns The content of that message.
   */
  hold(events: readonly unknown[]): { readonly held: string } {
    const held = String(this.#held.size);
    this.#held.set(held, events.toReversed());
    return { held };
  }

  /** Has every request with a token be looked at. */
  watch(token: string, look: (request: SentRequest) => void): void {
    this.#watched.set(`Bearer ${token}`, look);
  }

  /** Has the server fail whenever a device is to get something. */
  resent(device: Device): void {
    this.#resented.add(device);
  }

  /** The last messages to a device that came encrypted. */
  messagesTo(device: Device): readonly unknown[] {
    return this.#messages.get(device) ?? [];
  }

  /** Has a device reach nothing for some time. */
  cutOff(device: Device, ms: number): void {
    const until = this.#options.timeline.now + ms;
    this.#cutOff.set(device, Math.max(this.#cutOff.get(device) ?? 0, until));
  }

  /** Has the server be away for some time: requests that it had not answered are cut off. */
  restart(ms: number): void {
    const { timeline } = this.#options;
    this.#backAt = Math.max(this.#backAt, timeline.now + ms);
    this.#up.abort();
    this.#up = new AbortController();
    this.quirks.forget();
  }

  /** Forgets when tokens were made: a server that was set back makes the same ones again. */
  forgetTokens(): void {
    this.tokens.clear();
    this.quirks.forget();
    this.firsts.clear();
    this.shown.clear();
  }

  /** Has the next claim of keys be answered with keys that were given before. */
  repeatClaim(onRepeat: (device: readonly [userId: string, deviceId: string], at: number) => void): void {
    this.#onRepeat = onRepeat;
  }

  /** Has every answer be as it should. */
  clear(): void {
    this.weather.clear();
    this.#tampers.length = 0;
    this.#onRepeat = undefined;
    this.#cutOff.clear();
    this.#backAt = 0;
  }

  /** What the device gets to see of an answer. */
  #shown(device: Device, { url: { pathname }, isSpared }: SentRequest, text: string): string {
    const index = isSpared
      ? -1
      : this.#tampers.findIndex((each) => each.device === device && pathname.includes(each.path));
    const [tamper] = index < 0 ? [] : this.#tampers.splice(index, 1);
    if (tamper === undefined && !/"to_device":/.test(text)) return text;
    const body = JSON.parse(text);
    changeSync(body, device.userId, (classic) => {
      const events: ToDevice[] = classic.to_device?.events ?? [];
      const encrypted = events.filter(({ type }) => type === "m.room.encrypted");
      if (encrypted.length > 0) this.#messages.set(device, structuredClone(encrypted));
      if (events.some(({ type }) => type === PLACEHOLDER)) {
        this.#options.reach("messages to a device came late");
        classic.to_device.events = events.flatMap((event) =>
          event.type === PLACEHOLDER ? this.#held.get(String(event.content.held)) ?? [] : [event]
        );
      }
      tamper?.change(classic);
    });
    return JSON.stringify(body).replaceAll(`"${DEEP}"`, NESTED);
  }

  /** An answer to a claim; it may give keys that were given before. */
  #claim(text: string): string {
    const body: { one_time_keys?: Record<string, Record<string, unknown>> } = JSON.parse(text);
    const onRepeat = this.#onRepeat;
    for (const [userId, devices] of Object.entries(body.one_time_keys ?? {})) {
      for (const [deviceId, keys] of Object.entries(devices)) {
        const claim = { keys, at: this.#options.timeline.now };
        this.#give([userId, deviceId], keys);
        const before = this.#claimed.getOrInsert(`${userId} ${deviceId}`, claim);
        if (onRepeat === undefined || before === claim) continue;
        this.#onRepeat = undefined;
        devices[deviceId] = before.keys;
        onRepeat([userId, deviceId], before.at);
      }
    }
    return JSON.stringify(body);
  }

  /** Notes which one-time keys were given to somebody who does not use this network. */
  noteClaim(keys: Record<string, Record<string, unknown>>): void {
    for (const [userId, devices] of Object.entries(keys)) {
      for (const [deviceId, given] of Object.entries(devices)) this.#give([userId, deviceId], given);
    }
  }

  /** Notes that a key was given. Fallback keys are given to all. */
  #give(device: readonly [userId: string, deviceId: string], keys: unknown): void {
    const text = JSON.stringify(keys);
    if (text.includes('"fallback":true')) return;
    const { timeline: { now }, reused } = this.#options;
    const first = this.#given.getOrInsert(text, now);
    if (first < now) reused(device, first);
  }

  /** A file as a device gets it. */
  async #fileFor(device: Device, response: Response): Promise<Response> {
    const bytes = new Uint8Array(await response.arrayBuffer());
    const index = this.#tampers.findIndex((each) => each.device === device && each.path === FILES);
    const [tamper] = index < 0 ? [] : this.#tampers.splice(index, 1);
    const shown = { bytes };
    tamper?.change(shown);
    const headers = { ...Object.fromEntries(response.headers), "content-length": String(shown.bytes.length) };
    return new Response(shown.bytes, { status: response.status, headers });
  }

  async #serve(device: Device, request: SentRequest): Promise<Response> {
    const { url, body } = request;
    const { homeserver, timeline } = this.#options;
    if (timeline.now < this.#backAt) {
      device.noteTrouble("passing");
      return new Response("<html>Bad gateway</html>", { status: 502 });
    }
    for (const overtaken of this.#overtaken.get(device)?.splice(0) ?? []) overtaken();
    if (/\/(?:sendToDevice|keys\/claim)/.test(url.pathname)) {
      const isResented = this.#resented.values().some(({ deviceId }) => body?.includes(deviceId));
      if (isResented) {
        device.noteTrouble("final");
        return Response.json({ errcode: "M_UNKNOWN", error: "Internal server error" }, { status: 500 });
      }
    }
    const { signal } = this.#up;
    const response = await this.quirks.ask(
      device,
      request,
      async ({ url, method, headers, body, bytes }) => {
        const response = await homeserver.fetch(url, { method, headers, body: bytes ?? body, signal });
        if (url.pathname.endsWith("/sync") && response.ok) {
          const token = tokenOf(await response.clone().text()); // an answer may be on its way for minutes
          if (token !== undefined) {
            for (const each of [token, classicToken(token)]) this.tokens.getOrInsert(each, timeline.now);
          }
        }
        return response;
      },
    );
    if (url.pathname.includes(FILES) && response.ok) return await this.#fileFor(device, response);
    const answer = await response.text();
    if (response.ok) this.#options.published(device, url.pathname, { body: body ?? "{}", answer });
    const text = url.pathname.endsWith("/keys/claim") && response.ok ? this.#claim(answer) : answer;
    const isSync = url.pathname.endsWith("/sync") && response.ok;
    const token = isSync ? tokenOf(text) : undefined;
    if (token !== undefined) this.shown.getOrInsertComputed(device, () => new Set()).add(token);
    const since = isSync ? sinceOf(request) : null;
    if (token !== undefined && token === since) this.#options.upToDate(device);
    if (token !== undefined && since === null) this.firsts.set(token, idsIn(text));
    const sent = response.ok ? this.quirks.last(device, request, this.#shown(device, request, text)) : text;
    const bytes = new TextEncoder().encode(sent);
    const told: Record<string, string> = { "content-length": String(bytes.length) };
    for (const name of TOLD) {
      const value = response.headers.get(name);
      if (value !== null) told[name] = value;
    }
    return new Response(bytes, { status: response.status, headers: told }); // a stream costs more
  }
}

/** Where a response to a sync ends. */
function tokenOf(text: string): string | undefined {
  return /"pos":"([^"]+)"/.exec(text)?.[1] ?? /"next_batch":"([^"]+)"/.exec(text)?.[1];
}

/** Events of a room that a response shows. */
type Shown = readonly { readonly event_id: string }[];

/** The IDs of the events in the timelines of a response. */
function idsIn(text: string): ReadonlySet<string> {
  const { rooms = {}, pos } = JSON.parse(text);
  const timelines = pos === undefined
    ? Object.values<{ timeline?: { events?: Shown } }>(rooms.join ?? {}).map(({ timeline }) =>
      timeline?.events
    )
    : Object.values<{ timeline?: Shown; timeline_events?: Shown }>(rooms).map((room) =>
      room.timeline_events ?? room.timeline
    );
  return new Set(timelines.flatMap((events) => events?.map(({ event_id }) => event_id) ?? []));
}
