import { RESTART_DELAY } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { backoff } from "../../../src/base/clock.ts";
import { retryAfter } from "../../../src/api/http/exchange.ts";
import { LimitExceededError, MatrixRequestError, NetworkError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import {
  type Answer,
  inTurn,
  refusal,
  type Rule,
  scripted,
  type ScriptedOptions,
  untilSettled,
} from "../../support/scripted_fetch.ts";

/** A session whose `/x` answers as told, with the times of the requests since the first. */
function timed(answers: [Answer, ...Answer[]], options: ScriptedOptions = {}) {
  const clock = new TestClock();
  const times: number[] = [];
  const rule = inTurn(...answers) as Extract<Rule, (...args: never[]) => unknown>;
  const x: Rule = (request) => {
    times.push(clock.now());
    return rule(request);
  };
  const made = scripted({ "GET /x": x, "PUT /x": x, "POST /x": x, "DELETE /x": x }, { ...options, clock });
  const waits = () => times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return { ...made, clock, http: made.session.http, waits };
}

const ok = { ok: true };
const between = (value: number | undefined, low: number, high: number) =>
  assert(value !== undefined && value >= low && value <= high, `${value} is not between ${low} and ${high}`);

const transient: Record<string, Answer> = {
  "a connection that fails": new TypeError("connection refused"),
  "502": new Response("<html>Bad gateway</html>", { status: 502 }),
  "503": new Response("", { status: 503 }),
  "504": refusal(504, "M_UNKNOWN"),
};

for (const [cause, answer] of Object.entries(transient)) {
  Deno.test(`A request is sent again after ${cause}, and gives up after maxRetries`, async () => {
    const recovered = timed([answer, answer, ok]);
    assertEquals(await untilSettled(recovered.clock, recovered.http.request("GET", "/x")), ok);
    assertEquals(recovered.requests.length, 3);
    const hopeless = timed([answer]);
    await assertRejects(() =>
      untilSettled(hopeless.clock, hopeless.http.request("GET", "/x", { retry: { maxRetries: 2 } }))
    );
    assertEquals(hopeless.requests.length, 3);
  });
}

Deno.test("A request is sent five times at most by default", async () => {
  const { http, clock, requests } = timed([new TypeError("no")]);
  const error = await assertRejects(() => untilSettled(clock, http.request("GET", "/x")), NetworkError);
  assertEquals([requests.length, error.code], [5, "NETWORK_ERROR"]);
});

Deno.test("Other refusals are final", async () => {
  for (const status of [400, 401, 403, 404, 409, 413, 500, 501, 505]) {
    const { http, requests } = timed([refusal(status, "M_UNKNOWN"), ok]);
    const error = await assertRejects(() => http.request("GET", "/x"), MatrixRequestError);
    assertEquals([error.status, requests.length], [status, 1]);
  }
});

Deno.test("POST is not repeated, for it may have been done, unless the call says so; a POST that says it is idempotent is", async () => {
  for (const [cause, answer] of Object.entries(transient)) {
    const { http, requests } = timed([answer, ok], { retry: { maxRetries: 9 } });
    await assertRejects(() => http.request("POST", "/x", { retry: { base: 100 } }));
    assertEquals(requests.length, 1, cause);
    const idempotent = timed([answer, ok]);
    await untilSettled(idempotent.clock, idempotent.http.request("POST", "/x", { idempotent: true }));
    assertEquals(idempotent.requests.length, 2, cause);
    const wanted = timed([answer, answer, ok]);
    await assertRejects(() =>
      untilSettled(wanted.clock, wanted.http.request("POST", "/x", { retry: { maxRetries: 1 } }))
    );
    assertEquals(wanted.requests.length, 2, cause);
  }
});

Deno.test("PUT and DELETE are repeated as they were: same path, same body", async () => {
  for (const method of ["PUT", "DELETE"] as const) {
    const { http, clock, requests } = timed([new TypeError("no"), ok]);
    await untilSettled(clock, http.request(method, "/x", { body: { a: 1 } }));
    assertEquals(requests.map(({ path, body }) => [path, body]), [["/x", { a: 1 }], ["/x", { a: 1 }]]);
  }
});

Deno.test("Retries can be turned off for a client, and on again for a request", async () => {
  const off = timed([new TypeError("no"), ok], { retry: false });
  await assertRejects(() => off.http.request("GET", "/x"), NetworkError);
  const on = timed([new TypeError("no"), ok], { retry: false });
  assertEquals(await untilSettled(on.clock, on.http.request("GET", "/x", { retry: { maxRetries: 1 } })), ok);
  const once = timed([new TypeError("no"), ok]);
  await assertRejects(() => once.http.request("GET", "/x", { retry: false }), NetworkError);
});

Deno.test("The conditions for another try can be changed", async () => {
  const { http, clock, requests } = timed([refusal(500, "M_UNKNOWN"), ok]);
  await untilSettled(
    clock,
    http.request("GET", "/x", { retry: { retryable: ({ status }) => status === 500 } }),
  );
  assertEquals(requests.length, 2);
});

Deno.test("Waits double from half a second up to a cap, up to a fifth shorter by chance", async () => {
  const { http, clock, waits } = timed([new TypeError("no")]);
  const request = http.request("GET", "/x", { retry: { maxRetries: 6, base: 500, cap: 5_000 } });
  await assertRejects(() => untilSettled(clock, request));
  const full = [500, 1_000, 2_000, 4_000, 5_000, 5_000];
  assertEquals(waits().length, full.length);
  waits().forEach((wait, index) => between(wait, (full[index] ?? 0) * 0.8, full[index] ?? 0));
});

Deno.test("backoff() has jitter, and no overflow", () => {
  const delays = new Set(Array.from({ length: 50 }, () => backoff(3, { base: 100, cap: 10_000 })));
  assert(delays.size > 10);
  between(backoff(5_000, { base: 100, cap: 10_000 }), 8_000, 10_000);
});

Deno.test("A wait that the server asks for is kept to: the header first, in seconds or as a date, the body second", async () => {
  const start = new TestClock().now();
  const cases: [Response, number][] = [
    [refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 9_000 }, { "retry-after": "3" }), 3_000],
    [
      refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 9_000 }, {
        "retry-after": new Date(start + 7_000).toUTCString(),
      }),
      7_000,
    ],
    [ // by the clock of the server, since this one's may be wrong
      refusal(429, "M_LIMIT_EXCEEDED", {}, {
        "retry-after": new Date(5_000).toUTCString(),
        date: new Date(1_000).toUTCString(),
      }),
      4_000,
    ],
    [refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 9_000 }), 9_000],
    [refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 9_000 }, { "retry-after": "soon" }), 9_000],
    [new Response("", { status: 503, headers: { "retry-after": "4" } }), 4_000],
    [refusal(429, "M_LIMIT_EXCEEDED", {}, { "retry-after": new Date(start - 7_000).toUTCString() }), 0],
  ];
  for (const [answer, wait] of cases) {
    const { http, clock, waits } = timed([answer, ok]);
    await untilSettled(clock, http.request("GET", "/x"));
    assertEquals(waits(), [wait]);
  }
});

