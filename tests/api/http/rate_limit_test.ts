import { assert, assertEquals, assertRejects } from "@std/assert";
import { LimitExceededError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { messagesAPI } from "../../../src/api/messages/messages.ts";
import {
  type Answer,
  inTurn,
  refusal,
  scripted,
  type ScriptedOptions,
  type ScriptedRequest,
  untilSettled,
} from "../../support/scripted_fetch.ts";

/** A server with a leaky bucket for sends alone, and what was said there. */
function limited({ perSecond = 0.2, burst = 10 } = {}, options: ScriptedOptions = {}) {
  const clock = new TestClock();
  const said: string[] = [];
  let [tokens, time, refused] = [burst, clock.now(), 0];
  const send = (request: ScriptedRequest): Answer => {
    tokens = Math.min(burst, tokens + (clock.now() - time) / 1000 * perSecond);
    time = clock.now();
    if (tokens < 1) {
      refused++;
      return refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: Math.ceil((1 - tokens) / perSecond * 1000) });
    }
    tokens--;
    said.push((request.body as { body: string }).body);
    return { event_id: "$e" };
  };
  const rule = (request: ScriptedRequest): Answer =>
    request.path.includes("/send/") ? send(request) : { ok: true };
  const made = scripted({ "*": rule }, { checked: false, ...options, clock });
  const api = messagesAPI(made.session);
  const say = (body: string, room = "a", more = {}) =>
    api.sendMessageEvent(`!${room}:x` as RoomID, "m.room.message", { msgtype: "m.text", body }, more);
  return { ...made, clock, said, say, refusals: () => refused, http: made.session.http };
}

/** Answers of `/x`, with the times of the requests since the first. */
function timed(answers: [Answer, ...Answer[]], options: ScriptedOptions = {}) {
  const clock = new TestClock();
  const times: number[] = [];
  const rule = inTurn(...answers) as () => Answer;
  const x = (): Answer => {
    times.push(clock.now());
    return rule();
  };
  const made = scripted({ "GET /x": x, "PUT /x": x, "POST /x": x }, { ...options, clock });
  const waits = () => times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return { ...made, clock, http: made.session.http, waits };
}

const ok = { ok: true };
const tooMany = refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 5_000 });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

Deno.test("Thirty messages at once arrive in order, with one request refused for each that has to wait", async () => {
  const { clock, say, said, refusals } = limited();
  await untilSettled(clock, Promise.all(numbers(30).map((body) => say(body))));
  assertEquals(said, numbers(30));
  assert(refusals() <= 20, `${refusals()} refusals`);
});

Deno.test("Messages to thirty rooms at once all arrive, in the order of the calls, without a storm of requests", async () => {
  const { clock, say, said, refusals } = limited();
  await untilSettled(clock, Promise.all(numbers(30).map((body) => say(body, `room${body}`))));
  assertEquals(said, numbers(30));
  assert(refusals() <= 40, `${refusals()} refusals`);
});

Deno.test("A room with much to say lets others have their turn", async () => {
  const { clock, say, said } = limited({ burst: 1 });
  const all = [...numbers(20).map((body) => say(body, "loud")), say("quiet", "quiet")];
  await untilSettled(clock, Promise.all(all));
  assert(said.indexOf("quiet") < 3, said.join());
});

Deno.test("What is no message does not wait for the limit of messages", async () => {
  const { clock, say, http } = limited({ burst: 1 });
  const sends = Promise.all(numbers(5).map((body) => say(body)));
  await clock.tick(1);
  assertEquals(await http.request("GET", "/y"), ok);
  await untilSettled(clock, sends);
});

Deno.test("The messages of a room leave one after the other, also where none is refused", async () => {
  const clock = new TestClock();
  const begun: string[] = [];
  const made = scripted({
    "*": async ({ body }) => {
      const text = (body as { body: string }).body;
      begun.push(text);
      if (text === "slow") await clock.delay(1_000);
      if (text === "broken") return refusal(403, "M_FORBIDDEN");
      return { event_id: "$e" };
    },
  }, { clock, checked: false });
  const api = messagesAPI(made.session);
  const say = (body: string, room: RoomID = "!a:x") =>
    api.sendMessageEvent(room, "m.room.message", { msgtype: "m.text", body });
  const all = Promise.allSettled([say("slow"), say("broken"), say("fast"), say("other", "!b:x")]);
  await clock.tick(1);
  assertEquals(begun, ["slow", "other"]);
  assertEquals((await untilSettled(clock, all)).map(({ status }) => status === "fulfilled"), [
    true,
    false,
    true,
    true,
  ]);
  assertEquals(begun, ["slow", "other", "broken", "fast"]);
});

Deno.test("A wait for the limit ends with the signal, and those behind keep their turns", async () => {
  const { clock, say, said } = limited({ burst: 1 });
  const given = new AbortController();
  const [first, second, third] = [
    say("0", "a"),
    say("1", "b", { signal: given.signal }),
    say("2", "b"),
  ];
  const inRoom = new AbortController();
  const fourth = say("3", "b", { signal: inRoom.signal });
  const fifth = say("4", "b");
  await clock.tick(1);
  given.abort(new RangeError("enough"));
  inRoom.abort(new RangeError("enough, too"));
  await assertRejects(() => second, RangeError, "enough");
  await assertRejects(() => fourth, RangeError, "enough, too");
  await untilSettled(clock, Promise.all([first, third, fifth]));
  assertEquals(said, ["0", "2", "4"]);
  assertEquals(clock.pending, 0);
});

