/**
 * What a client answers, loaded with the first request.
 *
 * @module
 */

import type { ServingParts } from "./serving.ts";
import type { WakeAPI } from "./wake_options.ts";

/** What a client answers. */
export interface LazyServing extends WakeAPI {
  /** Answers a request; never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Makes `client.fetch` and what belongs to it. */
export function lazyServing(parts: ServingParts): LazyServing {
  let loading: Promise<import("./serving.ts").Serving> | undefined;
  const loaded = () => loading ??= import("./serving.ts").then(({ Serving }) => new Serving(parts));
  return {
    fetch: async (request) => await (await loaded()).answer(request),
    registerWake: async (url, options) => await (await loaded()).registerWake(url, options),
  };
}
