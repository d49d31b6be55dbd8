/**
 * A `fetch` that ends in this process, and what faults do to its requests.
 *
 * @module
 */

import { platform, type PlatformServer } from "../../base/platform/mod.ts";
import type { Clock } from "../../base/clock.ts";
import type { ActiveFault, TruncateFault } from "../faults.ts";
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

/** The connection is gone: there is no response. */
export class ConnectionDropped extends Error {
  override readonly name = "ConnectionDropped";
}

/** What a fault needs to do its harm. */
interface Victim {
  /** Lets the request take effect. */
  readonly serve: () => Promise<Response>;
  /** Time. */
  readonly clock: Clock;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/**
 * The response to a request that a fault has hit. Rejects with {@link ConnectionDropped} if there
 * is none.
 */
export async function injectFault(fault: ActiveFault, { serve, clock, signal }: Victim): Promise<Response> {
  const { rule } = fault;
  switch (rule.kind) {
    case "status":
      return bodyResponse(
        rule.body ?? { errcode: "M_UNKNOWN", error: "Fault on demand" },
        rule.status,
        rule.headers,
      );
    case "html":
      return new Response(PROXY_PAGE, {
        status: rule.status ?? 502,
        headers: { "content-type": "text/html" },
      });
    case "redirect":
      return new Response(null, { status: rule.status ?? 307, headers: { location: rule.location } });
    case "body":
      await serve();
      return bodyResponse(rule.body, 200);
    case "delay":
      await clock.delay(rule.ms, { signal });
      return await serve();
    case "drop":
      throw new ConnectionDropped("Connection closed before the request was handled");
    case "drop-after":
      await serve();
      throw new ConnectionDropped("Connection closed before the response was complete");
    case "duplicate":
      await serve();
      return await serve();
    case "hold":
      await fault.released;
      return await serve();
    case "hold-after": {
      const response = await serve();
      await fault.released;
      return response;
    }
    case "truncate":
      return await truncate(await serve(), rule);
  }
}

const PROXY_PAGE =
  "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

function bodyResponse(body: unknown, status: number, headers: Record<string, string> = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
}

async function truncate(response: Response, { bytes, clean = false }: TruncateFault): Promise<Response> {
  const whole = new Uint8Array(await response.arrayBuffer());
  const part = whole.subarray(0, bytes ?? whole.byteLength >> 1);
  let sent = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (!sent) controller.enqueue(part);
      else if (clean) controller.close();
      else controller.error(new TypeError("Cannot read the body: the connection was closed"));
      sent = true;
    },
  });
  const headers = new Headers(response.headers);
  if (clean) headers.delete("content-length");
  else headers.set("content-length", String(whole.byteLength));
  return new Response(body, { status: response.status, headers });
}

/** Listens, and answers requests: those of programs of their own. */
export async function listenOn(
  options: { readonly port: number; readonly hostname: string },
  handle: (raw: RawRequest) => Promise<Response>,
  closing: AbortSignal,
  onError: (error: unknown) => void,
): Promise<PlatformServer> {
  return await platform.serve(options, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    const { method, headers } = request;
    try {
      return await handle({ method, url: new URL(request.url), headers, body, signal: closing });
    } catch (error) {
      if (!(error instanceof ConnectionDropped) && !closing.aborted) onError(error);
      return cutResponse();
    }
  });
}

/** Deno.serve can't close a connection, but it has to when a body is shorter than was said. */
function cutResponse(): Response {
  const body = new ReadableStream({ start: (controller) => controller.close() });
  return new Response(body, { headers: { "content-length": "1" } });
}
