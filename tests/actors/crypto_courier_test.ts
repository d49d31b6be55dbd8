import { assertEquals, assertStrictEquals } from "@std/assert";
import { CryptoCourier, type SendEngineRequest } from "../../src/actors/crypto_courier.ts";
import type { CryptoProtocol } from "../../src/actors/crypto_protocol.ts";
import type { ActorRef } from "../../src/actors/actor.ts";
import type { AnswerOutput, EngineRequest, RecoveredEvent } from "../../src/crypto/engine_protocol.ts";
import { DeviceConflictError } from "../../src/errors/crypto_error.ts";
import { recordingLogger } from "../kernel/support.ts";

/** An engine that hands out requests as given, one list for each time it is asked. */
function stage(send: SendEngineRequest, answer: () => RecoveredEvent[] = () => []) {
  const requests: EngineRequest[] = [];
  const told: string[] = [];
  const delivered: RecoveredEvent[] = [];
  const actor = {
    // deno-lint-ignore no-explicit-any -- a fake of all kinds of message
    ask(kind: string, body: any): Promise<any> {
      if (kind === "requests") return Promise.resolve(requests.splice(0));
      told.push(`${kind} ${body.id}${kind === "fail" ? ` ${body.failure.status}` : ""}`);
      if (kind !== "answer") return Promise.resolve({ settled: false });
      return Promise.resolve().then(() => ({ recovered: answer(), alarms: [] }));
    },
  } as ActorRef<CryptoProtocol>;
  const log = recordingLogger();
  const deliver = ({ recovered }: AnswerOutput): void => void delivered.push(...recovered);
  return { requests, told, delivered, log, courier: new CryptoCourier({ actor, send, deliver, log }) };
}

const query = (id: string): EngineRequest => ({ id, kind: "keysQuery", users: [] });
const parcel = (id: string): EngineRequest => ({
  id,
  kind: "toDevice",
  eventType: "m.room.encrypted",
  txnId: id,
  messages: {},
});
const event = (id: string): EngineRequest => ({
  id,
  kind: "roomEvent",
  roomId: "!room:a",
  txnId: id,
  content: {},
  createdAt: 0,
});

Deno.test("round() makes the requests, brings the answers, and says how many of the kind it has waited for", async () => {
  const here = stage(() => Promise.resolve({}));
  here.requests.push(query("1"), parcel("2"), query("3"));
  assertEquals(await here.courier.round("keysQuery"), { carried: 2, failure: undefined });
  assertEquals(await here.courier.round("keysQuery"), { carried: 0, failure: undefined });
  assertEquals(here.told.toSorted(), ["answer 1", "answer 2", "answer 3"]);
});

Deno.test("round() counts what others had made already: it has waited for that, and it may be all there was to ask", async () => {
  const answer = Promise.withResolvers<object>();
  const here = stage(() => answer.promise as ReturnType<SendEngineRequest>);
  here.requests.push(query("1"));
  const first = here.courier.round("keysQuery");
  while (here.requests.length > 0) await Promise.resolve();
  const second = here.courier.round("keysQuery");
  answer.resolve({});
  assertEquals([(await first).carried, (await second).carried], [1, 1]);
  assertEquals((await here.courier.round("keysQuery")).carried, 0);
});

Deno.test("What is encrypted for devices goes in order, and nothing behind it before it has arrived", async () => {
  const gates = new Map<string, PromiseWithResolvers<object>>();
  const here = stage(({ id }) => {
    const gate = Promise.withResolvers<object>();
    gates.set(id, gate);
    return gate.promise as ReturnType<SendEngineRequest>;
  });
  here.requests.push(parcel("1"), parcel("2"), event("3"));
  const round = here.courier.round("toDevice");
  for (const id of ["1", "2", "3"]) {
    while (!gates.has(id)) await Promise.resolve();
    assertEquals([...gates.keys()].at(-1), id);
    gates.get(id)?.resolve({});
  }
  assertEquals((await round).carried, 3);
  assertEquals(here.told, ["answer 1", "answer 2", "answer 3"]);
});

Deno.test("What stands behind a parcel that did not arrive is not sent, and goes out with the next round", async () => {
  const sent: string[] = [];
  const down = new TypeError("down");
  const here = stage(({ id }) => {
    sent.push(id);
    return id === "1" && sent.length === 1 ? Promise.reject(down) : Promise.resolve({});
  });
  here.requests.push(parcel("1"), event("2"));
  assertStrictEquals((await here.courier.round("toDevice")).failure, down);
  assertEquals([sent, here.told], [["1"], ["fail 1 0", "fail 2 0"]]);
  here.requests.push(parcel("1"), event("2"));
  assertEquals(await here.courier.round("toDevice"), { carried: 2, failure: undefined });
  assertEquals(sent, ["1", "1", "2"]);
});

Deno.test("A failed request of one kind holds up no other, and the next of its kind is made", async () => {
  const here = stage(({ id }) => id === "1" ? Promise.reject(new TypeError("down")) : Promise.resolve({}));
  here.requests.push(query("1"), query("2"), parcel("3"));
  await here.courier.round("keysQuery");
  await here.courier.round("toDevice");
  assertEquals(here.told.toSorted(), ["answer 2", "answer 3", "fail 1 0"]);
});

Deno.test("Events that an answer made readable are handed on, and nobody waits for them", async () => {
  const recovered = [{
    event: {},
    parked: { roomId: "!room:a", eventId: "$1" },
  }] as unknown as RecoveredEvent[];
  const here = stage(() => Promise.resolve({}), () => recovered);
  here.requests.push(query("1"));
  await here.courier.round("keysQuery");
  assertEquals(here.delivered, recovered);
});

Deno.test("A device that the server knows with other keys is remembered as one that can't go on", async () => {
  const conflict = new DeviceConflictError("Cannot use the device");
  const here = stage(() => Promise.resolve({}), () => {
    throw conflict;
  });
  here.requests.push(query("1"));
  assertStrictEquals((await here.courier.round("keysQuery")).failure, conflict);
  assertStrictEquals(here.courier.conflict, conflict);
});

Deno.test("stop() ends what is on its way", async () => {
  const here = stage((_request, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  here.requests.push(parcel("1"), parcel("2"));
  here.courier.wake();
  while (here.requests.length > 0) await Promise.resolve();
  await here.courier.stop();
  assertEquals(here.told, ["fail 1 0", "fail 2 0"]);
});

Deno.test("idle() makes what the answers bring about too, and does not try again what fails", async () => {
  const here = stage(
    ({ id }) => id === "bad" ? Promise.reject(new TypeError("down")) : Promise.resolve({}),
    () => {
      if (here.told.length === 1) here.requests.push(parcel("2"));
      return [];
    },
  );
  here.requests.push(query("1"));
  await here.courier.idle();
  assertEquals(here.told, ["answer 1", "answer 2"]);
  here.requests.push(parcel("bad"));
  await here.courier.idle();
  assertEquals(here.told.slice(2), ["fail bad 0"]);
});
