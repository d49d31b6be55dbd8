/**
 * The network between a bot and its homeserver, which can fail.
 *
 * @module
 */

/** What becomes of requests: they arrive, no host answers, or a proxy says that the homeserver is away. */
export type Weather = "fair" | "down" | "bad gateway";

/** A `fetch` that a story can cut. */
export class Network {
  readonly #fetch: typeof fetch;
  #weather: Weather = "fair";
  #cut = new AbortController();
  /** Events on their way. */
  readonly #sends = new Set<Promise<unknown>>();

  /** @param fetch What reaches the homeserver. */
  constructor(fetch: Network["fetch"]) {
    this.#fetch = fetch;
  }

  /** What becomes of requests. */
  get weather(): Weather {
    return this.#weather;
  }

  /** Changes what becomes of requests; those under way break off. */
  set weather(weather: Weather) {
    this.#weather = weather;
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  /** Sends a request, if it gets through. */
  readonly fetch: typeof fetch = async (input, init) => {
    if (this.#weather === "bad gateway") {
      return new Response("<html><h1>502 Bad Gateway</h1></html>", {
        status: 502,
        headers: { "content-type": "text/html" },
      });
    }
    if (this.#weather === "down") throw new TypeError("the connection was refused");
    const { signal: cut } = this.#cut;
    const request = new Request(input, init);
    const answered = this.#fetch(new Request(request, { signal: AbortSignal.any([request.signal, cut]) }));
    try {
      return await (request.method === "PUT" ? this.#sent(answered) : answered);
    } catch (error) {
      if (cut.aborted && !request.signal.aborted) {
        throw new TypeError("the connection was reset", { cause: error });
      }
      throw error;
    }
  };

  /**
   * Waits until the answers to all events on their way have come. Where a bot does not get one before it
   * gives up, its handler fails though the event is there: what it had counted is not kept.
   */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sends);
  }

  /** An answer with its body. */
  async #sent(answered: Promise<Response>): Promise<Response> {
    const whole = answered.then(async (response) => new Response(await response.arrayBuffer(), response));
    this.#sends.add(whole);
    try {
      return await whole;
    } finally {
      this.#sends.delete(whole);
    }
  }
}
