/**
 * A server of Node and Bun, for functions from a request to a response.
 *
 * A file of its own because Deno has one that does this.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PlatformServer } from "./port.ts";

type Handler = (request: Request) => Response | Promise<Response>;

export async function serveNode(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  handler: Handler,
): Promise<PlatformServer> {
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing, handler));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    shutdown: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, handler: Handler): Promise<void> {
  try {
    const response = await handler(await requestOf(incoming));
    outgoing.writeHead(response.status, [...response.headers].flat());
    let left = Number(response.headers.get("content-length") ?? NaN);
    for await (const chunk of response.body ?? []) {
      left -= chunk.length;
      if (!outgoing.write(chunk)) await new Promise((resolve) => outgoing.once("drain", resolve));
    }
    if (response.body !== null && left > 0) outgoing.destroy(); // the body is shorter than was said
    else outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  const chunks: BlobPart[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = method === "GET" || method === "HEAD" ? undefined : await new Blob(chunks).arrayBuffer();
  return new Request(new URL(url, `http://${incoming.headers.host ?? "localhost"}`), {
    method,
    headers,
    body,
  });
}
