import { assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import type { RequestSender } from "../../../src/actors/crypto/request_sender.ts";
import type { RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import { DeviceConflictError } from "@greenroom/matrix/errors";
import {
  event,
  never,
  query,
  refused,
  requestsStage as stage,
  toDevice,
  turns,
} from "../support/requests_stage.ts";

Deno.test("round() makes the requests, brings the answers, and says how many of the kind it has waited for", async () => {
  const here = stage(() => Promise.resolve({}));
  here.requests.push(query("1"), toDevice("2"), query("3"));
  assertEquals(await here.outgoing.round("keysQuery"), { ended: 2, failure: undefined });
  assertEquals(await here.outgoing.round("keysQuery"), { ended: 0, failure: undefined });
  assertEquals(here.told.toSorted(), ["answer 1", "answer 2", "answer 3"]);
});

Deno.test("round() counts what others had made already: it has waited for that, and it may be all there was to ask", async () => {
  const answer = Promise.withResolvers<object>();
  const here = stage(() => answer.promise as ReturnType<RequestSender>);
  here.requests.push(query("1"));
  const first = here.outgoing.round("keysQuery");
  while (here.requests.length > 0) await Promise.resolve();
  const second = here.outgoing.round("keysQuery");
  answer.resolve({});
  assertEquals([(await first).ended, (await second).ended], [1, 1]);
  assertEquals((await here.outgoing.round("keysQuery")).ended, 0);
});

Deno.test("To-device requests are sent in order, and later requests only after they have arrived", async () => {
  const gates = new Map<string, PromiseWithResolvers<object>>();
  const here = stage(({ id }) => {
    const gate = Promise.withResolvers<object>();
    gates.set(id, gate);
    return gate.promise as ReturnType<RequestSender>;
  });
  here.requests.push(toDevice("1"), toDevice("2"), event("3"));
  const round = here.outgoing.round("toDevice");
  for (const id of ["1", "2", "3"]) {
    while (!gates.has(id)) await Promise.resolve();
    assertEquals([...gates.keys()].at(-1), id);
    gates.get(id)?.resolve({});
  }
  assertEquals((await round).ended, 3);
  assertEquals(here.told, ["answer 1", "answer 2", "answer 3"]);
});

Deno.test("Requests after a to-device request that failed wait for the next round", async () => {
  const sent: string[] = [];
  const down = new TypeError("down");
  const here = stage(({ id }) => {
    sent.push(id);
    return id === "1" && sent.length === 1 ? Promise.reject(down) : Promise.resolve({});
  });
  here.requests.push(toDevice("1"), event("2"));
  assertStrictEquals((await here.outgoing.round("toDevice")).failure, down);
  assertEquals([sent, here.told], [["1"], ["fail 1 0", "fail 2 0"]]);
  here.requests.push(toDevice("1"), event("2"));
  assertEquals(await here.outgoing.round("toDevice"), { ended: 2, failure: undefined });
  assertEquals(sent, ["1", "1", "2"]);
});

Deno.test("A failed request of one kind holds up no other, and the next of its kind is made", async () => {
  const here = stage(({ id }) => id === "1" ? Promise.reject(new TypeError("down")) : Promise.resolve({}));
  here.requests.push(query("1"), query("2"), toDevice("3"));
  await here.outgoing.round("keysQuery");
  await here.outgoing.round("toDevice");
  assertEquals(here.told.toSorted(), ["answer 2", "answer 3", "fail 1 0"]);
});

Deno.test("Events that an answer made decryptable are delivered, and the round does not wait for them", async () => {
  const recovered = [{
    event: {},
    ref: { roomId: "!room:a", eventId: "$1" },
  }] as unknown as RecoveredEvent[];
  const here = stage(() => Promise.resolve({}), { answer: () => recovered });
  here.requests.push(query("1"));
  await here.outgoing.round("keysQuery");
  assertEquals(here.delivered, recovered);
});

Deno.test("A device that the server knows with other keys is remembered as one that can't go on", async () => {
  const conflict = new DeviceConflictError("Cannot use the device");
  const here = stage(() => Promise.resolve({}), {
    answer: () => {
      throw conflict;
    },
  });
  here.requests.push(query("1"));
  assertStrictEquals((await here.outgoing.round("keysQuery")).failure, conflict);
  assertStrictEquals(here.outgoing.conflict, conflict);
});

Deno.test("stop() ends what is on its way", async () => {
  const here = stage(never);
  here.requests.push(toDevice("1"), toDevice("2"));
  here.outgoing.wake();
  while (here.requests.length > 0) await Promise.resolve();
  await here.outgoing.stop();
  assertEquals(here.told, ["fail 1 0", "fail 2 0"]);
});

Deno.test("What the engine has given up while it waited for its turn is not sent", async () => {
  const sent: string[] = [];
  const here = stage(({ id }) => Promise.resolve({ sent: sent.push(id) }), { isDue: (id) => id !== "2" });
  here.requests.push(toDevice("1"), toDevice("2"), toDevice("3"));
  await here.outgoing.idle();
  assertEquals([sent, here.told], [["1", "3"], ["answer 1", "fail 2 0", "answer 3"]]);
});

Deno.test("idle() makes what the answers bring about too, and does not try again what fails", async () => {
  const next = [toDevice("2"), toDevice("3")];
  const here = stage(({ id }) => id === "bad" ? Promise.reject(new TypeError("down")) : Promise.resolve({}), {
    answer() {
      here.requests.push(...next.splice(0, 1));
      return [];
    },
    fail: (id) => (here.requests.push(toDevice(id)), false),
  });
  here.requests.push(toDevice("1"));
  await here.outgoing.idle();
  assertEquals(here.told, ["answer 1", "answer 2", "answer 3"]);
  here.requests.push(toDevice("bad"));
  await here.outgoing.idle();
  assertEquals(here.told.slice(3), ["fail bad 0"]);
});

Deno.test("Once devices are known the engine is asked for more; other answers lead to no question", async () => {
  for (const [request, asks] of [[query("1"), 2], [toDevice("1"), 1]] as const) {
    const here = stage(() => Promise.resolve({}));
    here.requests.push(request);
    here.outgoing.wake();
    await here.outgoing.quiet();
    await turns();
    assertEquals([here.told, here.asks()], [["answer 1"], asks]);
  }
});

Deno.test("quiet() waits for what is on its way, and for what comes of it, and asks for nothing", async () => {
  const gates = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  const asked = Promise.withResolvers<void>();
  const here = stage(
    ({ id }) => gates[Number(id)]?.promise as ReturnType<RequestSender>,
    { asked: () => here.asks() === 2 ? asked.promise : undefined },
  );
  here.requests.push(query("0"));
  here.outgoing.wake();
  await turns();
  let isQuiet = false;
  const quiet = here.outgoing.quiet().then(() => isQuiet = true);
  const steps = [
    () => gates[0]?.resolve({}),
    () => (here.requests.push(toDevice("1")), asked.resolve()),
    () => gates[1]?.resolve({}),
  ];
  for (const step of steps) {
    await turns();
    assertFalse(isQuiet);
    step();
  }
  await quiet;
  assertEquals([here.told, here.asks()], [["answer 0", "answer 1"], 2]);
});

Deno.test("pause() ends what is on its way and asks for nothing until resume(), which without a pause does nothing", async () => {
  const here = stage(never);
  here.requests.push(toDevice("1"));
  here.outgoing.wake();
  await turns();
  here.outgoing.resume();
  await turns();
  assertEquals(here.asks(), 1);
  await here.outgoing.pause();
  assertEquals(here.told, ["fail 1 0"]);
  here.outgoing.wake();
  await here.outgoing.idle();
  assertEquals(here.asks(), 1);
  here.outgoing.resume();
  await turns();
  assertEquals(here.asks(), 2);
});

Deno.test("Outgoing requests that were stopped make nothing any more, also after resume()", async () => {
  const here = stage(never);
  await here.outgoing.stop();
  here.requests.push(toDevice("1"));
  here.outgoing.resume();
  await turns();
  assertEquals([here.told, here.asks()], [[], 0]);
});

Deno.test("That a key is not in the backup is no warning, and any other failure is one", async () => {
  const statuses = [[404, "M_NOT_FOUND"], [404, "M_UNRECOGNIZED"], [403, "M_NOT_FOUND"]] as const;
  for (const kind of ["backupDownload", "backupVersion"] as const) {
    for (const [status, errcode] of statuses) {
      const { requests, outgoing, log } = stage(() => Promise.reject(refused(status, { errcode })));
      requests.push({ id: "1", kind, version: "1", session: { roomId: "!a:a", sessionId: "s" } } as never);
      outgoing.wake();
      await turns();
      const isNothing = kind === "backupDownload" && status === 404 && errcode === "M_NOT_FOUND";
      assertEquals(log.lines.map(([level]) => level), [isNothing ? "debug" : "warn"], `${kind} ${errcode}`);
    }
  }
});
