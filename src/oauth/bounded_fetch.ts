/**
 * Sends what goes to an authorization server: so long and no longer, and of the answer so much and no more.
 * A file of its own because no part of the protocol is in it.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { concat } from "@std/bytes/concat";
import { alarm, type Clock } from "../base/clock.ts";
import { Sent } from "../base/sent.ts";
import { isJsonObject } from "../types/json.ts";
import { MatrixError } from "../errors/matrix_error.ts";
import { connectionFailure, NetworkError, RequestTimeoutError } from "../errors/request_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";

/** How long a request may take, in milliseconds. */
export const ASK_LIMIT = 20_000;
/** The largest answer, in bytes. */
const MAX_ANSWER = 1 << 16;
/** The parameters that are secret. */
const SECRETS = ["refresh_token", "token", "code", "code_verifier", "device_code"];
/** Statuses of answers that have no body. */
const EMPTY = [204, 205, 304];

/**
 * Makes a `fetch` for one request.
 *
 * @param send What sends it.
 * @param clock Measures the time.
 * @param request Names the request in errors.
 */
export function boundedFetch(send: typeof fetch, clock: Clock, request: string): typeof fetch {
  return async (input, init) => {
    const sent = new Sent({ url: String(input), credentials: () => secretsIn(init?.body) });
    const { host } = sent;
    const late = new AbortController();
    const over = alarm(clock, ASK_LIMIT, () => late.abort());
    const outer = init?.signal ?? undefined;
    const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
    try {
      const answer = send(input, { ...init, signal, redirect: "manual" });
      const response = await abortable(answer, signal);
      const body = await abortable(bounded(response, request), signal);
      const { status, headers } = response;
      if (status === 429 || status >= 500) {
        throw new NetworkError(`Cannot ${request}: ${host} answered ${status}; it is tried again`);
      }
      const shown = response.ok ? body : withoutSecrets(body, sent);
      return new Response(EMPTY.includes(status) ? null : shown, { status, headers });
    } catch (error) {
      outer?.throwIfAborted();
      if (late.signal.aborted) {
        throw new RequestTimeoutError(`Cannot ${request}: ${host} did not answer within ${ASK_LIMIT} ms`);
      }
      throw error instanceof MatrixError ? error : connectionFailure(sent.shownError(error), request, host);
    } finally {
      over();
    }
  };
}

/** Returns those parts of a form that authorise somebody. */
function secretsIn(body: BodyInit | null | undefined): readonly string[] {
  if (!(body instanceof URLSearchParams)) return [];
  return [...body].filter(([name]) => SECRETS.includes(name)).map(([, value]) => value);
}

/** The body of a refusal, without what repeats a secret: its texts are shown. */
function withoutSecrets(body: Uint8Array<ArrayBuffer>, sent: Sent): BodyInit {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(parsed) ? JSON.stringify(sent.shownBody(parsed)) : "";
  } catch {
    return "";
  }
}

async function bounded({ body }: Response, request: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) {
      throw new ServiceResponseError(`Cannot ${request}: the answer has more than ${MAX_ANSWER} bytes`);
    }
  }
  return concat(chunks);
}