Deno.test("429 uses up no tries, for a POST that must not be done twice either", async () => {
  for (const method of ["GET", "PUT", "POST"] as const) {
    const many = Array.from({ length: 9 }, () => tooMany);
    const { http, clock, waits, requests } = timed([tooMany, ...many, ok]);
    assertEquals(await untilSettled(clock, http.request(method, "/x", { retry: { base: 100 } })), ok);
    assertEquals([requests.length, new Set(waits())], [11, new Set([5_000])]);
  }
  const mixed = timed([tooMany, new TypeError("no"), tooMany, new TypeError("no"), tooMany, ok]);
  assertEquals(
    await untilSettled(mixed.clock, mixed.http.request("GET", "/x", { retry: { maxRetries: 2 } })),
    ok,
  );
});

Deno.test("A single try does not wait for a limit, neither its own nor that of others", async () => {
  for (const retry of [false, { maxRetries: 0 }] as const) {
    const { http, clock, requests } = timed([tooMany, tooMany, ok]);
    const waits = http.request("GET", "/x");
    await clock.tick(1);
    await assertRejects(() => http.request("GET", "/x", { retry }), LimitExceededError);
    assertEquals(requests.length, 2);
    await untilSettled(clock, waits);
    const { http: other, requests: asked } = timed([tooMany], { retry });
    await assertRejects(() => other.request("GET", "/x"), LimitExceededError);
    assertEquals(asked.length, 1);
  }
});

Deno.test("A server that lets nothing through for maxLimitWait is given up, by all that wait", async () => {
  const { http, clock, requests } = timed([tooMany]);
  const began = clock.now();
  const ends: number[] = [];
  const asks = Array.from({ length: 5 }, () =>
    http.request("GET", "/x").catch((error) => {
      ends.push(clock.now() - began);
      throw error;
    }));
  for (const ask of asks) ask.catch(() => {});
  await clock.tick(590_000);
  assertEquals(ends, []);
  for (const ask of asks) await assertRejects(() => untilSettled(clock, ask), LimitExceededError);
  assert(Math.max(...ends) < 640_000, ends.join());
  const before = requests.length;
  await assertRejects(() => untilSettled(clock, http.request("GET", "/x")), LimitExceededError);
  assert(requests.length - before <= 2, "it is still known that it lets nothing through");
});

Deno.test("A server that says no time, or none, is asked at growing distances", async () => {
  for (const headers of [{}, { "retry-after": "0" }]) {
    const { http, clock, requests } = timed([refusal(429, "M_LIMIT_EXCEEDED", {}, headers as HeadersInit)]);
    await assertRejects(() => untilSettled(clock, http.request("GET", "/x")), LimitExceededError);
    assert(requests.length < 40, `${requests.length} requests`);
  }
});

Deno.test("A clock that is set back while requests wait for the limit has them wait no longer", async () => {
  const { http, clock, requests } = timed([tooMany, ok, tooMany, ok]);
  const answers: unknown[] = [];
  const ask = () => void http.request("PUT", "/x").then((answer) => answers.push(answer));
  for (let count = 0; count < 2; count++) ask();
  await clock.tick(1_000);
  const now = clock.now.bind(clock);
  clock.now = () => now() - 3_600_000;
  await clock.tick(5_000);
  ask();
  await clock.tick(10_000);
  assertEquals([answers, requests.length], [[ok, ok, ok], 5]);
});

Deno.test("A longer wait than maxRetryAfter ends its request alone; others of its kind do not wait for it", async () => {
  const long = refusal(429, "M_LIMIT_EXCEEDED", { retry_after_ms: 333_000 });
  const { http, clock, requests } = timed([long, ok]);
  await assertRejects(() => http.request("POST", "/x"), LimitExceededError);
  assertEquals(await http.request("POST", "/x"), ok);
  assertEquals([requests.length, clock.pending], [2, 0]);
});

Deno.test("A request without an answer holds up those behind it for a while only", async () => {
  const clock = new TestClock();
  let [asked, hangs] = [0, false];
  const rule = (): Answer | Promise<Answer> => {
    if (asked++ < 2) return tooMany;
    if (hangs) return { ok: true };
    hangs = true;
    return clock.delay(50_000).then(() => ({ ok: true }));
  };
  const { session: { http } } = scripted({ "GET /x": rule }, { clock });
  const [first, second] = [http.request("GET", "/x"), http.request("GET", "/x")];
  await clock.tick(5_000);
  await clock.tick(5_000);
  assertEquals(await second, ok);
  await clock.tick(50_000);
  assertEquals(await first, ok);
  assertEquals(clock.pending, 0);
});

Deno.test("Whom a request acts as has limits, and an order, of their own", async () => {
  const { clock, say, requests } = limited({ burst: 1 });
  const own = Promise.all([say("0"), say("1")]);
  await clock.tick(1);
  const ghost = say("2", "a", { asUserId: "@ghost:x" });
  await clock.tick(1);
  assertEquals(requests.at(-1)?.query, "user_id=%40ghost%3Ax");
  await untilSettled(clock, Promise.all([own, ghost]));
});
