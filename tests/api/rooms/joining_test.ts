import { assert, assertEquals, assertRejects } from "@std/assert";
import { joiningAPI } from "../../../src/api/rooms/joining.ts";
import {
  ForbiddenError,
  MatrixRequestError,
  NetworkError,
  NotFoundError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import { inTurn, refusal, scripted, untilSettled } from "../../support/scripted_fetch.ts";

const JOIN = "POST /_matrix/client/v3/join/#stage:example.org";
const KNOCK = "POST /_matrix/client/v3/knock/!room";
const VERSIONS = "GET /_matrix/client/versions";
const joined = { room_id: "!room" };

Deno.test("joinRoom() posts to the alias or ID and returns the room's ID", async () => {
  const { session, log, body } = scripted({
    [JOIN]: joined,
    "POST /_matrix/client/v3/join/!v12": { room_id: "!v12" },
  });
  const api = joiningAPI(session);
  assertEquals(await api.joinRoom("#stage:example.org"), "!room");
  assertEquals(await api.joinRoom("!v12"), "!v12");
  assertEquals(log(), [JOIN, "POST /_matrix/client/v3/join/!v12"]);
  assertEquals(body(), {});
});

Deno.test("joinRoom() sends the third-party proof and the reason", async () => {
  const { session, body } = scripted({ [JOIN]: joined });
  const thirdPartySigned = {
    sender: "@bob:b.org",
    mxid: "@alice:a.org",
    token: "t",
    signatures: {},
  } as const;
  await joiningAPI(session).joinRoom("#stage:example.org", { thirdPartySigned, reason: "Hello" });
  assertEquals(body(), { third_party_signed: thirdPartySigned, reason: "Hello" });
});

Deno.test("joinRoom() and knockRoom() name servers for new and old homeservers, whose version nobody asks for", async () => {
  const { session, log } = scripted({
    [JOIN]: joined,
    [KNOCK]: joined,
    [VERSIONS]: refusal(502, "M_UNKNOWN"),
  });
  const api = joiningAPI(session);
  await api.joinRoom("#stage:example.org", { servers: ["a.org", "b.org"] });
  await api.knockRoom("!room", { servers: ["a.org"], reason: "Let me in" });
  assertEquals(log(), [
    `${JOIN}?via=a.org&via=b.org&server_name=a.org&server_name=b.org`,
    `${KNOCK}?via=a.org&server_name=a.org`,
  ]);
});

Deno.test("knockRoom() sends its reason and returns the room's ID", async () => {
  const { session, body } = scripted({ [KNOCK]: joined });
  assertEquals(await joiningAPI(session).knockRoom("!room", { reason: "Let me in" }), "!room");
  assertEquals(body(), { reason: "Let me in" });
});

Deno.test("joinRoom() retries a 502 and gives up after four retries", async () => {
  const { session, clock, requests } = scripted({ [JOIN]: refusal(502, "M_UNKNOWN") });
  const error = await assertRejects(
    () => untilSettled(clock, joiningAPI(session).joinRoom("#stage:example.org")),
    MatrixRequestError,
  );
  assertEquals([error.status, requests.length], [502, 5]);
});

for (
  const [name, answer] of Object.entries({
    "a lost connection": new TypeError("gone"),
    "a 429": refusal(429, "M_LIMIT_EXCEEDED"),
    "a 500": refusal(500, "M_UNKNOWN"),
    "a 503 that is no JSON": new Response("<h1>Sorry</h1>", { status: 503 }),
  })
) {
  Deno.test(`joinRoom() tries again after ${name}`, async () => {
    const { session, clock, requests } = scripted({ [JOIN]: inTurn(answer, answer, joined) });
    assertEquals(await untilSettled(clock, joiningAPI(session).joinRoom("#stage:example.org")), "!room");
    assertEquals(requests.length, 3);
  });
}

Deno.test("joinRoom() does not retry what is final", async () => {
  for (
    const [status, errcode, Class] of [[403, "M_FORBIDDEN", ForbiddenError], [
      404,
      "M_NOT_FOUND",
      NotFoundError,
    ]] as const
  ) {
    const { session, requests } = scripted({ [JOIN]: refusal(status, errcode) });
    await assertRejects(() => joiningAPI(session).joinRoom("#stage:example.org"), Class);
    assertEquals(requests.length, 1);
  }
});

Deno.test("joinRoom() tries once with maxRetries 0 or retry false, and as often as maxRetries says", async () => {
  for (
    const [options, tries] of [[{ maxRetries: 0 }, 1], [{ retry: false }, 1], [{ maxRetries: 2 }, 3]] as const
  ) {
    const { session, clock, requests } = scripted({ [JOIN]: new TypeError("gone") });
    await assertRejects(
      () => untilSettled(clock, joiningAPI(session).joinRoom("#stage:example.org", options)),
      NetworkError,
    );
    assertEquals(requests.length, tries);
  }
});

Deno.test("joinRoom() waits 5 seconds at first, then twice as long, 40 seconds at most", async () => {
  const { session, clock, requests } = scripted({ [JOIN]: new TypeError("gone") });
  const times: number[] = [];
  const start = clock.now();
  const join = joiningAPI(session).joinRoom("#stage:example.org", { maxRetries: 5 }).catch(() => {});
  for (let second = 0; second < 200; second++) {
    const before = requests.length;
    await clock.tick(second === 0 ? 0 : 1000);
    if (requests.length > before) times.push((clock.now() - start) / 1000);
  }
  await join;
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  assertEquals(gaps.length, 5);
  for (const [index, longest] of [5, 10, 20, 40, 40].entries()) {
    const gap = gaps[index] ?? 0;
    assert(gap <= longest + 1 && gap >= longest * 0.8 - 1, `gap ${index} is ${gap} s`);
  }
});

Deno.test("joinRoom() ends its waiting when it is aborted", async () => {
  const { session, clock, requests } = scripted({ [JOIN]: new TypeError("gone") });
  const abort = new AbortController();
  const joining = joiningAPI(session).joinRoom("#stage:example.org", { signal: abort.signal });
  joining.catch(() => {});
  await clock.tick();
  abort.abort(new Error("enough"));
  await assertRejects(() => joining, Error, "enough");
  assertEquals([requests.length, clock.pending], [1, 0]);
});

Deno.test("joinRoom() passes request options on", async () => {
  const { session, requests } = scripted({ [JOIN]: joined });
  await joiningAPI(session).joinRoom("#stage:example.org", {
    servers: ["a.org"],
    headers: { "x-trace": "1" },
    asUserId: "@ghost:example.org",
  });
  assertEquals(requests.map(({ headers }) => headers.get("x-trace")), ["1"]);
  assert(requests.every(({ query }) => query.includes("user_id=%40ghost%3Aexample.org")));
});

Deno.test("joinRoom() and knockRoom() refuse what is neither ID nor alias, and impossible retries, and send nothing", async () => {
  const { session, requests } = scripted();
  const api = joiningAPI(session);
  for (const id of ["", "room", "@alice:example.org", "#nodomain", "!"]) {
    await assertRejects(() => api.joinRoom(id as "!", { servers: ["a.org"] }), ValueError);
    await assertRejects(() => api.knockRoom(id as "!", { servers: ["a.org"] }), ValueError);
  }
  for (const maxRetries of [-1, 1.5, NaN, Infinity]) {
    await assertRejects(() => api.joinRoom("!room", { maxRetries }), ValueError, "maxRetries");
  }
  assertEquals(requests, []);
});

Deno.test("joinRoom() rejects an answer that names no room", async () => {
  const { session } = scripted({ [JOIN]: {} });
  await assertRejects(
    () => joiningAPI(session).joinRoom("#stage:example.org"),
    ServiceResponseError,
    "room_id",
  );
});
