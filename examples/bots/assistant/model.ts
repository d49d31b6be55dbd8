/** Any model behind an address that speaks as OpenAI's does. */

import type { Clock } from "@greenroom/matrix";

/** Where the model is. */
export interface Model {
  /** The address, up to `/chat/completions`. */
  url: string;
  /** Its name. */
  model: string;
  /** The key, if it needs one. */
  key?: string;
}

/** What was said. */
export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

/** Who asks. */
export interface Asking {
  /** Ends the question. */
  signal: AbortSignal;
  /** Measures how long the model says nothing. */
  clock: Clock;
}

/** The model has said nothing for too long. */
export class SilenceError extends Error {}

/** How long it may, in milliseconds: the next question waits for this one. */
const PATIENCE = 60_000;
/** The longest line and the longest answer that are read, in characters. */
const MAX_LINE = 100_000;
const MAX_ANSWER = 200_000;

/**
 * Asks a model, and gives its answer as it comes.
 *
 * @throws {TypeError} If the model can't be reached, refuses, or its answer breaks off.
 * @throws {SilenceError} If nothing comes for a minute.
 */
export async function* complete(
  { url, model, key }: Model,
  messages: readonly Message[],
  { signal, clock }: Asking,
): AsyncIterableIterator<string> {
  using silence = new Silence(clock);
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages, stream: true }),
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new TypeError(`The model answers ${response.status}`);
  }
  let length = 0;
  for await (const line of lines(response.body)) {
    if (!line.startsWith("data:")) continue;
    silence.broken(); // also by what a model thinks
    const data = line.slice(5).trim();
    if (data === "[DONE]") return;
    const piece: unknown = JSON.parse(data)?.choices?.[0]?.delta?.content;
    if (typeof piece !== "string") continue;
    length += piece.length;
    if (length > MAX_ANSWER) throw new TypeError("The model's answer is too long");
    yield piece;
  }
  throw new TypeError("The model's answer broke off");
}

async function* lines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncIterableIterator<string> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const all = (rest + text).split("\n");
    rest = all.pop() ?? "";
    if (rest.length > MAX_LINE) throw new TypeError("The model's answer has too long a line");
    yield* all;
  }
}

/** Signals that nothing has come for too long. */
class Silence {
  readonly #over = new AbortController();
  readonly #clock: Clock;
  #wait = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.broken();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Something has come: it begins anew. */
  broken(): void {
    this.#wait.abort();
    this.#wait = new AbortController();
    this.#clock.delay(PATIENCE, { signal: this.#wait.signal }).then(
      () => this.#over.abort(new SilenceError("The model says nothing")),
      () => {}, // it is not waited for any more
    );
  }

  [Symbol.dispose](): void {
    this.#wait.abort();
  }
}
