/**
 * What becomes of outgoing requests when some fail: which are held back, tried again, and logged.
 */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { NetworkError, UnknownDeviceError, ValueError } from "@greenroom/matrix/errors";
import { event, never, query, refused, requestsStage, toDevice, turns } from "../support/requests_stage.ts";

/** A stage on which some requests fail; `sent` are those that were tried. */
function failing(errors: Readonly<Record<string, Error>>) {
  const sent: string[] = [];
  const here = requestsStage(({ id }) => {
    sent.push(id);
    const error = errors[id];
    return error === undefined ? Promise.resolve({}) : Promise.reject(error);
  });
  return { ...here, sent };
}

Deno.test("An event is not sent if the key of its session was refused; those of other sessions are", async () => {
  const here = failing({ 1: refused(400) });
  here.requests.push(toDevice("1", "a"), event("2", "a"), toDevice("3", "b"), event("4", "b"));
  await here.outgoing.idle();
  assertEquals(here.sent, ["1", "3", "4"]);
  assertEquals(here.told, ["fail 1 400", "fail 2 0", "answer 3", "answer 4"]);
});

for (const error of [refused(401), refused(429), new TypeError("down")]) {
  Deno.test(`After ${error.message} nothing else is sent to devices or rooms in that round, and it is reported once`, async () => {
    const here = failing({ 1: error });
    here.requests.push(toDevice("1", "a"), toDevice("2", "b"), event("3", "c"));
    await here.outgoing.idle();
    assertEquals(here.sent, ["1"]);
    assertEquals(here.log.lines.length, 1);
    here.requests.push(toDevice("2", "b"));
    await here.outgoing.idle();
    assertEquals(here.sent, ["1", "2"]);
  });
}

Deno.test("What is refused since the own device is gone is to be sent later, as it is: no part of it is at fault", async () => {
  const body = { errcode: "M_UNKNOWN_DEVICE" };
  const gone = new UnknownDeviceError({ operation: "send", method: "PUT", path: "/", status: 400, body });
  const here = failing({ 1: gone });
  here.requests.push(toDevice("1", "a"), toDevice("2", "b"), event("3", "a"));
  await here.outgoing.idle();
  assertEquals([here.sent, here.told], [["1"], ["fail 1 401", "fail 2 0", "fail 3 0"]]);
});

Deno.test("What is not sent for what is in it counts as refused, and the rest is sent", async () => {
  const here = failing({ 1: new ValueError("Cannot send: no server can have that user") });
  here.requests.push(query("1"), query("2"));
  await here.outgoing.idle();
  assertEquals([here.sent, here.told], [["1", "2"], ["fail 1 400", "answer 2"]]);
});

Deno.test("Why the last request of a kind failed is known until one is answered", async () => {
  const down = new TypeError("down");
  const here = failing({ 1: down });
  here.requests.push(query("1"));
  await here.outgoing.idle();
  await here.outgoing.round("keysQuery");
  assertEquals([here.outgoing.lastFailure("keysQuery"), here.outgoing.lastFailure("keysClaim")], [
    down,
    undefined,
  ]);
  here.requests.push(query("2"));
  await here.outgoing.idle();
  assertEquals(here.outgoing.lastFailure("keysQuery"), undefined);
});

Deno.test("A server that fails over three requests, one after the other, gets no more in that round", async () => {
  const here = failing({ 1: refused(500), 2: refused(500), 3: refused(500) });
  here.requests.push(toDevice("1", "a"), toDevice("2", "b"), toDevice("3", "c"), toDevice("4", "d"));
  await here.outgoing.idle();
  assertEquals(here.sent, ["1", "2", "3"]);
});

Deno.test("A server that refuses many requests, or fails over some of them, gets the rest", async () => {
  const bad = refused(499);
  const here = failing({ 1: bad, 2: bad, 3: bad, 4: refused(500), 5: refused(500), 7: refused(500) });
  const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
  here.requests.push(...ids.map((id) => toDevice(id, id)));
  await here.outgoing.idle();
  assertEquals(here.sent, ids);
});

