/**
 * One try of one request: sent, answered, and judged.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { requestError } from "../../errors/errcodes.ts";
import type { MatrixError } from "../../errors/matrix_error.ts";
import { RedirectError, ServiceResponseError } from "../../errors/service_response_error.ts";
import type { Logger } from "../../base/log.ts";
import { type Answer, Deadline, letGo, readErrorBody } from "./answer.ts";
import { Sent } from "../../base/sent.ts";

/** A body that is sent as it is. */
export interface RawBody {
  /** The `Content-Type`. */
  readonly type: string;
  /** How many bytes it has; absent if that is not known. */
  readonly size?: number;
  /** Whether {@link RawBody.open} can be called again, for another try. */
  readonly repeatable: boolean;
  /** Gives the body; it notifies the deadline of progress and of failures. */
  readonly open: (deadline: Deadline) => BodyInit;
}

/** What all tries of a request need. */
export interface Exchange {
  /** The operation's name, for errors and logs. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path alone, for errors and logs. */
  readonly path: string;
  /** The whole address. */
  readonly url: string;
  /** The headers, but for authorisation and content; their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON text. */
  readonly json: string | undefined;
  /** The body as it is; goes before {@link Exchange.json}. */
  readonly raw: RawBody | undefined;
  /** How long nothing may happen, in milliseconds; 0 means for ever. */
  readonly timeout: number;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  /** The tokens of the session, which no error or log may repeat. */
  readonly credentials: () => readonly string[];
  /** What sends the request. */
  readonly fetch: typeof fetch;
  /** Receives the server's time. Default: it is not read. */
  readonly onTime: ((time: ServerTime) => void) | undefined;
  /** Measures the timeout. */
  readonly clock: Clock;
  /** Where the try is logged. */
  readonly log: Logger;
}

/** What differs from one try to the next. */
export interface Try {
  /** The access token; empty for none. */
  readonly token: string;
  /** How many tries were before. */
  readonly resends: number;
}

/**
 * Reads the result from an answer. A reader that returns the answer's body keeps the deadline and
 * ends it later.
 */
export type ReadAnswer<Result> = (answer: Answer) => Promise<Result>;

type FetchOptions = RequestInit & { headers: Record<string, string> };

/** A chain of redirects longer than this is a loop. */
const MAX_REDIRECTS = 5;

/**
 * Sends a request once and reads the answer.
 *
 * @throws {MatrixRequestError} If the homeserver refuses.
 * @throws {NetworkError} If it can't be reached, or the answer breaks off.
 * @throws {ServiceResponseError} If the answer makes no sense.
 */
export async function exchange<Result>(
  request: Exchange,
  { token, resends }: Try,
  read: ReadAnswer<Result>,
): Promise<Result> {
  const { operation, method, path, log, clock } = request;
  const name = `${operation} (${method} ${path})`;
  const started = clock.now();
  const sent = () => {
    const { url, headers, json, credentials } = request;
    return new Sent({ url, headers, json, credentials: () => [token, ...credentials()] });
  };
  const deadline = new Deadline(clock, request.timeout, request.signal, sent);
  let status: number | undefined;
  try {
    const init = fetchOptions(request, token, deadline);
    const first = await request.fetch(request.url, init);
    const { response, url, isElsewhere } = isRedirect(first)
      ? await followed(first, request, { init, name, sent })
      : { response: first, url: request.url, isElsewhere: false };
    status = response.status;
    const { onTime } = request; // absent once it is known
    const shown = isElsewhere || onTime === undefined ? undefined : timeOf(response);
    if (shown !== undefined) onTime?.({ shown, before: started, after: clock.now() });
    const answer = { response, request: name, deadline };
    if (status === 401 && isElsewhere && token !== "") {
      letGo(response.body);
      throw redirected(name, { target: url, path }, sent); // it was not shown the token
    }
    if (!response.ok) throw await refusal(request, answer);
    return await read(answer);
  } catch (error) {
    throw deadline.explain(error, name);
  } finally {
    if (!deadline.held) deadline.end();
    log.debug("Request ended", { operation, method, path, status, duration: clock.now() - started, resends });
  }
}

function fetchOptions(
  { method, headers, json, raw }: Exchange,
  token: string,
  deadline: Deadline,
): FetchOptions {
  const own: Record<string, string> = { ...headers };
  if (token !== "") own.authorization = `Bearer ${token}`;
  if (raw !== undefined) own["content-type"] = raw.type;
  else if (json !== undefined) own["content-type"] = "application/json";
  const body = raw === undefined ? json : raw.open(deadline);
  return { method, headers: own, body, redirect: "manual", signal: deadline.signal };
}

function isRedirect({ status }: Response): boolean {
  return status >= 300 && status <= 399;
}

