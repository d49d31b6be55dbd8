/**
 * T176: Who is on the way to a database reads its access token, and with it all keys: the address is plain
 * http over an open network, or the server names an endpoint that is.
 *
 * Class of mistake: a secret goes to an address whose protocol nobody has looked at.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";

/** Opens the store of an address, with a server that names an endpoint; returns where the token was sent. */
async function open(
  url: string,
  endpoint: string,
  expected: typeof ValueError | typeof StoreError,
): Promise<string[]> {
  const shown: string[] = [];
  const original = globalThis.fetch;
  globalThis.fetch = (input) => {
    shown.push(String(input));
    if (shown.length > 1) return Promise.resolve(new Response("no", { status: 400 }));
    const answer = Response.json({
      version: 2,
      databaseId: "1",
      token: "t",
      expiresAt: "2099-01-01T00:00:00Z",
      endpoints: [{ url: endpoint, consistency: "strong" }],
    });
    Object.defineProperty(answer, "url", { value: url });
    return Promise.resolve(answer);
  };
  try {
    await assertRejects(() => KvStore.open(url, { accessToken: "secret", patience: 0 }), expected);
  } finally {
    globalThis.fetch = original;
  }
  return shown;
}

Deno.test("T176: a token for a database goes over no open network in plain http", async () => {
  for (const host of ["kv.example.org", "8.8.8.8", "172.32.0.1", "10.example.org", "localhost.example"]) {
    assertEquals(await open(`http://${host}:4512`, "/v2", ValueError), [], host);
  }
  for (const host of ["localhost", "127.0.0.1", "[::1]", "denokv", "10.0.0.7", "kv.internal"]) {
    assertEquals((await open(`http://${host}:4512`, "/v2", StoreError)).length, 2, host);
  }
  assertEquals((await open("https://kv.example.org", "/v2", StoreError)).length, 2);
  assertEquals((await open("https://kv.example.org", "http://kv.example.org/v2", StoreError)).length, 1);
});
