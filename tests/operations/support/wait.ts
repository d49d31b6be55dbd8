/**
 * Waiting for what a homeserver does in its own time, without sleeping: by long polls, or by asking
 * again.
 *
 * @module
 */

import { assertRejects } from "@std/assert";
import type { Client, MatrixRequestError } from "@greenroom/matrix";
import type { SyncResponse, SyncToken } from "@greenroom/matrix/types";
import { PATIENCE_MS } from "../../e2e/support/deadline.ts";

/** Something that was seen in a sync response, and where to sync on from. */
export interface Seen<T> {
  readonly value: T;
  readonly next: SyncToken;
}

/**
 * Syncs until a response shows what is waited for.
 *
 * @param look Gives what it found, undefined to go on.
 * @param since Where to begin; everything if there is no token.
 */
export async function syncUntil<T>(
  client: Client,
  look: (response: SyncResponse) => T | undefined,
  since?: SyncToken,
): Promise<Seen<T>> {
  let token = since;
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const response = await client.sync({ since: token, timeout: end - Date.now() });
    token = response.next_batch;
    const value = look(response);
    if (value !== undefined) return { value, next: token };
  }
  throw new Error("Cannot go on: what is waited for has not come with sync");
}

/** Where sync is now. */
export async function syncToken(client: Client): Promise<SyncToken> {
  return (await client.sync({ timeout: 0 })).next_batch;
}

/**
 * Asks until the answer is what is waited for: for what no sync tells, like the indexes that
 * servers fill by and by.
 */
export async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (Date.now() > end) throw new Error(`Cannot go on: the answer is still ${JSON.stringify(answer)}`);
  }
}

/** Asserts that the homeserver refuses with this error and status. */
export async function refused<E extends MatrixRequestError>(
  request: () => Promise<unknown>,
  // deno-lint-ignore no-explicit-any -- any constructor will do
  errorClass: abstract new (...args: any[]) => E,
  status: number,
): Promise<E> {
  const error = await assertRejects(request, errorClass);
  if (error.status !== status) {
    throw new Error(`The refusal has status ${error.status}, not ${status}: ${error.message}`);
  }
  return error;
}