/** Where a request has led to. */
interface Moved {
  readonly response: Response;
  readonly url: string;
  /** Whether that is another server, which has not been shown the token. */
  readonly isElsewhere: boolean;
}

/** Follows the redirects of a `GET`: with the token only as long as they stay on the server. */
async function followed(
  answer: Response,
  { method, path, url: first, fetch }: Exchange,
  { init, name, sent }: { readonly init: FetchOptions; readonly name: string; readonly sent: () => Sent },
): Promise<Moved> {
  let response = answer;
  let url = first;
  let isElsewhere = false;
  for (let redirects = 0; isRedirect(response); redirects++) {
    const location = response.headers.get("location");
    if (location === null) break;
    letGo(response.body);
    if (redirects === MAX_REDIRECTS) {
      throw new ServiceResponseError(`Cannot ${name}: more than ${MAX_REDIRECTS} redirects`);
    }
    const target = URL.parse(location, url);
    if (method !== "GET" || target === null || !/^https?:$/.test(target.protocol)) {
      throw redirected(name, { target: target?.href, path }, sent);
    }
    isElsewhere ||= target.origin !== new URL(url).origin;
    if (isElsewhere) init.headers = elsewhere(init.headers);
    url = target.href;
    response = await fetch(url, init);
  }
  return { response, url, isElsewhere };
}

/** The headers for another server: no token, no cookie and no gateway's key, whatever they are called. */
function elsewhere(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

const HARMLESS = new Set(["accept", "accept-language", "range", "user-agent"]);

function redirected(
  name: string,
  { target, path }: { readonly target: string | undefined; readonly path: string },
  sent: () => Sent,
): RedirectError {
  if (target === undefined) return new RedirectError(name);
  const { origin, pathname } = new URL(target);
  const base = origin + (pathname.endsWith(path) ? pathname.slice(0, -path.length) : "");
  return new RedirectError(name, sent().repeats(base) ? undefined : base);
}

async function refusal(request: Exchange, answer: Answer): Promise<MatrixError> {
  const { operation, method, path, clock } = request;
  const { status, headers } = answer.response;
  const body = await readErrorBody(answer);
  if (status === 413 && body.errcode === undefined) {
    body.error = `a proxy in front of the homeserver takes no body as large as this${
      sizeOf(request)
    }; raise its limit`;
  }
  // The clock of who names a time, if possible.
  const now = Date.parse(headers.get("date") ?? "") || clock.now();
  const wait = retryAfter(headers.get("retry-after"), body.retry_after_ms, now);
  return requestError({ operation, method, path, status, body, retryAfter: wait });
}

/**
 * Reads how long an answer asks to wait, in milliseconds: its `Retry-After` header first,
 * `retry_after_ms` of its body second.
 */
export function retryAfter(header: string | null, inBody: unknown, now: number): number | undefined {
  if (header !== null && header.trim() !== "") {
    const seconds = Number(header);
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  return typeof inBody === "number" && inBody >= 0 ? inBody : undefined;
}

/** Returns the size of a body, as far as it is known. */
function sizeOf({ json, raw }: Exchange): string {
  const size = raw?.size ?? (json === undefined ? undefined : new TextEncoder().encode(json).length);
  return size === undefined ? "" : ` (${size} bytes)`;
}

/** What a response has shown of the server's clock; all in milliseconds since the epoch. */
export interface ServerTime {
  /** The server's time when it answered, without a fraction of a second. */
  readonly shown: number;
  /** The own clock when the request was sent. */
  readonly before: number;
  /** The own clock when the answer came. */
  readonly after: number;
}

/** So far the clocks may be apart, in milliseconds. */
const MAX_SKEW = 60_000;

/** Reads when a server has made a response; undefined: it does not say, or a cache has answered. */
export function timeOf({ headers }: Pick<Response, "headers">): number | undefined {
  if (Number(headers.get("age") ?? 0) !== 0) return undefined;
  const shown = Date.parse(headers.get("date") ?? "");
  return Number.isFinite(shown) ? shown : undefined;
}

/** Returns how far the server's clock is ahead of the own one at the least, in milliseconds. */
export function skewOf({ shown, before, after }: ServerTime): number {
  if (shown < before - 1_000) return shown - before; // it counts seconds
  return Math.max(0, shown - after);
}

/** How the own clock is beside the server's: a part of a sentence; undefined: it agrees with it. */
export function wrongBy(skew: number): string | undefined {
  if (Math.abs(skew) <= MAX_SKEW) return undefined;
  return `${Math.round(Math.abs(skew) / 1_000)} seconds ${
    skew > 0 ? "behind" : "ahead of"
  } that of the server`;
}
