/**
 * Serves the files of the built site, as any host of static files does.
 *
 * @module
 */

import { extname } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/** A server on loopback, with its address. Dispose it, and it ends. */
export class SiteServer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(folder: string) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const path = decodeURIComponent(new URL(request.url).pathname);
      const file = path.endsWith("/") ? `${path}index.html` : extname(path) === "" ? `${path}.html` : path;
      const type = TYPES[extname(file)] ?? "application/octet-stream";
      if (file === "/favicon.ico") return new Response();
      return await Deno.readFile(folder + file).then(
        (bytes) => new Response(bytes, { headers: { "content-type": type } }),
        () => new Response("There is no such page", { status: 404 }),
      );
    });
  }

  /** Where it serves, without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
