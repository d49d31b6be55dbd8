/**
 * What stands in front of a Synapse with workers: it sends each `/sync` to the next of them, and all
 * else to the main process.
 *
 * @module
 */

const SYNC = /^\/_matrix\/client\/(?:v3|r0)\/sync$/;

/** Where requests go. */
export interface Backends {
  /** The address of the main process. */
  readonly main: string;
  /** The addresses of the workers that sync, in turns. */
  readonly syncs: readonly string[];
}

/** Answers requests with what the backends answer. */
export function balancer({ main, syncs }: Backends): (request: Request) => Promise<Response> {
  let turn = 0;
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const backend = SYNC.test(pathname) ? syncs[turn++ % syncs.length] : main;
    const response = fetch(`${backend}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      signal: request.signal,
    });
    return await response.catch(() => new Response(null, { status: 502 })); // also where the client has gone
  };
}
