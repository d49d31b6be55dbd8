/**
 * Serves the files of the built site, as any host of static files does: compressed.
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

/** A file as it is sent: compressed, and kept by the browser if its name has a hash. */
interface Sent {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A server on loopback, with its address. Dispose it, and it ends. */
export class SiteServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #sent = new Map<string, Promise<Sent>>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const path = decodeURIComponent(new URL(request.url).pathname);
      const file = path.endsWith("/") ? `${path}index.html` : extname(path) === "" ? `${path}.html` : path;
      if (file === "/favicon.ico") return new Response();
      const sent = this.#sent.get(file) ?? this.#read(file);
      this.#sent.set(file, sent);
      return await sent.then(
        ({ body, headers }) => new Response(body, { headers }),
        () => new Response("There is no such page", { status: 404 }),
      );
    });
  }

  async #read(file: string): Promise<Sent> {
    const { body } = new Response(await Deno.readFile(this.#folder + file));
    const packed = new Response(body?.pipeThrough(new CompressionStream("gzip")));
    const headers = {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-encoding": "gzip",
      "cache-control": file.startsWith("/assets/") ? "max-age=31536000, immutable" : "no-cache",
    };
    return { body: await packed.bytes(), headers };
  }

  /** Where it serves, without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
