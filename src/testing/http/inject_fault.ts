/**
 * Does to a request what a fault says.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ActiveFault } from "../fault_list.ts";
import type { TruncateFault } from "../faults.ts";

/** The connection is gone: there is no response. */
export class ConnectionDropped extends Error {
  override readonly name = "ConnectionDropped";
}

/** What a fault needs to do its harm. */
interface Victim {
  /** Lets the request take effect. */
  readonly serve: () => Promise<Response>;
  /** Time. */
  readonly clock: Clock;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/**
 * The response to a request that a fault has hit. Rejects with {@link ConnectionDropped} if there
 * is none.
 */
export async function injectFault(fault: ActiveFault, { serve, clock, signal }: Victim): Promise<Response> {
  const { rule } = fault;
  switch (rule.kind) {
    case "status":
      return bodyResponse(
        rule.body ?? { errcode: "M_UNKNOWN", error: "Fault on demand" },
        rule.status,
        rule.headers,
      );
    case "html":
      return new Response(PROXY_PAGE, {
        status: rule.status ?? 502,
        headers: { "content-type": "text/html" },
      });
    case "redirect":
      return new Response(null, { status: rule.status ?? 307, headers: { location: rule.location } });
    case "body":
      await serve();
      return bodyResponse(rule.body, 200);
    case "delay":
      await clock.delay(rule.ms, { signal });
      return await serve();
    case "drop":
      throw new ConnectionDropped("Connection closed before the request was handled");
    case "drop-after":
      await serve();
      throw new ConnectionDropped("Connection closed before the response was complete");
    case "duplicate":
      await serve();
      return await serve();
    case "hold":
      await fault.released;
      return await serve();
    case "hold-after": {
      const response = await serve();
      await fault.released;
      return response;
    }
    case "truncate":
      return await truncate(await serve(), rule);
  }
}

const PROXY_PAGE =
  "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

function bodyResponse(body: unknown, status: number, headers: Record<string, string> = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
}

async function truncate(response: Response, { bytes, clean = false }: TruncateFault): Promise<Response> {
  const whole = new Uint8Array(await response.arrayBuffer());
  const part = whole.subarray(0, bytes ?? whole.byteLength >> 1);
  let sent = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (!sent) controller.enqueue(part);
      else if (clean) controller.close();
      else controller.error(new TypeError("Cannot read the body: the connection was closed"));
      sent = true;
    },
  });
  const headers = new Headers(response.headers);
  if (clean) headers.delete("content-length");
  else headers.set("content-length", String(whole.byteLength));
  return new Response(body, { status: response.status, headers });
}
