/**
 * The requests that a homeserver has seen.
 *
 * @module
 */

import type { UserID } from "../types/ids.ts";

/** The largest body that is kept, in bytes: enough for every JSON body, and no media. */
const LARGEST_BODY = 65_536;

/** A request that arrived. */
export class LoggedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path on the wire, with its escapes. */
  readonly path: string;
  /** The query parameters. */
  readonly query: URLSearchParams;
  /** The request headers. */
  readonly headers: Headers;
  /** Who sent it; `undefined` without a valid access token. */
  readonly user: UserID | undefined;
  /** When it arrived, in milliseconds since the epoch. */
  readonly time: number;
  /**
   * The HTTP status of the answer; `undefined` as long as there is none, and if the connection was
   * cut.
   */
  status: number | undefined;
  readonly #body: Uint8Array<ArrayBuffer> | undefined;

  /** @internal Notes a request. */
  constructor(
    request: { method: string; url: URL; headers: Headers; body: Uint8Array<ArrayBuffer> },
    user: UserID | undefined,
    time: number,
  ) {
    this.method = request.method;
    this.path = request.url.pathname;
    this.query = request.url.searchParams;
    this.headers = request.headers;
    this.user = user;
    this.time = time;
    this.#body = request.body.byteLength <= LARGEST_BODY ? request.body : undefined;
  }

  /** The body as JSON; `undefined` if it is none, or larger than 64 KiB. */
  get json(): unknown {
    if (this.#body === undefined || this.#body.byteLength === 0) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(this.#body));
    } catch {
      return undefined;
    }
  }
}

/** The latest requests, oldest first. */
export class RequestLog implements Iterable<LoggedRequest> {
  readonly #capacity: number;
  #requests: LoggedRequest[] = [];

  /** Makes an empty log that keeps the latest `capacity` requests. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many requests are kept. */
  get length(): number {
    return this.#requests.length;
  }

  /** The latest request. */
  get last(): LoggedRequest | undefined {
    return this.#requests.at(-1);
  }

  /**
   * Returns the requests that fit a method and a path.
   *
   * @param method The HTTP method, in capitals.
   * @param path A part of the path, or a regular expression for it.
   * @returns The requests, oldest first.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * assertEquals(homeserver.requests.filter("GET", "/versions").length, 1);
   * ```
   */
  filter(method: string, path: string | RegExp): LoggedRequest[] {
    return this.#requests.filter((request) =>
      request.method === method &&
      (typeof path === "string" ? request.path.includes(path) : request.path.search(path) >= 0)
    );
  }

  /**
   * Forgets all requests.
   *
   * @example
   * ```ts
   * import { Homeserver } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * await using homeserver = new Homeserver();
   * await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
   * homeserver.requests.clear();
   * assertEquals(homeserver.requests.length, 0);
   * ```
   */
  clear(): void {
    this.#requests = [];
  }

  /** Notes a request; the homeserver calls this. */
  add(request: LoggedRequest): void {
    this.#requests.push(request);
    // Trimming rarely, by half, keeps adding cheap.
    if (this.#requests.length > 2 * this.#capacity) this.#requests = this.#requests.slice(-this.#capacity);
  }

  /** Goes through the requests, oldest first. */
  [Symbol.iterator](): Iterator<LoggedRequest> {
    return this.#requests.values();
  }
}
