/**
 * A `fetch` that ends in this process.
 *
 * @module
 */

import { ConnectionDropped } from "./inject_fault.ts";
import type { RawRequest } from "./request.ts";

/** What answers the requests. */
interface LocalHost {
  /** Whether a URL belongs to this host; everything else can't be reached. */
  readonly accepts: (url: URL) => boolean;
  /** Answers a request, or rejects with {@link ConnectionDropped}. */
  readonly handle: (request: RawRequest) => Promise<Response>;
}

/** As many redirects as `fetch` follows. */
const MAX_REDIRECTS = 20;

/**
 * Makes a `fetch` that behaves as the real one: it follows redirects, honours the signal and
 * rejects with TypeErrors.
 */
export function localFetch(host: LocalHost): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const work = Promise.resolve(plainRequest(input, init) ?? wholeRequest(input, init)).then((request) =>
      follow(host, request, signal ?? new AbortController().signal)
    );
    return await (signal ? unlessAborted(work, signal) : work);
  };
}

/** What a request says. */
interface Asked extends Omit<RawRequest, "signal"> {
  readonly redirect: RequestRedirect;
}

const PLAIN_METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE"]);

/** A request as clients make them, read without a `Request`, which costs more than most answers. */
function plainRequest(input: RequestInfo | URL, init: RequestInit = {}): Asked | undefined {
  const { method = "GET", body, headers, redirect = "follow" } = init;
  if (input instanceof Request || !PLAIN_METHODS.has(method)) return undefined;
  const hasBody = body !== undefined && body !== null;
  if (hasBody && (typeof body !== "string" || method === "GET")) return undefined;
  const asked = {
    method,
    url: new URL(input),
    headers: new Headers(headers),
    body: new TextEncoder().encode(hasBody ? body : ""),
    redirect,
  };
  if (hasBody && !asked.headers.has("content-type")) {
    asked.headers.set("content-type", "text/plain;charset=UTF-8");
  }
  return asked;
}

/** Any other request. */
async function wholeRequest(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Asked> {
  // The signal is handled by the caller; a request that follows it as well would only cost time.
  const request = new Request(input, { ...init, signal: undefined });
  const { method, url, headers, redirect } = request;
  return { method, url: new URL(url), headers, body: new Uint8Array(await request.arrayBuffer()), redirect };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function follow(host: LocalHost, asked: Asked, signal: AbortSignal): Promise<Response> {
  const { headers, redirect } = asked;
  let { method, url, body } = asked;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await send(host, { method, url, headers, body, signal });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null || redirect === "manual") {
      return withUrl(response, url, hops > 0);
    }
    if (redirect === "error") {
      throw new TypeError(`Cannot fetch ${url}: it redirects, and the request does not allow that`);
    }
    const next = new URL(location, url);
    if (next.origin !== url.origin) headers.delete("authorization");
    url = next;
    if (response.status === 303 || (response.status < 303 && method === "POST")) {
      method = "GET";
      body = new Uint8Array(0);
    }
  }
  throw new TypeError(`Cannot fetch ${url}: too many redirects`);
}

async function send(host: LocalHost, request: RawRequest): Promise<Response> {
  if (!host.accepts(request.url)) {
    throw new TypeError(
      `Cannot fetch ${request.url}: this homeserver is the only host there is`,
    );
  }
  try {
    return await host.handle(request);
  } catch (error) {
    if (!(error instanceof ConnectionDropped)) throw error;
    throw new TypeError(`Cannot fetch ${request.url}: the connection was closed`, {
      cause: error,
    });
  }
}

/** A response made by hand has no URL; one from the network has. */
function withUrl(response: Response, url: URL, redirected: boolean): Response {
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
}
