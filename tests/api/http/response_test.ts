import { CALL, endpoint, field, fields, HTTPAPI, listOf } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { sessionAPI } from "../../../src/api/account/account.ts";
import { type MatrixError, NetworkError, ServiceResponseError } from "@greenroom/matrix/errors";
import { type Answer, scripted } from "../../support/scripted_fetch.ts";

/** Asks the real `fetch` over loopback, so that the answer is what Deno's HTTP makes of it. */
async function overLoopback<Result>(
  handler: (request: Request) => Response,
  ask: (http: HTTPAPI) => Promise<Result>,
  options: { maxResponseSize?: number } = {},
): Promise<Result> {
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, handler);
  const http = new HTTPAPI({
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    accessToken: "t-secret",
    retry: false,
    ...options,
  });
  return await ask(http);
}

/** Speaks HTTP by hand: sends a text and hangs up. */
async function overRawLoopback<Result>(
  text: string,
  ask: (http: HTTPAPI) => Promise<Result>,
): Promise<Result> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const served = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode(text));
  })();
  const { port } = listener.addr as Deno.NetAddr;
  try {
    return await ask(
      new HTTPAPI({ baseUrl: `http://127.0.0.1:${port}`, accessToken: "t-secret", retry: false }),
    );
  } finally {
    await served;
  }
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
}

function failed(error: MatrixError): void {
  assert(error.message.includes("GET /x"), error.message);
  assert(!Deno.inspect(error, { depth: 9 }).includes("secret"), Deno.inspect(error, { depth: 9 }));
}

const get = (http: HTTPAPI) => http.request("GET", "/x");

const nonsense: Record<string, Answer> = {
  "HTML of a proxy": new Response("<html>Welcome</html>", { headers: { "content-type": "text/html" } }),
  "truncated JSON with a secret in it": new Response('{"access_token":"secret'),
  "an empty body": new Response(""),
  "no body": new Response(null, { status: 204 }),
  "binary": new Response(new Uint8Array([0xff, 0, 0xfe])),
  "two JSON texts": new Response('{"secret":1}{}'),
};
for (const [what, answer] of Object.entries(nonsense)) {
  Deno.test(`An answer that is ${what} is a ServiceResponseError that names the request`, async () => {
    const { session: { http }, requests } = scripted({ "GET /x": answer });
    failed(await assertRejects(() => get(http), ServiceResponseError));
    assertEquals(requests.length, 1, "what makes no sense is not asked for again");
  });
}

Deno.test("JSON is JSON whatever its content type says, and with a byte order mark", async () => {
  for (const body of ['{"a":1}', '\ufeff{"a":1}', ' \n{"a":1}\n']) {
    const { session: { http } } = scripted({
      "GET /x": new Response(body, { headers: { "content-type": "text/plain" } }),
    });
    assertEquals(await get(http), { a: 1 });
  }
});

Deno.test("A promised field that is missing, null or of another type is a ServiceResponseError that names it", async () => {
  const strict = endpoint(
    "strict",
    "GET",
    "/x",
    fields({ s: "string", n: "number?", o: "object?", a: "array?", b: "boolean?" }),
  );
  const good = [{ s: "" }, { s: "x", n: 0, o: {}, a: [], b: false, more: 1 }, { s: "x", n: null, o: null }];
  for (const body of good) {
    assertEquals(
      await scripted({ "GET /x": body }).session.http[CALL](strict, { path: {} }) as unknown,
      body,
    );
  }
  const bad: [unknown, string][] = [
    [{}, '"s" is missing'],
    [{ s: null }, '"s" is missing'],
    [{ s: 1 }, "type string"],
    [{ s: "x", n: "1" }, '"n"'],
    [{ s: "x", o: [] }, '"o"'],
    [{ s: "x", a: {} }, '"a"'],
    [{ s: "x", b: 1 }, '"b"'],
    [[], "no JSON object"],
    [null, "no JSON object"],
    ["secret", "no JSON object"],
    [JSON.parse('{"__proto__": {"s": "x"}}'), '"s" is missing'],
  ];
  for (const [body, message] of bad) {
    const { session: { http } } = scripted({ "GET /x": Response.json(body) });
    failed(await assertRejects(() => http[CALL](strict, { path: {} }), ServiceResponseError, message));
  }
});

Deno.test("A promised list must be a list of objects, and a promised field is handed out alone", async () => {
  const list = endpoint("list", "GET", "/x", listOf());
  for (const body of [{}, [1], [[]], [null], "x"]) {
    await assertRejects(
      () => scripted({ "GET /x": Response.json(body) }).session.http[CALL](list, { path: {} }),
      ServiceResponseError,
    );
  }
  const one = endpoint("one", "GET", "/x", field<string>("s", "string"));
  assertEquals(await scripted({ "GET /x": { s: "y" } }).session.http[CALL](one, { path: {} }), "y");
});

Deno.test("An operation checks what it hands out", async () => {
  const { session } = scripted({ "GET /_matrix/client/v3/login": { flows: "none" } });
  await assertRejects(() => sessionAPI(session).getLoginFlows(), ServiceResponseError, "flows");
});

