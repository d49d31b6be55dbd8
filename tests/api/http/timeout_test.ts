import { assert, assertEquals, assertRejects } from "@std/assert";
import { NetworkError, RequestTimeoutError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import {
  scripted,
  type ScriptedOptions,
  type ScriptedRequest,
  silent,
} from "../../support/scripted_fetch.ts";

/** Answers with the parts of a JSON text, one every so many milliseconds. */
const trickle =
  (clock: TestClock, parts: string[], every: number) => ({ signal }: ScriptedRequest): Response =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          const part = parts.shift();
          if (part === undefined) return controller.close();
          await clock.delay(every, { signal });
          controller.enqueue(new TextEncoder().encode(part));
        },
      }),
    );

function api(
  rule: (request: ScriptedRequest) => Promise<Response> | Response,
  options: ScriptedOptions = {},
) {
  const made = scripted({ "GET /x": rule }, { retry: false, ...options });
  return { ...made, http: made.session.http };
}

Deno.test("A request without an answer fails after requestTimeout, and its connection is let go", async () => {
  const { http, clock, requests } = api(silent, { requestTimeout: 5_000 });
  const request = http.request("GET", "/x");
  const failed = assertRejects(() => request, RequestTimeoutError, "5000 ms");
  await clock.tick(4_999);
  assert(!requests[0]?.signal.aborted);
  await clock.tick(1);
  const error = await failed;
  assertEquals([error.code, error instanceof NetworkError], ["TIMEOUT", true]);
  assertEquals([requests[0]?.signal.aborted, clock.pending], [true, 0]);
});

Deno.test("The time limit is a minute by default, and a request's own goes first", async () => {
  for (const [requestTimeout, expected] of [[undefined, 60_000], [1_000, 1_000]] as const) {
    const { http, clock } = api(silent);
    const failed = assertRejects(() => http.request("GET", "/x", { requestTimeout }), RequestTimeoutError);
    await clock.tick(expected - 1);
    assert(clock.pending > 0);
    await clock.tick(1);
    await failed;
  }
});

Deno.test("A time limit of 0 waits for ever", async () => {
  const { http, clock, requests } = api(silent, { requestTimeout: 0 });
  const controller = new AbortController();
  const failed = assertRejects(() => http.request("GET", "/x", { signal: controller.signal }), DOMException);
  await clock.tick(10 * 24 * 3_600_000);
  assertEquals([requests.length, clock.pending], [1, 0]);
  controller.abort();
  await failed;
});

Deno.test("An answer that comes slowly is no timeout, for the limit is on standing still", async () => {
  const clock = new TestClock();
  const { http } = api(trickle(clock, ['{"a"', ":", "1", "}"], 40_000), { clock });
  const request = http.request("GET", "/x", { requestTimeout: 60_000 });
  await clock.tick(4 * 40_000);
  assertEquals(await request, { a: 1 });
  assertEquals(clock.pending, 0);
});

Deno.test("An answer that stops coming is a timeout", async () => {
  const clock = new TestClock();
  const { http } = api(trickle(clock, ['{"a"', ":1}"], 70_000), { clock });
  const failed = assertRejects(
    () => http.request("GET", "/x", { requestTimeout: 60_000 }),
    RequestTimeoutError,
  );
  await clock.tick(60_000);
  await failed;
});

Deno.test("A timeout is tried again as any lost connection", async () => {
  const clock = new TestClock();
  let tries = 0;
  const { http } = api((request) => ++tries < 3 ? silent(request) : Response.json({ tries }), {
    clock,
    retry: {},
  });
  const request = http.request("GET", "/x", { requestTimeout: 1_000 });
  await clock.tick(60_000);
  assertEquals(await request, { tries: 3 });
});

Deno.test("A signal that is aborted already sends nothing, and one that aborts ends the request with its reason", async () => {
  const { http, clock, requests } = api(silent, { retry: {} });
  await assertRejects(
    () => http.request("GET", "/x", { signal: AbortSignal.abort(new RangeError("no")) }),
    RangeError,
    "no",
  );
  assertEquals(requests, []);
  const controller = new AbortController();
  const request = assertRejects(
    () => http.request("GET", "/x", { signal: controller.signal }),
    RangeError,
    "enough",
  );
  await clock.tick(100);
  controller.abort(new RangeError("enough"));
  await request;
  assertEquals([requests.length, requests[0]?.signal.aborted, clock.pending], [1, true, 0]);
});

Deno.test("A signal ends a request whose answer has begun", async () => {
  const clock = new TestClock();
  const { http } = api(trickle(clock, ["{", "}"], 10_000), { clock });
  const controller = new AbortController();
  const request = assertRejects(
    () => http.request("GET", "/x", { signal: controller.signal }),
    RangeError,
    "enough",
  );
  await clock.tick(10_000);
  controller.abort(new RangeError("enough"));
  await request;
  assertEquals(clock.pending, 0);
});
