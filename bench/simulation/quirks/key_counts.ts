/**
 * Servers that say wrongly, or not at all, how many one-time keys they have of a device.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import { isSync } from "../world/sync_view.ts";
import { type Asked, changedSync, type Layer, type Next, type QuirkPlace } from "./quirk.ts";

/** Leaves out how many keys there are. */
export class NoKeyCounts implements Layer {
  readonly #place: QuirkPlace;

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request) || this.#place.chance.odds(0.1)) return response;
    return await changedSync(response, { device }, (body) => {
      delete body.device_one_time_keys_count;
      delete body.device_unused_fallback_key_types;
      this.#place.does();
    });
  }
}

/** How often the counts of keys are old, and how old at most, in milliseconds. */
const [STALE, OLDEST] = [0.5, 60_000];

/** What a server says of a device's keys; absent in a sync that says only what has changed. */
interface Said {
  readonly counts?: unknown;
  readonly unused?: unknown;
}

/**
 * Says how many keys there were a moment before: what was uploaded since, or claimed, is not counted. A sync
 * that says only what has changed says it the next time.
 */
export class StaleKeyCounts implements Layer {
  readonly #place: QuirkPlace;
  /** By device, how many there are. */
  readonly #true = new Map<Device, Said>();
  /** By device, what was said last that was new, and when. */
  readonly #said = new Map<Device, Said & { readonly at: number }>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request)) return response;
    const { chance, timeline: { now }, does } = this.#place;
    return await changedSync(response, { device }, (body) => {
      const { device_one_time_keys_count, device_unused_fallback_key_types } = body;
      const before = this.#true.get(device);
      const all: Said = {
        counts: device_one_time_keys_count ?? before?.counts,
        unused: device_unused_fallback_key_types ?? before?.unused,
      };
      this.#true.set(device, all);
      const said = this.#said.get(device);
      const isNews = said !== undefined && JSON.stringify(said.counts) !== JSON.stringify(all.counts);
      const isStale = said !== undefined && now - said.at <= OLDEST && chance.odds(STALE);
      if (!isStale) this.#said.set(device, { at: now, ...all });
      else if (isNews) does();
      if (!isStale && !isNews) return;
      const { counts, unused } = isStale ? said : all;
      body.device_one_time_keys_count = counts;
      body.device_unused_fallback_key_types = unused;
    });
  }
}
