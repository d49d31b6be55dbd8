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

/** Says how many keys there were a moment before: what was uploaded since, or claimed, is not counted. */
export class StaleKeyCounts implements Layer {
  readonly #place: QuirkPlace;
  /** By device, what was said last that was new, and when. */
  readonly #said = new Map<
    Device,
    { readonly at: number; readonly counts: unknown; readonly unused: unknown }
  >();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  async ask({ device, request }: Asked, next: Next): Promise<Response> {
    const response = await next(request);
    if (!isSync(request)) return response;
    const { chance, timeline: { now }, does } = this.#place;
    return await changedSync(response, { device }, (body) => {
      const { device_one_time_keys_count: counts, device_unused_fallback_key_types: unused } = body;
      const said = this.#said.get(device);
      if (said === undefined || now - said.at > OLDEST || !chance.odds(STALE)) {
        this.#said.set(device, { at: now, counts, unused });
        return;
      }
      if (JSON.stringify(said.counts) !== JSON.stringify(counts)) does();
      body.device_one_time_keys_count = said.counts;
      body.device_unused_fallback_key_types = said.unused;
    });
  }
}
