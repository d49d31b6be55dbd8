/**
 * The network between devices and the homeserver, with what goes wrong there.
 *
 * @module
 */

import type { Homeserver } from "@greenroom/matrix/testing";
import type { Timeline } from "../core/timeline.ts";
import type { Device } from "./device.ts";
import type { SentRequest } from "./process.ts";
import { requestName } from "./request_name.ts";
import type { Wire } from "./wire.ts";

/** What happens to requests of a device. */
export interface Weather {
  readonly kind: "lost" | "lost after" | "twice" | "late" | "late answer" | "429" | "502" | "500";
  /** Which requests: a part of the path; empty: all. */
  readonly path: string;
  /** How many requests it still hits. */
  times: number;
  /** How late, in milliseconds. */
  readonly ms: number;
}

/** The network. */
export class Network {
  /** What goes wrong with which device's requests. */
  readonly weather = new Map<Device, Weather[]>();
  /** By sync token, when the server made it. */
  readonly tokens = new Map<string, number>();
  readonly #options: {
    readonly homeserver: Homeserver;
    readonly timeline: Timeline;
    readonly wire: Wire;
    readonly reach: (what: string) => void;
  };

  constructor(
    options: {
      readonly homeserver: Homeserver;
      readonly timeline: Timeline;
      readonly wire: Wire;
      readonly reach: (what: string) => void;
    },
  ) {
    this.#options = options;
  }

  /** Sends a request, or has it go wrong. */
  async send(device: Device, request: SentRequest): Promise<Response> {
    const { timeline, wire } = this.#options;
    const { pathname } = request.url;
    if (request.body !== undefined) wire.inspect(device.name, request.body);
    const weather = this.#strike(device, pathname);
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
      case "late answer": {
        const response = await this.#serve(device, request);
        await this.#wait(weather.ms);
        return response;
      }
      case "429":
        return Response.json({ errcode: "M_LIMIT_EXCEEDED", error: "Slowly", retry_after_ms: weather.ms }, {
          status: 429,
        });
      case "502":
        return new Response("<html>Bad gateway</html>", { status: 502 });
      case "500":
        timeline.instant();
        return Response.json({ errcode: "M_UNKNOWN", error: "Internal server error" }, { status: 500 });
    }
  }

  #strike(device: Device, pathname: string): Weather | undefined {
    const all = this.weather.get(device) ?? [];
    const weather = all.find(({ path }) => pathname.includes(path));
    if (weather === undefined) return undefined;
    if (--weather.times === 0) all.splice(all.indexOf(weather), 1);
    this.#options.reach(`${weather.kind}: ${requestName(pathname)}`);
    return weather;
  }

  async #wait(ms: number): Promise<void> {
    await this.#options.timeline.clock().delay(ms);
  }

  async #serve(device: Device, { url, method, headers, body }: SentRequest): Promise<Response> {
    const { homeserver, timeline } = this.#options;
    const response = await homeserver.fetch(url, { method, headers, body });
    if (url.pathname.endsWith("/keys/upload") && response.ok && body?.includes('"device_keys"')) {
      device.keysAt = Math.min(device.keysAt, timeline.now);
    }
    const text = await response.text();
    const isSync = url.pathname.endsWith("/sync") && response.ok;
    const token = isSync ? /"next_batch":"([^"]+)"/.exec(text)?.[1] : undefined;
    if (token !== undefined) this.tokens.getOrInsert(token, timeline.now);
    const bytes = new TextEncoder().encode(text);
    const announced = { ...Object.fromEntries(response.headers), "content-length": String(bytes.length) };
    return new Response(bytes, { status: response.status, headers: announced }); // a stream costs more
  }
}
