/** Loads what strangers name: within bounds, and from public addresses alone. */

import { lookup as resolve } from "node:dns";
import type { LookupFunction } from "node:net";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
// Knows the ranges of addresses: private, loopback, link-local, and what is mapped into IPv6.
import ipaddr from "npm:ipaddr.js@^2.5.0";

/** What was loaded, and by what the server knows it again. */
export interface Loaded {
  text: string;
  /** Where it was, after redirects. */
  url: string;
  etag?: string;
  lastModified?: string;
}

/** How something is loaded. */
export interface GetOptions {
  /** What the server said the last time. */
  etag?: string;
  lastModified?: string;
  signal?: AbortSignal;
  /** Hosts on the own machine and network that may be asked, too, like `intranet:8080`. Default: none. */
  allow?: readonly string[];
  /** How long it may take, in milliseconds. Default: 15 seconds. */
  timeout?: number;
}

/** Why something could not be loaded; its message may be shown to anybody. */
export class GetError extends Error {}

const MAX_BYTES = 2_000_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** The longest ETag, and the like. */
const MAX_HEADER = 1_000;

/**
 * An address that may be asked.
 *
 * @throws {GetError} If it is none.
 */
export function checkUrl(text: string | URL, allow: readonly string[] = []): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username || url.password) {
    throw new GetError("the address must begin with http:// or https://, and have no password");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(host) && !allow.includes(url.host) && !isPublic(host)) throw refused();
  return url;
}

/**
 * Loads a text.
 *
 * @returns Undefined: it is what it was.
 * @throws {GetError} If it can't be loaded, or is too large.
 */
export async function get(address: string, options: GetOptions = {}): Promise<Loaded | undefined> {
  const { signal, timeout = 15_000 } = options;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new GetError("it took too long")), timeout);
  const stop = () => over.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  try {
    if (signal?.aborted) stop();
    return await load(address, options, over.signal);
  } catch (error) {
    if (over.signal.aborted) throw over.signal.reason;
    if (error instanceof GetError) throw error;
    throw new GetError("the server can't be reached", { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

async function load(
  address: string,
  { etag, lastModified, allow = [] }: GetOptions,
  signal: AbortSignal,
): Promise<Loaded | undefined> {
  const headers = {
    "user-agent": "greenroom-feed-bot",
    "accept": "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5",
    "accept-encoding": "identity", // a small body that unfolds into a large one is no use here
    ...(etag && { "if-none-match": etag }),
    ...(lastModified && { "if-modified-since": lastModified }),
  };
  let url = checkUrl(address, allow);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    signal.throwIfAborted();
    const response = await request(url, {
      headers,
      signal,
      lookup: allow.includes(url.host) ? undefined : lookupPublic,
    });
    const { statusCode = 0, headers: answer } = response;
    try {
      if (statusCode === 304) return undefined;
      if (REDIRECTS.includes(statusCode)) {
        const target = URL.parse(answer.location ?? "", url);
        if (target === null) throw new GetError("the server redirects to nowhere");
        url = checkUrl(target, allow); // each one: a public server may name a private one
        continue;
      }
      if (statusCode !== 200) throw new GetError(`the server answers ${statusCode}`);
      const bytes = await read(response);
      const text = decode(bytes, answer["content-type"]);
      const kept = (value?: string) => value !== undefined && value.length <= MAX_HEADER ? value : undefined;
      return { text, url: url.href, etag: kept(answer.etag), lastModified: kept(answer["last-modified"]) };
    } finally {
      response.destroy();
    }
  }
  throw new GetError("the server redirects too often");
}

/** Begins a request; `fetch()` would ask for the address of a name again, and may be told another. */
async function request(
  url: URL,
  options: { headers: Record<string, string>; signal: AbortSignal; lookup: LookupFunction | undefined },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { lookup, ...rest } = options;
  const all = { ...rest, agent: false, ...(lookup && { lookup }) } as const;
  (url.protocol === "https:" ? https : http).request(url, all, resolve).on("error", reject).end();
  return await promise;
}

/** Looks up the addresses of a name, and leaves out those that are not public. */
const lookupPublic: LookupFunction = (name, options, done) => {
  resolve(name, { ...options, all: true }, (error, addresses = []) => {
    const found = addresses.filter(({ address }) => isPublic(address));
    const { address = "", family } = found[0] ?? {};
    if (options.all) done(error ?? (found.length === 0 ? refused() : null), found);
    else done(error ?? (found.length === 0 ? refused() : null), address, family);
  });
};

function isPublic(address: string): boolean {
  try {
    return ipaddr.process(address).range() === "unicast";
  } catch {
    return false;
  }
}

function refused(): GetError {
  return new GetError("addresses of the bot's own machine and network are not asked");
}

async function read(response: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const { "content-length": length, "content-encoding": encoding = "identity" } = response.headers;
  if (encoding !== "identity") throw new GetError("the server compresses what was to be plain");
  if (Number(length) > MAX_BYTES) throw tooLarge();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function tooLarge(): GetError {
  return new GetError(`it is larger than ${MAX_BYTES / 1_000_000} MB`);
}

function decode(bytes: Uint8Array, type = ""): string {
  const begins = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  const named = /charset="?([\w-]+)/i.exec(type) ?? /^<\?xml[^>]*encoding=["']([\w-]+)/.exec(begins);
  try {
    return new TextDecoder(named?.[1] ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // nobody knows that charset
  }
}
