/**
 * A proxy on the loopback interface, in front of a homeserver: a faulty network for a peer in
 * another process.
 *
 * @module
 */

import { FaultyNetwork } from "./faulty/network.ts";

/** Passes on what comes to its address. `await using` ends it. */
export class Proxy implements AsyncDisposable {
  /** What becomes of the requests. */
  readonly network = new FaultyNetwork();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #ending = new AbortController();

  /** @param target The homeserver. */
  constructor({ baseUrl }: { baseUrl: string }) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      try {
        return await this.#pass(baseUrl, request);
      } catch {
        return Response.json({ errcode: "M_UNKNOWN", error: "The network is down" }, { status: 502 });
      }
    });
  }

  /** Its address. */
  get homeserver(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#server.shutdown();
  }

  async #pass(baseUrl: string, request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { method } = request;
    const headers = new Headers(request.headers);
    for (const name of ["host", "connection", "content-length", "accept-encoding"]) headers.delete(name);
    const body = method === "GET" || method === "HEAD" ? undefined : await request.bytes();
    const { signal } = this.#ending;
    const response = await this.network.fetch(`${baseUrl}${pathname}${search}`, {
      method,
      headers,
      body,
      signal,
    });
    const answer = new Headers();
    for (const name of ["content-type", "access-control-allow-origin"]) {
      const value = response.headers.get(name);
      if (value !== null) answer.set(name, value);
    }
    return new Response(await response.bytes(), { status: response.status, headers: answer });
  }
}
