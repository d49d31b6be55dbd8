import { assert, assertEquals, assertRejects } from "@std/assert";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { clientAPI } from "../../../src/api/api.ts";
import { transactionIds } from "../../../src/api/http/events.ts";
import type { Logger } from "@greenroom/matrix";
import { recordedTelemetry } from "../../support/telemetry.ts";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

/** A logger that keeps its records. */
function memoryLog() {
  const entries: [level: string, message: string, data?: Record<string, unknown>][] = [];
  const level = (name: string) => (message: string, data?: Record<string, unknown>) =>
    void entries.push([name, message, data]);
  const log: Logger = {
    debug: level("debug"),
    info: level("info"),
    warn: level("warn"),
    error: level("error"),
  };
  return { entries, log };
}

const SECRETS = ["hunter2", "t-secret", "r-secret", "Very private"];

/** Does all sorts of things with secrets in them. */
async function secretive(log: Logger | false = false): Promise<void> {
  const { session, clock } = scripted({
    "POST /_matrix/client/v3/login": {
      user_id: "@alice:example.org",
      access_token: "t-secret2",
      device_id: "D",
      refresh_token: "r-secret",
    },
    "PUT /_matrix/client/v3/rooms/!r:x/send/m.room.message/1": inTurn(new TypeError("reset"), {
      event_id: "$1",
    }),
    "PUT /_matrix/client/v3/rooms/!r:x/send/m.room.message/2": new Response('{"event_id": "hunter2'),
    "GET /_matrix/client/v3/account/whoami": refusal(401, "M_UNKNOWN_TOKEN", { soft_logout: true }),
    "POST /_matrix/client/v3/refresh": refusal(403, "M_FORBIDDEN"),
  }, { accessToken: "t-secret", log });
  const api = clientAPI(session);
  await api.login({ identifier: "@alice:example.org", password: "hunter2" });
  await untilSettled(clock, api.sendText("!r:x", "Very private", { txnId: "1" }));
  for (const failing of [() => api.sendText("!r:x", "Very private", { txnId: "2" }), () => api.whoami()]) {
    const error = await assertRejects(() => untilSettled<unknown>(clock, failing()));
    for (const secret of SECRETS) assert(!Deno.inspect(error, { depth: 9 }).includes(secret));
  }
}

Deno.test("Requests, retries and durations are logged, structured, and without a secret", async () => {
  const { log, entries } = memoryLog();
  await secretive(log);
  for (const secret of SECRETS) assert(!JSON.stringify(entries).includes(secret), secret);
  const ended = entries.filter(([, message]) => message === "Request ended");
  assertEquals(ended.slice(0, 3), [
    ["debug", "Request ended", {
      operation: "login",
      method: "POST",
      path: "/_matrix/client/v3/login",
      status: 200,
      duration: 0,
      resends: 0,
    }],
    ["debug", "Request ended", {
      operation: "sendMessageEvent",
      method: "PUT",
      path: "/_matrix/client/v3/rooms/!r%3Ax/send/m.room.message/1",
      status: undefined,
      duration: 0,
      resends: 0,
    }],
    ["debug", "Request ended", {
      operation: "sendMessageEvent",
      method: "PUT",
      path: "/_matrix/client/v3/rooms/!r%3Ax/send/m.room.message/1",
      status: 200,
      duration: 0,
      resends: 1,
    }],
  ]);
  const [level, message, data] = entries.find(([, text]) => text.includes("trying again")) ?? [];
  assertEquals([level, message, data?.operation, data?.attempt], [
    "warn",
    "Request failed, trying again",
    "sendMessageEvent",
    1,
  ]);
  assert(typeof data?.delay === "number" && data.delay > 0);
});

Deno.test("The duration of a request is what the clock says", async () => {
  const { log, entries } = memoryLog();
  const { session, clock } = scripted({
    "GET /x": async ({ signal }) => {
      await clock.delay(1_234, { signal });
      return {};
    },
  }, { log });
  await untilSettled(clock, session.http.request("GET", "/x"));
  assertEquals(entries.at(-1)?.[2]?.duration, 1_234);
});

Deno.test("An operation with all its tries is one span, named after it, without a secret", async () => {
  await using telemetry = recordedTelemetry();
  await secretive();
  const { spans } = telemetry;
  const [login, sent, unreadable, , whoami] = spans;
  assertEquals(spans.map(({ name }) => name), [
    "matrix login",
    "matrix sendMessageEvent",
    "matrix sendMessageEvent",
    "matrix refresh",
    "matrix whoami",
  ]);
  assertEquals([login?.kind, login?.status.code], [SpanKind.CLIENT, SpanStatusCode.UNSET]);
  assertEquals(sent?.attributes, {
    "http.request.method": "PUT",
    "url.template": "/_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}",
    "http.request.resend_count": 1,
  });
  assertEquals([unreadable?.status.code, unreadable?.attributes["error.type"]], [
    SpanStatusCode.ERROR,
    "SERVICE_RESPONSE_ERROR",
  ]);
  assertEquals([whoami?.status.code, whoami?.attributes["error.type"]], [
    SpanStatusCode.ERROR,
    "M_UNKNOWN_TOKEN",
  ]);
  const text = JSON.stringify(
    spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  for (const secret of SECRETS) assert(!text.includes(secret));
});

Deno.test("Without an SDK there is no span, and a request runs in its caller's context", async () => {
  const { session } = scripted({ "GET /x": {} });
  const outside = context.active();
  await session.http.request("GET", "/x");
  assertEquals([trace.getActiveSpan(), context.active()], [undefined, outside]);
});

Deno.test("Transaction IDs differ among clients and requests, as after a restart", () => {
  const ids = new Set<string>();
  for (let client = 0; client < 20; client++) {
    const next = transactionIds();
    for (let request = 0; request < 50; request++) ids.add(next());
  }
  assertEquals(ids.size, 1_000);
  assert([...ids].every((id) => /^[\w-]{1,255}$/.test(id)));
});

Deno.test("A repeated send carries the same transaction ID, and the next send another", async () => {
  const { session, clock, requests } = scripted();
  const { http } = session;
  const api = clientAPI(session);
  http.accessToken = "x";
  for (let send = 0; send < 2; send++) {
    await assertRejects(() =>
      untilSettled(clock, api.sendText("!r:x", "Hello", { retry: { maxRetries: 2, retryable: () => true } }))
    );
  }
  const ids = requests.map(({ path }) => path.split("/").at(-1));
  assertEquals([ids.length, new Set(ids.slice(0, 3)).size, new Set(ids).size], [6, 1, 2]);
});
