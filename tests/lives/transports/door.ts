/**
 * Where a homeserver reaches a bot: processes come and go behind it.
 *
 * @module
 */

/** Answers requests. */
export type Answering = (request: Request) => Promise<Response>;

/** A place where processes answer, in turns if there are several. */
export class Door {
  readonly #answering: Answering[] = [];
  /** Its address, without a path. */
  readonly url: string;
  #turn = 0;

  /** @param url Its address, without a path. */
  constructor(url: string) {
    this.url = url;
  }

  /** Has a process answer, until a signal aborts: requests under way break off then. */
  open(answer: Answering, signal: AbortSignal): void {
    const mortal: Answering = async (request) => {
      const end = Promise.withResolvers<Response>();
      const cut = () => end.resolve(new Response(null, { status: 502 }));
      signal.addEventListener("abort", cut);
      try {
        return await Promise.race([answer(request), end.promise]);
      } finally {
        signal.removeEventListener("abort", cut);
      }
    };
    this.#answering.push(mortal);
    signal.addEventListener("abort", () => this.#answering.splice(this.#answering.indexOf(mortal), 1));
  }

  /** Answers: 502 if nobody is there. */
  readonly answer: Answering = async (request) => {
    const answer = this.#answering[this.#turn++ % this.#answering.length];
    return await answer?.(request) ?? new Response(null, { status: 502 });
  };
}
