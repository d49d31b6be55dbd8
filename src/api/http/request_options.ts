/**
 * What a caller may say of any single request.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { Query } from "./endpoint.ts";
import type { MatrixRequestError } from "../../errors/request_error.ts";

/**
 * When and how often a request that failed is sent again. Only what may be repeated is.
 *
 * The status 429 says that the server wants fewer requests, and has done nothing. It uses up no try, and
 * every request waits for it: those of a kind wait in one row, in the order in which they were called, until
 * the server lets them through. {@link RetryPolicy.maxRetryAfter} and {@link RetryPolicy.maxLimitWait} bound
 * the wait, and so does the request's signal.
 */
export interface RetryPolicy {
  /**
   * How many tries there are after the first; 0 means a single one, which does not wait for a 429
   * either. A request that may have been done, and must not be done twice (most that are a `POST`), has a
   * single try unless the call itself says how many. Default: 4.
   */
  readonly maxRetries: number;
  /**
   * The first delay, in milliseconds; it doubles with each try and is up to a fifth shorter by
   * chance. Default: 500.
   */
  readonly base: number;
  /** The longest delay, in milliseconds. Default: 30,000. */
  readonly cap: number;
  /**
   * The longest wait that a server may ask for (`Retry-After`, `retry_after_ms`), in milliseconds.
   * If it asks for more, the request fails immediately, with the server's wish in the error.
   * Default: 120,000.
   */
  readonly maxRetryAfter: number;
  /**
   * How long requests wait for 429 while the server lets none of their kind through, in milliseconds.
   * Waiting behind others that it lets through does not count. Default: 600,000.
   */
  readonly maxLimitWait: number;
  /**
   * Which refusals are worth another try. Default: the statuses 429, 502, 503 and 504, but for
   * `M_NOT_YET_UPLOADED`.
   */
  readonly retryable: (error: MatrixRequestError) => boolean;
  /** @internal */
  readonly [PATIENCE]?: { readonly ms: number; readonly over: Error };
}

/** The key of how long a request waits for 429 in all, and of why it ends then. */
export const PATIENCE = Symbol("patience");

/** The policy where nothing else is said. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 4,
  base: 500,
  cap: 30_000,
  maxRetryAfter: 120_000,
  maxLimitWait: 600_000,
  // The server has waited already for media that is not there yet, as long as it was asked to.
  retryable: ({ status, errcode }) =>
    [429, 502, 503, 504].includes(status) && errcode !== "M_NOT_YET_UPLOADED",
};

const SINGLE_TRY: RetryPolicy = { ...DEFAULT_RETRY, maxRetries: 0 };

/** A policy with a caller's changes; `false` means a single try. */
export function retryPolicy(
  base: RetryPolicy,
  changes: Partial<RetryPolicy> | false | undefined,
): RetryPolicy {
  if (changes === undefined) return base;
  return changes === false ? SINGLE_TRY : { ...base, ...changes };
}

/** The options that every operation takes, beside its own. */
export interface RequestOptions {
  /**
   * Ends the request, its retries and their waits; the operation then rejects with the signal's
   * reason.
   */
  signal?: AbortSignal;
  /**
   * How long one try may stay without progress, in milliseconds; 0 means for ever. Default: the
   * client's `requestTimeout`, 60,000 unless set. Where the server is asked to wait, that time
   * begins when the wait is over.
   */
  requestTimeout?: number;
  /**
   * More headers. `Authorization` is the client's own and can't be set. A redirect to another server takes
   * none of them along but `Accept`, `Accept-Language`, `Range` and `User-Agent`.
   */
  headers?: Readonly<Record<string, string>>;
  /** More parameters of the query. */
  query?: Query;
  /**
   * Changes to the client's retry policy, or `false` for a single try. `maxRetries` given here holds for
   * requests, too, that might be done twice then.
   */
  retry?: Partial<RetryPolicy> | false;
  /** Application services: the user to act as (`user_id`). */
  asUserId?: UserID;
  /** Application services: the device to act as (`device_id`). */
  asDeviceId?: DeviceID;
  /**
   * Application services: the time the event is said to be from, in milliseconds since the epoch
   * (`ts`).
   */
  timestamp?: number;
}

/** The names of the options that every operation takes. */
export const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  ...{ signal: true, requestTimeout: true, headers: true, query: true, retry: true },
  ...{ asUserId: true, asDeviceId: true, timestamp: true },
};
const RETRY: OptionNames<RetryPolicy> = {
  ...{ maxRetries: true, base: true, cap: true, maxRetryAfter: true, maxLimitWait: true, retryable: true },
};

const CALLED = Symbol("called");

/** Options for another operation, whose errors name the one that was called. */
export function calledAs<Options extends RequestOptions>(
  options: Options | undefined,
  name: string,
): Options {
  return { [CALLED]: name, ...options } as Options & { [CALLED]: string };
}

/**
 * Refuses options that an operation has not: what is left of them when it has taken its own.
 *
 * @throws {ValueError} If there is one.
 */
export function checkRequestOptions(
  options: RequestOptions & { [CALLED]?: string },
  operation: string,
): void {
  const { [CALLED]: called = operation, retry } = options;
  checkOptions(options, REQUEST_OPTIONS, called, "", OPERATION_OPTIONS);
  if (retry !== undefined && retry !== false) checkOptions(retry, RETRY, called, "retry.");
}

