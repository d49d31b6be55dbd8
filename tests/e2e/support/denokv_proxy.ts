/**
 * A network between a store and its denokv on which chosen requests fail.
 *
 * @module
 */

/** Sends the request on, and gives what the server answers. */
export type Forward = () => Promise<Response>;

/** What becomes of a request to write. */
export type WriteRule = (forward: Forward) => Promise<Response>;

/** An answer that breaks off, as when the connection is cut. */
export function cut(): Response {
  const body = new Blob([new Uint8Array([8])]).stream();
  return new Response(body, { headers: { "content-length": "14" } });
}

/** Passes on what comes to its address. `await using` ends it. */
export class DenokvProxy implements AsyncDisposable {
  /** How many requests have come. */
  requests = 0;
  /** How many requests to write have come. */
  writes = 0;
  /** How many requests for the token to write with have come. */
  exchanges = 0;
  readonly #rules: WriteRule[] = [];
  readonly #exchangeRules: WriteRule[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param target The address of the server. */
  constructor(target: string) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const { pathname } = new URL(request.url);
      this.requests++;
      const { method, headers } = request;
      const body = await request.bytes();
      const forward = () => fetch(`${target}${pathname}`, { method, headers, body });
      if (pathname === "/") {
        this.exchanges++;
        return await (this.#exchangeRules.shift()?.(forward) ?? forward());
      }
      if (!pathname.endsWith("/atomic_write")) return await forward();
      this.writes++;
      return await (this.#rules.shift()?.(forward) ?? forward());
    });
  }

  /** Its address. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** What becomes of the next requests to write, one after the other. */
  next(...rules: WriteRule[]): void {
    this.#rules.push(...rules);
  }

  /** What becomes of the next requests for a token. */
  nextExchanges(...rules: WriteRule[]): void {
    this.#exchangeRules.push(...rules);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
