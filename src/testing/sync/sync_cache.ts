/**
 * Answers to `GET /sync` that are given again to the same request, as Synapse does for two minutes.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";

/** Keeps answers. */
export class SyncCache {
  readonly #kept = new Map<string, { readonly answer: JsonObject; readonly until: number }>();

  /** The answer that a request got before, if it is still given at a time. */
  get(request: string, now: number): JsonObject | undefined {
    const kept = this.#kept.get(request);
    return kept !== undefined && now < kept.until ? kept.answer : undefined;
  }

  /** Keeps an answer until a time, and forgets those whose time is over. */
  keep(
    request: string,
    answer: JsonObject,
    { now, until: end }: { readonly now: number; readonly until: number },
  ): void {
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
    this.#kept.set(request, { answer, until: end });
  }
}