/**
 * Refuses changes to a retry policy that it has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkRetry(retry: RequestOptions["retry"], action: string): void {
  if (retry !== false) checkOptions(retry, RETRY, action, "retry.");
}

/**
 * Of the options of one operation, those that fit every request which the operation makes before.
 */
export function requestOptions(
  { signal, requestTimeout, headers, retry, asUserId, asDeviceId }: RequestOptions,
): RequestOptions {
  return { signal, requestTimeout, headers, retry, asUserId, asDeviceId };
}

/**
 * Refuses options that an act of several requests has not.
 *
 * @param own The names of the options that the act itself has.
 * @param act What was to be done, as the error has it.
 * @throws {ValueError} If there is one.
 */
export function checkActOptions<Options extends RequestOptions>(
  options: Options,
  own: OptionNames<Omit<Options, keyof RequestOptions>>,
  act: string,
): void {
  checkOptions(options, { ...REQUEST_OPTIONS, ...own }, act);
  checkRetry(options.retry, act);
}

/**
 * Of what was given to an act of several requests, the options that fit each of them: as
 * {@link checkActOptions} checks them.
 */
export function optionsOfEach<Options extends RequestOptions>(
  options: Options,
  own: OptionNames<Omit<Options, keyof RequestOptions>>,
  act: string,
): RequestOptions {
  checkActOptions(options, own, act);
  return requestOptions(options);
}

/**
 * The query that says as whom a request is made, and when.
 *
 * @param options The request's own.
 * @param byDefault As whom all requests are made, that do not say.
 */
export function identityQuery(
  { asUserId, asDeviceId, timestamp }: RequestOptions,
  byDefault: Pick<RequestOptions, "asUserId" | "asDeviceId">,
): Query | undefined {
  const user = asUserId ?? byDefault.asUserId;
  const device = asDeviceId ?? byDefault.asDeviceId;
  if (user === undefined && device === undefined && timestamp === undefined) return undefined;
  return { user_id: user, device_id: device, "org.matrix.msc3202.device_id": device, ts: timestamp };
}

/**
 * Checks a caller's query of a send.
 *
 * @throws {ValueError} If it asks for something else than an event: the answer would have no event ID.
 */
export function checkSendQuery(query: Query, operation: string): void {
  const delay = Object.keys(query).find((name) => /(^|[._])delay(_id)?$/.test(name));
  if (delay === undefined) return;
  throw new ValueError(
    `Cannot ${operation}: its query has ${delay}, and a delayed event has no event ID; use client.request()`,
  );
}

/**
 * A caller's headers, but for `Authorization`; their names in lower case.
 *
 * @throws {ValueError} If one can't be sent.
 */
export function requestHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      throw new ValueError(
        `Cannot send the header ${JSON.stringify(name)}: its name or its value is malformed`,
      );
    }
  }
  headers.delete("authorization");
  return Object.fromEntries(headers);
}

const NAMES =
  "additionalCreators after aliasLocalpart allowRemote alone animated appId asDeviceId asUserId at " +
  "authentication automatic before body caption captionHtml checkCurrent clearAccessToken clientSecret clock country conditions creationContent criteria " +
  "customRequestFields delay deviceId deviceKeys deviceName direction disableEncryption encrypted erase eventType " +
  "events extraContent extraFields fallbackKeys fetch fields fileName fileType filename filter filterId " +
  "filterJson format from fromToken fullState headers height html idAccessToken idServer idempotent identifier " +
  "include includeAllNetworks info inhibitLogin initialState invitees invite isDirect key kind limit log " +
  "loginToken loginType logoutDevices masterKey maxDepth maxMemory maxRetries maxSize membership mentions mimeType msgtype " +
  "name nextBatch nextLink notMembership onProgress onRecoveryKey oneTimeKeys only override passphrase password path " +
  "pattern powerLevelContentOverride presence preset privateReadReceipt query queue raise404 readReceipt " +
  "reason receiptType recoveryKey recurse relType relatesTo replyTo requestTimeout resizeMethod " +
  "retry roomId roomTypes roomVersion searchQuery selfSigningKey sendAttempt server serverName servers setPresence signal " +
  "since size stateKey status storage storeAccessToken suggestedOnly text thirdPartyInstanceId " +
  "thirdPartySigned thread threadId thumbnail timeout timestamp to toToken token topic txnId updateHsUrl userAgent " +
  "useStateAfter userSigningKey username version visibility width withRefreshToken";

/** Their names, to find what was meant by one that there is not. */
export const OPERATION_OPTIONS: readonly string[] = NAMES.split(" ");

/**
 * Checks a number, if there is one.
 *
 * @param name What the caller calls it.
 * @param value The number; undefined passes.
 * @param min The smallest value allowed.
 * @throws {ValueError} If it is no integer, too small, or beyond what JSON carries exactly.
 */
export function checkInteger(name: string, value: number | undefined, min: number = 0): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min)) return;
  throw new ValueError(`Cannot use ${name} ${String(value)}: it must be an integer of at least ${min}`);
}
