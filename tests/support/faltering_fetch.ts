/**
 * A homeserver that fails each request once, as an overloaded one does.
 *
 * @module
 */

/** How it fails: it says so before it has done anything, or when it has done all of it. */
export const FALTERING = {
  "503": () => refusal(503, { errcode: "M_UNKNOWN", error: "Busy" }),
  "429": () => refusal(429, { errcode: "M_LIMIT_EXCEEDED", error: "Too many", retry_after_ms: 20 }),
  "502 when all is done": async (forward: () => Promise<Response>) => {
    await (await forward()).body?.cancel();
    return new Response("<h1>Bad gateway</h1>", { status: 502 });
  },
  "connection lost when all is done": async (forward: () => Promise<Response>) => {
    await (await forward()).body?.cancel();
    throw new TypeError("connection closed before message completed");
  },
} as const satisfies Record<string, (forward: () => Promise<Response>) => Response | Promise<Response>>;

/** The ways in which it fails. */
export const FALTERING_WAYS = Object.keys(FALTERING) as (keyof typeof FALTERING)[];

function refusal(status: number, body: Record<string, unknown>): Response {
  return Response.json(body, { status });
}

/**
 * What brings requests to such a homeserver.
 *
 * @param inner Brings them to the homeserver.
 * @param way How it fails.
 * @param fails Which requests. Default: all.
 * @returns It, and what has failed so far: methods and paths.
 */
export function faltering(
  inner: typeof fetch,
  way: keyof typeof FALTERING,
  fails: (request: Request) => boolean = () => true,
): { readonly fetch: typeof fetch; readonly failed: ReadonlySet<string> } {
  const failed = new Set<string>();
  return {
    failed,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const name = `${request.method} ${decodeURIComponent(new URL(request.url).pathname)}`;
      if (failed.has(name) || !fails(request)) return await inner(request);
      failed.add(name);
      return await FALTERING[way](() => inner(request));
    },
  };
}
