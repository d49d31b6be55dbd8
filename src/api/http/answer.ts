/**
 * An answer under its time limit: the body is read, never more of it than was allowed, and where the try
 * fails, this says how. Over 300 lines because the limit is for what happens while a body is read.
 *
 * @module
 */

import { abortReason, alarm, type Clock } from "../../base/clock.ts";
import type { Sent } from "../../base/sent.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { connectionFailure, NetworkError, RequestTimeoutError } from "../../errors/request_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

const ended = abortReason("The request has ended");

/** Aborts its signal when nothing has happened for a while, or when the caller's signal aborts. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #outer: AbortSignal | undefined;
  #progress = 0;
  #stopWatch: (() => void) | undefined;
  #timedOut = false;
  /** Whether all of the answer has come. */
  #settled = false;
  /** Whether a function waits for the end. */
  #awaited = false;
  #failure: { readonly error: unknown } | undefined;

  /** Makes the request, as errors describe it, which must not repeat it: most requests have none. */
  readonly sent: () => Sent;

  /** Whether another owner has to call {@link Deadline.end}. */
  held = false;

  /** Whether it is not the network that is waited for: time does not count then. */
  idle = false;

  /**
   * @param clock Measures the time.
   * @param ms How long nothing may happen, in milliseconds; 0 means for ever.
   * @param outer The caller's signal.
   * @param sent Makes the request, as errors describe it.
   */
  constructor(clock: Clock, ms: number, outer: AbortSignal | undefined, sent: () => Sent) {
    outer?.throwIfAborted();
    this.sent = sent;
    this.#clock = clock;
    this.#ms = ms;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abort);
    if (ms > 0) this.#watch();
  }

  /** What `fetch` listens to. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something happened: the time starts again. */
  touch(): void {
    this.#progress++;
  }

  /** All of the answer has come: there is nothing left to break off. */
  settle(): void {
    this.#settled = true;
  }

  /** Calls back when the request ends, in whatever way. */
  whenEnded(call: () => void): void {
    this.#awaited = true;
    this.signal.addEventListener("abort", call, { once: true });
  }

  /** Makes the caller responsible for {@link Deadline.end}. */
  hold(): void {
    this.held = true;
  }

  /**
   * Ends the request because of something on this side, which is what the request then fails with.
   */
  fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.#failure = { error };
    this.#close(error);
  }

  /** Ends the watch, and with it whatever of the answer has not been read. */
  end(): void {
    this.#outer?.removeEventListener("abort", this.#abort);
    if (this.#settled && !this.#awaited) this.#stopWatch?.();
    else this.#close(ended());
  }

  /**
   * Returns the error that a request under this watch fails with.
   *
   * @param error What was thrown.
   * @param request Names the request.
   */
  explain(error: unknown, request: string): unknown {
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#failure !== undefined) return this.#failure.error;
    if (error instanceof MatrixError) return error;
    const sent = this.sent();
    const { host } = sent;
    const cause = sent.shownError(error);
    if (this.#timedOut) {
      const state = `${host} made no progress for ${this.#ms} ms`;
      return new RequestTimeoutError(`Cannot ${request}: ${state}`, { cause });
    }
    return connectionFailure(cause, request, host);
  }

  readonly #abort = (): void => this.#close(this.#outer?.reason);

  #close(reason: unknown): void {
    this.#stopWatch?.();
    this.#controller.abort(reason);
  }

  /** Looks once per time limit whether there was progress. */
  #watch(): void {
    const seen = this.#progress;
    this.#stopWatch = alarm(this.#clock, this.#ms, () => {
      if (this.idle || seen !== this.#progress) return this.#watch();
      this.#timedOut = true;
      this.#close(new DOMException("The request timed out", "TimeoutError"));
    });
  }
}

/** An error's body is read up to here; what is longer is no Matrix error. */
const MAX_ERROR_SIZE = 1 << 16;

/**
 * A body that is announced to be no longer than this is read at once: a stream costs 30 to 130 µs
 * more. There is then no report of progress, so this has to be what even a bad connection brings
 * within one time limit.
 */
const AT_ONCE = 1 << 16;

/** The first room for a body that does not say how long it is. */
const FIRST_ROOM = 1 << 14;

/** The most room that is made on the word of the sender. */
const MAX_FIRST_ROOM = 1 << 24;

const decoder = new TextDecoder();

/** An answer whose body is about to be read. */
export interface Answer {
  /** The answer. */
  readonly response: Response;
  /** Names the request in errors. */
  readonly request: string;
  /** Is notified of progress. */
  readonly deadline: Deadline;
}

/**
 * Reads a body of JSON.
 *
 * @param answer The answer.
 * @param maxSize The most bytes to take, after decompression.
 * @param options Whether there may be no body: then the result is undefined. Default: false.
 * @throws {ServiceResponseError} If the body is larger, or no JSON.
 */
