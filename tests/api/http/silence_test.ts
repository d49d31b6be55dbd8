import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Logger } from "@greenroom/matrix";
import { NetworkError } from "@greenroom/matrix/errors";
import { HTTPAPI } from "../../../src/api/http/mod.ts";
import { syncAPI } from "../../../src/api/server/server.ts";
import { type Rule, scripted, silent } from "../../support/scripted_fetch.ts";

const VERSIONS = "GET /_matrix/client/versions";
const SYNC = "GET /_matrix/client/v3/sync";
const WHOAMI = "GET /_matrix/client/v3/account/whoami";

function asked(rules: Record<string, Rule>, baseUrl = "https://hs.example.org") {
  const warnings: [message: string, address: unknown][] = [];
  const nothing = () => {};
  const log: Logger = {
    debug: nothing,
    info: nothing,
    warn: (message, data) => void warnings.push([message, data?.address]),
    error: nothing,
  };
  return { ...scripted(rules, { log, baseUrl, retry: false }), warnings };
}

Deno.test("Where nobody answers at first, a warning says so in a few seconds, once, and the request goes on", async () => {
  const { session, clock, warnings } = asked({ [WHOAMI]: silent });
  const failed = assertRejects(() => session.whoami(), NetworkError, "60000 ms");
  const alsoFailed = assertRejects(() => session.whoami(), NetworkError);
  await clock.tick(4_999);
  assertEquals(warnings, []);
  await clock.tick(1);
  assertEquals(warnings.map(([, address]) => address), ["https://hs.example.org"]);
  assertStringIncludes(warnings[0]?.[0] ?? "", "TLS");
  await clock.tick(55_000);
  await Promise.all([failed, alsoFailed]);
  assertEquals(warnings.length, 1);
});

Deno.test("The warning that nobody answers asks for TLS only where the address does", async () => {
  const { session, clock, warnings } = asked({ [WHOAMI]: silent }, "http://localhost:8008");
  const failed = assertRejects(() => session.whoami(), NetworkError);
  await clock.tick(60_000);
  await failed;
  assertEquals(warnings.map(([message, address]) => [message.includes("TLS"), address]), [
    [false, "http://localhost:8008"],
  ]);
});

Deno.test("Who has answered once may take longer", async () => {
  const { session, clock, warnings } = asked({ [VERSIONS]: { versions: ["v1.16"] }, [WHOAMI]: silent });
  await session.versions();
  const failed = assertRejects(() => session.whoami(), NetworkError);
  await clock.tick(60_000);
  await failed;
  assertEquals(warnings, []);
});

Deno.test("A server that was asked to wait may do so", async () => {
  const { session, clock, warnings } = asked({ [SYNC]: silent });
  const failed = assertRejects(() => syncAPI(session).sync({ since: "s1", timeout: 30_000 }), NetworkError);
  await clock.tick(34_999);
  assertEquals(warnings, []);
  await clock.tick(30_000);
  await failed;
  assertEquals(warnings.length, 1);
});

Deno.test("An address to which the client moves may be silent, too", async () => {
  const { session, clock, warnings } = asked({ [WHOAMI]: silent });
  for (const baseUrl of ["https://one.example.org", "https://two.example.org"]) {
    session.http.baseUrl = baseUrl;
    const failed = assertRejects(() => session.whoami(), NetworkError);
    await clock.tick(60_000);
    await failed;
  }
  assertEquals(warnings.map(([, address]) => address), [
    "https://one.example.org",
    "https://two.example.org",
  ]);
});

Deno.test("A server that speaks plain HTTP where TLS is asked for is said to do so", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response());
  const baseUrl = `https://127.0.0.1:${server.addr.port}`;
  const http = new HTTPAPI({ baseUrl, log: false, retry: false });
  const error = await assertRejects(() => http.request("GET", "/x"), NetworkError);
  assert(
    error.message.endsWith("what answers there does not speak TLS; is its address http://…?"),
    error.message,
  );
});
