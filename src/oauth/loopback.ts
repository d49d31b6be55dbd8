/**
 * A server on this machine, which takes one redirect of a browser.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8252#section-7.3 | Loopback interface redirection}
 * @module
 */

import { platform, type PlatformServer } from "../base/platform/mod.ts";
import { missingPermission } from "../errors/matrix_error.ts";

/** What waits for a redirect. */
export interface Loopback extends AsyncDisposable {
  /** Where browsers are to be sent. */
  readonly redirectUri: string;
  /** The address that a browser has come to. */
  readonly redirected: Promise<URL>;
}

const DONE = "You are logged in, as far as this page knows: you can close it.\n";
const NOT_MINE = "This is not the login that was begun here.\n";

/**
 * Waits for a redirect.
 *
 * @param port The port; 0 for any that is free.
 * @param isMine Whether an address is that of the login that was begun: any other program can send a browser here.
 * @throws {MissingPermissionError} If Deno may not listen.
 */
export async function listen(port: number, isMine: (url: URL) => boolean): Promise<Loopback> {
  const { promise: redirected, resolve } = Promise.withResolvers<URL>();
  const server = await serve(port, (request) => {
    const url = new URL(request.url);
    if (request.method !== "GET" || url.pathname !== "/") return page(404, NOT_MINE);
    if (!isMine(url)) return page(400, NOT_MINE);
    resolve(url);
    return page(200, DONE);
  });
  return {
    redirectUri: `http://127.0.0.1:${server.port}/`,
    redirected,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function serve(port: number, handler: (request: Request) => Response): Promise<PlatformServer> {
  try {
    return await platform.serve({ hostname: "127.0.0.1", port }, handler);
  } catch (error) {
    throw missingPermission(error, "wait for the browser") ?? error;
  }
}

function page(status: number, text: string): Response {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "connection": "close",
    "referrer-policy": "no-referrer",
  };
  return new Response(text, { status, headers });
}