Deno.test("An answer larger than maxResponseSize is refused, with and without a Content-Length", async () => {
  const body = JSON.stringify({ big: "x".repeat(100_000) });
  const answers = [
    () => new Response(body),
    () => new Response(new Blob([body]).stream()),
  ];
  for (const answer of answers) {
    const error = await overLoopback(
      answer,
      (http) => assertRejects(() => get(http), ServiceResponseError, "larger"),
      {
        maxResponseSize: 50_000,
      },
    );
    failed(error);
    assertEquals(await overLoopback(answer, get, { maxResponseSize: body.length }), JSON.parse(body));
  }
});

Deno.test("A Content-Length that lies lets nothing larger in", async () => {
  const { session: { http } } = scripted({
    "GET /x": () => new Response(`{"a":"${"x".repeat(1_000)}"}`, { headers: { "content-length": "10" } }),
  }, { maxResponseSize: 100 });
  await assertRejects(() => get(http), ServiceResponseError, "larger than 100 bytes");
});

Deno.test("A gzip bomb is stopped at maxResponseSize, and an honest gzip is read", async () => {
  const bomb = await gzip(new Uint8Array(50 * 2 ** 20).fill(32));
  assert(bomb.length < 100_000);
  const answer = (bytes: Uint8Array<ArrayBuffer>) => () =>
    new Response(bytes, { headers: { "content-encoding": "gzip" } });
  const before = Deno.memoryUsage().external;
  const error = await overLoopback(
    answer(bomb),
    (http) => assertRejects(() => get(http), ServiceResponseError, "larger"),
    { maxResponseSize: 1 << 20 },
  );
  failed(error);
  assert(Deno.memoryUsage().external - before < 30 * 2 ** 20, "the bomb was not unpacked whole");
  const honest = await gzip(new TextEncoder().encode('{"a":1}'));
  assertEquals(await overLoopback(answer(honest), get), { a: 1 });
});

Deno.test("A connection that breaks off in the middle of an answer is a NetworkError that names the request", async () => {
  const texts = [
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"secret":',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"sec\r\n',
    "",
    "no HTTP",
  ];
  for (const text of texts) {
    failed(await overRawLoopback(text, (http) => assertRejects(() => get(http), NetworkError)));
  }
});

Deno.test("An answer that ends before its announced length is a NetworkError, also from a fetch that does not look", async () => {
  const { session: { http } } = scripted({
    "GET /x": () => new Response("{}", { headers: { "content-length": "10" } }),
  }, { retry: false });
  failed(await assertRejects(() => get(http), NetworkError, "2 of 10 bytes"));
});

Deno.test("A refused connection is a NetworkError that names the request", async () => {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const http = new HTTPAPI({ baseUrl: `http://127.0.0.1:${port}`, accessToken: "t-secret", retry: false });
  failed(await assertRejects(() => get(http), NetworkError));
});

Deno.test("A redirect loop ends after five redirects", async () => {
  let hops = 0;
  const loop = () => (hops++, new Response(null, { status: 302, headers: { location: "/x" } }));
  failed(
    await overLoopback(loop, (http) => assertRejects(() => get(http), ServiceResponseError, "redirects")),
  );
  assertEquals(hops, 6);
});

Deno.test("A redirect of anything but a GET, or to no address, is not followed", async () => {
  const to = (location: string): Answer => new Response(null, { status: 308, headers: { location } });
  const { session: { http }, requests } = scripted({
    "PUT /x": to("/y"),
    "POST /x": to("https://evil.example/y"),
    "GET /x": to("ftp://hs.example.org/y"),
    "GET /y": to("http://[bad"),
  });
  await assertRejects(
    () => http.request("PUT", "/x", { body: { secret: 1 } }),
    ServiceResponseError,
    "baseUrl",
  );
  await assertRejects(() => http.request("POST", "/x"), ServiceResponseError);
  await assertRejects(() => http.request("GET", "/x"), ServiceResponseError);
  await assertRejects(() => http.request("GET", "/y"), ServiceResponseError);
  assertEquals(requests.length, 4);
});

Deno.test("The global fetch serves if no other is given, and the User-Agent is ours or the caller's", async () => {
  const agent = (request: Request) => Response.json({ agent: request.headers.get("user-agent") });
  assertEquals(await overLoopback(agent, get), { agent: "greenroom" });
  const { session: { http }, requests } = scripted({ "GET /x": {} }, { userAgent: "my-bot/1.0" });
  await get(http);
  assertEquals(requests[0]?.headers.get("user-agent"), "my-bot/1.0");
});

Deno.test("Two sessions share nothing", async () => {
  const one = scripted({ "GET /x": {} }, { accessToken: "one" });
  const two = scripted({ "GET /x": {} }, { accessToken: "two" });
  one.session.http.accessToken = "three";
  await Promise.all([get(one.session.http), get(two.session.http)]);
  assertEquals(two.requests[0]?.headers.get("authorization"), "Bearer two");
});

Deno.test("A request is broken off in the end if some of its answer has not come, and only then", async () => {
  for (const text of ["1", JSON.stringify("x".repeat(100_000))]) {
    for (const length of [undefined, text.length]) {
      const headers = length === undefined ? undefined : { "content-length": String(length) };
      const { session: { http }, requests } = scripted({ "GET /x": () => new Response(text, { headers }) });
      await get(http);
      assert(!requests[0]?.signal.aborted);
    }
  }
  const unread = scripted({ "GET /x": new Response("12345") }, { maxResponseSize: 4 });
  await assertRejects(() => get(unread.session.http), ServiceResponseError, "larger");
  assert(unread.requests[0]?.signal.aborted);
});
