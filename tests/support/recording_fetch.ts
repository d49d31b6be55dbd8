/**
 * A `fetch` that checks what passes.
 *
 * @module
 */

import { requestProblems } from "./openapi.ts";

/** A `fetch` whose requests were checked. */
export interface CheckedFetch {
  /** Sends as the one it is made of. */
  readonly fetch: typeof fetch;
  /** What was wrong with the requests so far. */
  readonly problems: string[];
  /** The requests so far: method and path. */
  readonly seen: string[];
}

/**
 * Puts the check in front of a `fetch`.
 *
 * @param inner What sends the requests: an in-process homeserver's, or the global one.
 */
export function recordingFetch(inner: typeof fetch): CheckedFetch {
  const problems: string[] = [];
  const seen: string[] = [];
  return {
    problems,
    seen,
    async fetch(input, init = {}) {
      const { method = "GET", headers, body } = init;
      seen.push(`${method} ${new URL(String(input)).pathname}`);
      problems.push(...requestProblems({
        method,
        url: String(input),
        headers: new Headers(headers),
        body: typeof body === "string" ? JSON.parse(body) : body && new Uint8Array(),
      }));
      return await inner(input, init);
    },
  };
}
