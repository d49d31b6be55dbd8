/**
 * Calls that are aborted while they wait for the server.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { type ClientStage, clientStage } from "./stage.ts";

/** What a call takes to be aborted. */
export type AbortOptions = Readonly<Record<"signal", AbortSignal>>;

/** A server that does not answer one request: neither it nor its client ends that by itself. */
interface SilentServer {
  readonly fetch: typeof fetch;
  /** Counts requests from now on, and does not answer the one of a number, from 1 on. */
  silence(at: number, onReached: () => void): void;
}

function silentServer(here: ClientStage): SilentServer {
  let [made, silent] = [0, 0];
  let onReached = () => {};
  return {
    silence(at, then) {
      [made, silent, onReached] = [0, at, then];
    },
    async fetch(input, init) {
      const request = new Request(input, init);
      if (++made !== silent) return await here.homeserver.fetch(request);
      const ended = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => ended.reject(request.signal.reason));
      onReached();
      return await ended.promise;
    },
  };
}

/**
 * Makes sure that a call ends at whatever request it is when it is aborted.
 *
 * @param prepare Makes the call, of a client with that `fetch`; what it does before is not aborted.
 */
export async function assertAbortable(
  name: string,
  prepare: (
    here: ClientStage,
    fetch: typeof globalThis.fetch,
  ) => Promise<(options: AbortOptions) => Promise<unknown>>,
): Promise<void> {
  for (let at = 1;; at++) {
    await using here = clientStage();
    const server = silentServer(here);
    const call = await prepare(here, server.fetch);
    const stop = new AbortController();
    let isReached = false;
    server.silence(at, () => {
      isReached = true;
      stop.abort("enough");
    });
    const outcome = await call({ signal: stop.signal }).then(() => "done", (error) => error);
    if (!isReached) return assert(at > 1, `${name} makes no request`);
    assertEquals(outcome, "enough", `${name}, request ${at}`);
  }
}
