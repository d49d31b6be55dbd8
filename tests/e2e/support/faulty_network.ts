/**
 * A network between a client and its homeserver on which chosen requests fail, are held back or are changed.
 *
 * @module
 */

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

/** How long anything may take that a test waits for. */
const LIMIT_MS = 30_000;

/** What a promise resolves with; fails if that takes suspiciously long. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`This did not come: ${what}`)), LIMIT_MS);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Passes requests on; of the rules that a request fits, the last one given decides. */
export class FaultyNetwork {
  /** All requests that have come by, in order. */
  readonly requests: PassedRequest[] = [];
  readonly #rules: { path: RegExp; rule: Rule }[] = [];
  readonly #waiting = new Set<(request: PassedRequest) => void>();
  readonly #fetch: typeof fetch;

  /** @param inner The way to the server. */
  constructor(inner: typeof fetch = fetch) {
    this.#fetch = inner;
  }

  /** The way for the client. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const passed = {
      method: request.method,
      path: `${pathname}${search}`,
      body: await request.clone().text(),
    };
    this.requests.push(passed);
    for (const look of [...this.#waiting]) look(passed);
    const found = this.#rules.findLast(({ path }) => path.test(pathname));
    const forward: Forward = (changed = request) => this.#fetch(changed);
    return await (found === undefined ? forward() : found.rule(request, forward));
  };

  /** The requests with a path that fits. */
  to(path: RegExp): PassedRequest[] {
    return this.requests.filter((request) => path.test(request.path));
  }

  /** Waits for a request that fits, of those that have come by and those that will. */
  async first(fits: (request: PassedRequest) => boolean): Promise<PassedRequest> {
    const past = this.requests.find(fits);
    if (past !== undefined) return past;
    const { promise, resolve } = Promise.withResolvers<PassedRequest>();
    const look = (request: PassedRequest): void => {
      if (fits(request)) resolve(request);
    };
    this.#waiting.add(look);
    return await inTime(promise, "a request").finally(() => this.#waiting.delete(look));
  }

  /** Puts a rule in force for all requests with a path that fits, until it is disposed of. */
  on(path: RegExp, rule: Rule): Disposable {
    const entry = { path, rule };
    this.#rules.push(entry);
    const end = (): void => {
      const place = this.#rules.indexOf(entry);
      if (place >= 0) this.#rules.splice(place, 1);
    };
    return { [Symbol.dispose]: end };
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
  // deno-lint-ignore no-explicit-any -- what a server may answer, which tests know
  changing(path: RegExp, change: (answer: any, request: Request) => unknown): Disposable {
    return this.on(path, async (request, forward) => {
      const response = await forward();
      if (!response.ok) return response;
      const answer = await response.json();
      return Response.json(await change(answer, request) ?? answer);
    });
  }
}