Deno.test("A longer wait than maxRetryAfter makes the request fail immediately, with that wait in the error", async () => {
  const { http, requests } = timed([refusal(429, "M_LIMIT_EXCEEDED", {}, { "retry-after": "121" }), ok]);
  const error = await assertRejects(() => http.request("GET", "/x"), LimitExceededError);
  assertEquals([error.retryAfter, requests.length], [121_000, 1]);
  const patient = timed([refusal(429, "M_LIMIT_EXCEEDED", {}, { "retry-after": "121" }), ok]);
  await untilSettled(patient.clock, patient.http.request("GET", "/x", { retry: { maxRetryAfter: 200_000 } }));
  assertEquals(patient.waits(), [121_000]);
});

Deno.test("A server that asks for no wait, over and over, is asked a bounded number of times", async () => {
  const { http, clock, requests } = timed([refusal(503, "M_UNKNOWN", {}, { "retry-after": "0" })]);
  await assertRejects(() => untilSettled(clock, http.request("GET", "/x")), MatrixRequestError);
  assertEquals(requests.length, 5);
});

Deno.test("retryAfter() takes nonsense for nothing", () => {
  for (const header of ["", " ", "soon", "NaN", "Infinity"]) {
    assertEquals(retryAfter(header, undefined, 0), undefined);
  }
  for (const body of ["5", -1, null, {}]) assertEquals(retryAfter(null, body, 0), undefined);
  assertEquals([0, 5].map((body) => retryAfter(null, body, 0)), [0, 5]);
  assertEquals(retryAfter("-5", undefined, 0), 0);
  assertEquals(retryAfter("0.5", undefined, 0), 500);
});

Deno.test("A signal ends a wait between two tries immediately", async () => {
  const { http, clock, requests } = timed([new TypeError("no")]);
  const controller = new AbortController();
  const request = http.request("GET", "/x", { signal: controller.signal });
  await clock.tick(1);
  assertEquals(clock.pending, 1);
  controller.abort(new RangeError("enough"));
  await assertRejects(() => request, RangeError, "enough");
  assertEquals([requests.length, clock.pending], [1, 0]);
});

Deno.test("Work begins again after a request that had one try, as often as another would be sent again, and after no other", async () => {
  const busy = refusal(503, "M_UNKNOWN");
  const failureOf = async (method: "GET" | "POST", answer: Answer, options: ScriptedOptions = {}) => {
    const made = timed([answer], options);
    const error = await untilSettled(made.clock, made.http.request(method, "/x")).catch((error) => error);
    return { ...made, delay: (restarts: number) => made.http[RESTART_DELAY](error, restarts) };
  };
  const once = await failureOf("POST", busy);
  between(once.delay(0), 400, 500);
  between(once.delay(3), 3_200, 4_000);
  assertEquals([once.requests.length, once.delay(4)], [1, undefined]);
  assertEquals((await failureOf("POST", refusal(503, "M_UNKNOWN", { retry_after_ms: 70 }))).delay(0), 70);
  // It has waited.
  assertEquals((await failureOf("POST", refusal(429, "M_LIMIT_EXCEEDED"))).delay(0), undefined);
  assertEquals((await failureOf("POST", refusal(403, "M_FORBIDDEN"))).delay(0), undefined);
  assertEquals((await failureOf("POST", busy, { retry: false })).delay(0), undefined);
  const often = await failureOf("GET", busy);
  assertEquals([often.requests.length, often.delay(0)], [5, undefined]);
  assertEquals(once.http[RESTART_DELAY]("no error", 0), undefined);
});
