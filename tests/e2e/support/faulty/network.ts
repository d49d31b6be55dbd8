/**
 * A network between a client and its homeserver on which chosen requests fail, are held back or are
 * changed.
 *
 * @module
 */

import { within } from "../deadline.ts";

/** Sends a request on, as it is or changed. */
export type Forward = (request?: Request) => Promise<Response>;

/** What becomes of a request. */
export type Rule = (request: Request, forward: Forward) => Promise<Response>;

/** A request that has come by. */
export interface PassedRequest {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly body: string;
}

// deno-lint-ignore no-explicit-any -- what a server may answer, which tests know
type Answer = any;

/** Changes an answer, or returns another. */
export type Change = (answer: Answer, request: Request) => unknown;

const SYNC = /\/sync$/;
/**
 * What makes a token another one than before: nio ignores a response with the token that it has.
 */
const MARKS = /~+$/;

/**
 * Passes requests on; of the rules that a request fits, the last one given decides. Answers are
 * changed by what is in force when they come: a sync may have been asked for long before.
 */
export class FaultyNetwork {
  /** All requests that have come by, in order. */
  readonly requests: PassedRequest[] = [];
  readonly #rules = new Set<{ path: RegExp; rule: Rule }>();
  readonly #changes = new Set<{ path: RegExp; change: Change }>();
  readonly #waiting = new Set<(request: PassedRequest) => void>();
  readonly #fetch: typeof fetch;
  #interrupt = new AbortController();
  #syncing = 0;
  /** What each sync response says of the device's own keys. */
  #ownKeys: Record<string, unknown> = {};

  /** @param inner The way to the server. */
  constructor(inner: typeof fetch = fetch) {
    this.#fetch = inner;
  }

  /** The way for the client. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const body = await request.clone().text();
    const passed = { method: request.method, path: `${pathname}${search}`, body };
    this.requests.push(passed);
    for (const look of [...this.#waiting]) look(passed);
    const found = [...this.#rules].findLast(({ path }) => path.test(pathname));
    const forward: Forward = (changed = request) =>
      SYNC.test(pathname) ? this.#sync(changed) : this.#fetch(changed);
    const response = await (found === undefined ? forward() : found.rule(request, forward));
    return await this.#changed(pathname, request, response);
  };

  /** The requests with a path that fits. */
  to(path: RegExp): PassedRequest[] {
    return this.requests.filter((request) => path.test(request.path));
  }

  /** Waits for a request that fits, of those that have come by and those that will. */
  async first(fits: (request: PassedRequest) => boolean): Promise<PassedRequest> {
    return this.requests.find(fits) ?? await this.next(fits);
  }

  /** Waits for a request that fits, of those that will come by. */
  async next(fits: (request: PassedRequest) => boolean): Promise<PassedRequest> {
    const { promise, resolve } = Promise.withResolvers<PassedRequest>();
    const look = (request: PassedRequest): void => {
      if (fits(request)) resolve(request);
    };
    this.#waiting.add(look);
    return await within(promise, "a request").finally(() => this.#waiting.delete(look));
  }

  /** Puts a rule in force for all requests with a path that fits, until it is disposed of. */
  on(path: RegExp, rule: Rule): Disposable {
    return entered(this.#rules, { path, rule });
  }

  /** Has requests fail before they reach the server, or only their answers get lost. */
  failing(path: RegExp, { times = Infinity, reaching = false } = {}): Disposable {
    let left = times;
    return this.on(path, async (_request, forward) => {
      if (left-- <= 0) return await forward();
      if (reaching) await (await forward()).body?.cancel();
      return Response.json({ errcode: "M_UNKNOWN", error: "The network is down" }, { status: 502 });
    });
  }

  /** Has answers changed. */
  changing(path: RegExp, change: Change): Disposable {
    return entered(this.#changes, { path, change });
  }

  /** Has the sync that is waiting answered at once, with nothing new; the next one, if none is. */
  interruptSync(): void {
    this.#interrupt.abort();
    if (this.#syncing > 0) this.#interrupt = new AbortController();
  }

  async #sync(request: Request): Promise<Response> {
    const since = new URL(request.url).searchParams.get("since");
    const { signal } = this.#interrupt;
    if (since === null) return await this.#fetch(request);
    if (signal.aborted) this.#interrupt = new AbortController(); // the interruption was for this one
    const url = new URL(request.url);
    url.searchParams.set("since", since.replace(MARKS, ""));
    this.#syncing++;
    try {
      const changed = new Request(url, request);
      return await this.#fetch(changed, { signal: AbortSignal.any([request.signal, signal]) });
    } catch (error) {
      if (!signal.aborted || request.signal.aborted) throw error;
      return Response.json({ next_batch: `${since}~`, ...this.#ownKeys });
    } finally {
      this.#syncing--;
    }
  }

  async #changed(pathname: string, request: Request, response: Response): Promise<Response> {
    const isSync = SYNC.test(pathname);
    const changes = [...this.#changes].filter(({ path }) => path.test(pathname));
    if (!response.ok || (changes.length === 0 && !isSync)) return response;
    let answer: Answer = await response.json();
    if (isSync) {
      const { device_one_time_keys_count, device_unused_fallback_key_types } = answer;
      this.#ownKeys = { device_one_time_keys_count, device_unused_fallback_key_types };
    }
    for (const { change } of changes) answer = await change(answer, request) ?? answer;
    return Response.json(answer);
  }
}

function entered<T>(all: Set<T>, entry: T): Disposable {
  all.add(entry);
  return { [Symbol.dispose]: () => void all.delete(entry) };
}
