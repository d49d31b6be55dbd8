/**
 * T174: A homeserver redirects a request to another server, which is to get what else goes with requests: a
 * gateway's key, a cookie.
 *
 * Class of mistake: what must not go along is listed, and not what may.
 */

import { assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";

Deno.test("T174: to another server goes no header but what asks for the content", async () => {
  const seen: [string, string[]][] = [];
  const places = ["https://a.example/_matrix/2", "https://b.example/3", "https://a.example/4"];
  await using client = new Client({
    baseUrl: "https://a.example",
    accessToken: "secret",
    log: false,
    fetch: (input, init) => {
      const { host } = new URL(String(input instanceof Request ? input.url : input));
      seen.push([host, [...new Headers(init?.headers).keys()]]);
      const location = places[seen.length - 1];
      return Promise.resolve(
        location === undefined
          ? Response.json({})
          : new Response(null, { status: 302, headers: { location } }),
      );
    },
  });
  const HARMLESS = ["accept", "accept-language", "range", "user-agent"];
  const headers = {
    "Accept": "*/*",
    "X-Gateway-Key": "k",
    "Cookie": "c",
    "Proxy-Authorization": "p",
    "Accept-Language": "en",
    "Range": "bytes=0-1",
    "User-Agent": "bot",
  };
  await client.request("GET", "/_matrix/client/v3/capabilities", { headers });
  const all = ["authorization", "x-gateway-key", "cookie", "proxy-authorization", ...HARMLESS];
  const kept = seen.map(([host, names]) => [host, all.filter((name) => names.includes(name))]);
  assertEquals(kept, [
    ["a.example", all],
    ["a.example", all],
    ["b.example", HARMLESS],
    ["a.example", HARMLESS],
  ]);
});
