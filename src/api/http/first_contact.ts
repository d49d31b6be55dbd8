/**
 * Whether there is a homeserver at all.
 *
 * What answers wrongly may be a homeserver that is being restarted, behind a proxy that shows a page of its own meanwhile. So an
 * address is only found to be wrong by a client that no homeserver has answered yet, and by an answer that says so: a redirect, or
 * one to the question for versions that is found (2xx) and no Matrix, or not found (404, 405, 410). A failure of the server (5xx), a
 * refusal (401, 403, 429) and no answer at all say nothing.
 *
 * @module
 */

import { MatrixRequestError } from "../../errors/request_error.ts";
import {
  HomeserverAddressError,
  RedirectError,
  ServiceResponseError,
} from "../../errors/service_response_error.ts";
import { isMatrixRefusal } from "./matrix_refusal.ts";
import type { Session } from "../session.ts";

/** What says that nobody is there, if a homeserver has not said it. */
const NOT_FOUND = new Set([404, 405, 410]);

/**
 * What a failure means for a client that begins.
 *
 * @param error Why a request failed.
 * @param session Who asked.
 * @param signal Ends the question for versions.
 * @returns A {@link HomeserverAddressError} if the address is not one of a homeserver; else what was given.
 */
export async function firstContact(error: unknown, session: Session, signal?: AbortSignal): Promise<unknown> {
  const { http } = session;
  if (http.isAnswered || !isStrange(error)) return error;
  const cause = error instanceof RedirectError ? error : await strangeVersions(session, signal);
  if (cause === undefined) return error;
  const mend = error instanceof RedirectError && error.origin !== undefined
    ? `set it to ${error.origin}`
    : "is baseUrl the address of the homeserver? Client.discover(…) finds it";
  return new HomeserverAddressError(
    `Cannot use ${http.baseUrl}: what answers there is no Matrix homeserver; ${mend}`,
    { cause },
  );
}

/** What is strange about the answer to the question that every homeserver answers; undefined if nothing is. */
async function strangeVersions(session: Session, signal?: AbortSignal): Promise<unknown> {
  try {
    await session.versions({ retry: false, signal });
    return undefined;
  } catch (error) {
    return isStrange(error) ? error : undefined;
  }
}

/** Whether an answer is one that neither a homeserver nor what stands in front of one would give for long. */
function isStrange(error: unknown): boolean {
  if (!(error instanceof MatrixRequestError)) return error instanceof ServiceResponseError;
  return NOT_FOUND.has(error.status) && !isMatrixRefusal(error);
}
