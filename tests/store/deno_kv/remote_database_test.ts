import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/base/clock.ts";
import { KvConnection } from "../../../src/store/deno_kv/remote_database.ts";

Deno.test("Reads of a database server are six at once, and make room for others, however they ended", async () => {
  let [under, most, status] = [0, 0, 200];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/") {
      const endpoints = [{ url: `${origin}/v2`, consistency: "strong" }];
      return Response.json({ version: 3, databaseId: "x", endpoints, token: "t" });
    }
    most = Math.max(most, ++under);
    await request.arrayBuffer();
    under--;
    return new Response("x", { status });
  });
  server.unref(); // a read that waits for ever ends the test
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const connection = await KvConnection.open(url, { accessToken: "t", patience: 0, clock: systemClock });
  const read = () =>
    connection.post("snapshot_read", new Uint8Array(1)).then(({ length }) => length, () => 0);
  for (const [answer, length] of [[200, 1], [403, 0], [200, 1]] as const) {
    status = answer;
    for (let round = 0; round < 3; round++) {
      assertEquals(await Promise.all(Array.from({ length: 9 }, read)), Array(9).fill(length));
    }
  }
  assertEquals([under, most <= 6], [0, true]);
  connection.close();
});
