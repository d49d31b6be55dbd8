/**
 * Where a homeserver is: known from the start, or found out when that is needed first.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { ValueError } from "../../errors/value_error.ts";

/** Finds out where a homeserver is; the signal aborts when the address is not needed any more. */
export type FindAddress = (signal: AbortSignal) => Promise<string | URL>;

/** A search under way, and for how many. */
interface Search {
  readonly abort: AbortController;
  readonly found: Promise<string>;
  waiting: number;
}

/** The address of one homeserver. */
export class Address {
  #url: string;
  readonly #find: FindAddress | undefined;
  #search: Search | undefined;

  /**
   * @param given The address, or what finds it.
   * @throws {ValueError} If it can't be one.
   */
  constructor(given: string | URL | FindAddress) {
    this.#find = typeof given === "function" ? given : undefined;
    this.#url = typeof given === "function" ? "" : checkedBaseUrl(given);
  }

  /** The address, without a slash at its end; empty until it was found. */
  get url(): string {
    return this.#url;
  }

  /** Moves to another address. */
  set url(url: string | URL) {
    this.#url = checkedBaseUrl(url);
  }

  /**
   * Finds the address: once for all calls that overlap, and again after a failure. A search that no
   * call waits for any more is aborted.
   */
  async find(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const search = this.#search ??= this.#begin();
    search.waiting++;
    try {
      return await (signal ? abortable(search.found, signal) : search.found);
    } finally {
      if (--search.waiting === 0) {
        search.abort.abort();
        if (this.#search === search) this.#search = undefined;
      }
    }
  }

  #begin(): Search {
    const abort = new AbortController();
    const found = this.#found(abort.signal);
    found.catch(() => {}); // reported to those calls that wait
    return { abort, found, waiting: 0 };
  }

  /** What is found, unless the address was set meanwhile. */
  async #found(signal: AbortSignal): Promise<string> {
    const found = checkedBaseUrl(await this.#find?.(signal) ?? "");
    return this.#url ||= found;
  }
}

/**
 * A homeserver's address as the transport keeps it: without a slash at its end.
 *
 * @throws {ValueError} If it is no absolute `http` or `https` URL, or has more than a host and a
 *   path.
 */
export function checkedBaseUrl(url: string | URL): string {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    throw new ValueError(`Cannot use the base URL${shown(url)}: it must be an absolute http or https URL`);
  }
  if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new ValueError("Cannot use the base URL: it must have no user name, password, query or fragment");
  }
  let base = `${parsed.origin}${parsed.pathname}`;
  while (base.endsWith("/")) base = base.slice(0, -1);
  return base;
}

/** What was given, if it looks like an address: else it may hold a password, or be a token. */
function shown(url: string | URL): string {
  const text = String(url);
  return /^[a-z\d.:/[\]-]{1,200}$/i.test(text) ? ` "${text}"` : "";
}