Deno.test("A server that is out of reach for one query is asked the next: they hold up nothing", async () => {
  const here = failing({ 1: new TypeError("down"), 2: refused(429) });
  here.requests.push(query("1"), query("2"), query("3"));
  await here.outgoing.idle();
  assertEquals(here.sent, ["1", "2", "3"]);
});

Deno.test("round() reports the outcome of its own session, or else the first failure", async () => {
  const [first, second] = [refused(400), refused(403)];
  for (
    const [about, failure] of [["a", first], ["b", second], ["c", undefined], [undefined, first]] as const
  ) {
    const here = failing({ 1: first, 2: second });
    here.requests.push(toDevice("1", "a"), toDevice("2", "b"), toDevice("3", "c"));
    assertEquals(await here.outgoing.round("toDevice", about), { ended: 3, failure });
  }
});

Deno.test("A request that the engine splits after a refusal is no failure, and its parts are waited for", async () => {
  const here = requestsStage(
    ({ id }) => id === "1" ? Promise.reject(refused(413)) : Promise.resolve({}),
    { fail: (id) => (here.requests.push(toDevice(`${id}.1`), toDevice(`${id}.2`)), true) },
  );
  here.requests.push(toDevice("1"));
  assertEquals(await here.outgoing.round("toDevice"), { ended: 3, failure: undefined });
  assertEquals(here.told, ["fail 1 413", "answer 1.1", "answer 1.2"]);
});

Deno.test("round() waits for what a refused request is replaced by, also if that takes the engine long", async () => {
  const asked = Promise.withResolvers<void>();
  const here = requestsStage(({ id }) => id === "1" ? Promise.reject(refused(413)) : Promise.resolve({}), {
    fail: () => true,
    asked: () => here.asks() === 2 ? asked.promise : undefined,
  });
  here.requests.push(toDevice("1"));
  const round = here.outgoing.round("toDevice");
  await turns();
  here.requests.push(toDevice("2"));
  asked.resolve();
  assertEquals(await round, { ended: 2, failure: undefined });
});

Deno.test("An unusable answer is a failure, the first one is reported, and the device goes on", async () => {
  const errors = [new Error("first"), new Error("second")];
  const answered = [...errors];
  const here = requestsStage(() => Promise.resolve({}), {
    answer() {
      throw answered.shift();
    },
  });
  here.requests.push(toDevice("1"), toDevice("2"));
  assertStrictEquals((await here.outgoing.round("toDevice")).failure, errors[0]);
  assertEquals(here.outgoing.conflict, undefined);
  assertEquals(here.log.lines.map(([level]) => level), ["error", "error"]);
});

Deno.test("A failing engine is reported, but not once requests are paused", async () => {
  for (const isHeld of [false, true]) {
    const asked = Promise.withResolvers<void>();
    const here = requestsStage(never, { asked: () => asked.promise });
    here.outgoing.wake();
    const held = isHeld ? here.outgoing.pause() : undefined;
    asked.reject(new Error("the actor has stopped"));
    await held;
    await turns();
    assertEquals(here.log.lines.length, isHeld ? 0 : 1);
  }
});

Deno.test("Requests that pause() ends are not logged", async () => {
  const here = requestsStage(never, {
    fail() {
      throw new Error("the actor has stopped");
    },
  });
  here.requests.push(toDevice("1"), toDevice("2"));
  here.outgoing.wake();
  await turns();
  await here.outgoing.pause();
  assertEquals([here.told.length, here.log.lines], [2, []]);
});

Deno.test("The engine learns that a key already exists from any such answer, and nothing else", async () => {
  const error = "One time key signed_curve25519:AAAA already exists";
  const here = failing({
    1: refused(400, { error }),
    2: refused(400, { "@a:a": { D: { error } } }),
    3: refused(400, { error: "No" }),
    4: new TypeError("a secret"),
    5: new NetworkError("Cannot send: the connection broke"),
  });
  here.requests.push(...["1", "2", "3", "4", "5"].map((id) => query(id)));
  await here.outgoing.idle();
  const text = "Cannot send (PUT /): the homeserver answered 400 M_UNKNOWN";
  assertEquals(here.failures.map(({ message }) => message), [
    `${text}: ${error}`,
    `${text}: a key already exists`,
    `${text}: No`,
    "the request could not be made",
    "Cannot send: the connection broke",
  ]);
});