export async function readJson(
  answer: Answer,
  maxSize: number,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<unknown> {
  const { response, request, deadline } = answer;
  const bytes = await readWhole(answer, maxSize);
  const size = bytes.length;
  if (size === 0 && mayBeEmpty) return undefined;
  try {
    const text = decoder.decode(bytes);
    // Else the bytes would be there beside the text and what it becomes. Not shared: `gather()` made them.
    if (size > AT_ONCE) bytes.buffer.transfer(0);
    return JSON.parse(text);
  } catch {
    // Without the parser's error: it quotes the text, which may hold a secret.
    const type = deadline.sent().shown(response.headers.get("content-type")?.slice(0, 100) ?? "none");
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: it is no JSON (content type ${type}, ${size} bytes)`,
    );
  }
}

/**
 * The body of a refusal, without what it repeats of the request: empty if it is not the JSON object
 * that the specification says.
 */
export async function readErrorBody(answer: Answer): Promise<JsonObject> {
  try {
    const body = await readJson(answer, MAX_ERROR_SIZE);
    return isJsonObject(body) ? answer.deadline.sent().shownBody(body) : {};
  } catch (error) {
    if (error instanceof ServiceResponseError) return {};
    throw error;
  }
}

/**
 * Reads a body whole.
 *
 * @param answer The answer.
 * @param maxSize The most bytes to take, after decompression.
 * @param onProgress Called after each part with the number of bytes so far.
 * @throws {ServiceResponseError} If it is larger.
 * @throws {NetworkError} If it ends before the length that was announced.
 */
export async function readBytes(
  answer: Answer,
  maxSize: number,
  onProgress?: (size: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readWhole(answer, maxSize, onProgress);
  return bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();
}

/** As {@link readBytes}; the bytes' buffer may be larger than they are. */
async function readWhole(
  answer: Answer,
  maxSize: number,
  onProgress?: (size: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const { response, deadline } = answer;
  const announced = announcedSize(response);
  checkSize(answer, announced ?? 0, maxSize);
  if (announced === undefined || announced > AT_ONCE || onProgress !== undefined) {
    return await gather(answer, announced, maxSize, onProgress);
  }
  deadline.touch();
  const bytes = await response.bytes();
  deadline.settle();
  checkSize(answer, bytes.length, maxSize);
  checkComplete(answer, bytes.length, announced);
  return bytes.length > AT_ONCE ? bytes.slice() : bytes; // more than announced, by a custom `fetch`
}

/**
 * Collects a body in one buffer that grows with it: parts with buffers of their own would be there
 * beside the whole.
 */
async function gather(
  answer: Answer,
  announced: number | undefined,
  maxSize: number,
  onProgress: ((size: number) => void) | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const { response, deadline } = answer;
  let whole = new Uint8Array(announced === undefined ? FIRST_ROOM : Math.min(announced + 1, MAX_FIRST_ROOM));
  let size = 0;
  const reader = byteReader(response.body ?? new Blob().stream());
  try {
    while (true) {
      if (size === whole.length) {
        whole = new Uint8Array(whole.buffer.transfer(Math.min(2 * size, maxSize + 1)));
      }
      const { done, value } = await reader.read(whole.subarray(size));
      if (done) deadline.settle();
      if (value === undefined) break;
      whole = new Uint8Array(value.buffer); // the one it was given, under another name
      if (done) break;
      size += value.length;
      deadline.touch();
      checkSize(answer, size, maxSize);
      onProgress?.(size);
    }
  } finally {
    letGo(reader);
  }
  checkComplete(answer, size, announced);
  return whole.subarray(0, size);
}

/**
 * Reads a body into buffers that it is given, as what `fetch` makes can be read; other streams are
 * adapted.
 */
function byteReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    const reader = body.getReader();
    const bytes = new ReadableStream({
      type: "bytes",
      async pull(controller) {
        let next = await reader.read();
        while (next.value?.length === 0) next = await reader.read();
        if (next.value !== undefined) return controller.enqueue(next.value.slice()); // takes the buffer away
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return bytes.getReader({ mode: "byob" });
  }
}

function checkSize({ response, request }: Answer, size: number, maxSize: number): void {
  if (size <= maxSize) return;
  letGo(response.body);
  throw new ServiceResponseError(
    `Cannot use the answer to ${request}: it is larger than ${maxSize} bytes, the most it may be`,
  );
}

function checkComplete({ request }: Answer, size: number, announced = 0): void {
  if (size >= announced) return;
  throw new NetworkError(`Cannot ${request}: the answer broke off after ${size} of ${announced} bytes`);
}

/**
 * Reads a body part by part.
 *
 * @throws {NetworkError} If it ends before the length that was announced.
 */
export async function* readChunks(answer: Answer): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let size = 0;
  const reader = answer.response.body?.getReader();
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      answer.deadline.touch();
      size += next.value.length;
      yield next.value;
    }
  } finally {
    letGo(reader);
  }
  checkComplete(answer, size, announcedSize(answer.response));
}

/**
 * Cancels the rest. This is not awaited: a body that is also read elsewhere, of a clone for
 * example, is only cancelled when both want it to be.
 */
export function letGo(body: { cancel(): Promise<void> } | null | undefined): void {
  body?.cancel().catch(() => {});
}

/**
 * Returns the announced length of the body, in bytes; undefined if the answer does not say, or packs it.
 */
export function announcedSize({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  if (length === null || !/^\d+$/.test(length)) return undefined;
  // A body in chunks ends with the last of them, whatever length is announced beside (RFC 9112,
  // section 6.3).
  return headers.has("content-encoding") || headers.has("transfer-encoding") ? undefined : Number(length);
}
