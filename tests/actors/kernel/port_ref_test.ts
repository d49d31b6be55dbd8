import { assertEquals, assertInstanceOf, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { ActorError, ActorProtocolError, ActorStoppedError } from "../../../src/actors/kernel/actor_error.ts";
import { portRef } from "../../../src/actors/kernel/port_ref.ts";
import { errorCodec } from "../../../src/actors/kernel/wire_error.ts";
import { ValueError } from "../../../src/errors/value_error.ts";
import { answer, type Echo, ScriptedEndpoint } from "./scripted_endpoint.ts";
import { assertPending, rejectionOf } from "./support.ts";

function asking(options: { credits?: number } = {}) {
  const endpoint = new ScriptedEndpoint();
  const closed: string[] = [];
  const actor = portRef<Echo>(endpoint, { name: "far", onClose: () => closed.push("closed"), ...options });
  return { endpoint, closed, actor };
}

Deno.test("portRef() sends no more asks than it has credits; an answer gives one back, in order", async () => {
  const { endpoint, actor } = asking({ credits: 2 });
  const asks = Array.from({ length: 5 }, (_, index) => actor.ask("echo", index));
  assertEquals(endpoint.asked, [1, 2]);
  endpoint.receive(answer(2, "second"));
  assertEquals(endpoint.asked, [1, 2, 3]);
  for (const id of [1, 3, 4, 5]) endpoint.receive(answer(id, id));
  assertEquals(await Promise.all(asks), [1, "second", 3, 4, 5]);
});

Deno.test("portRef() sends nothing of an ask that is aborted while it waits for a credit", async () => {
  const { endpoint, actor } = asking({ credits: 1 });
  const controller = new AbortController();
  const first = actor.ask("echo", 1);
  const second = rejectionOf(actor.ask("echo", 2, { signal: controller.signal }));
  const third = actor.ask("echo", 3);
  controller.abort(new Error("never mind"));
  assertStrictEquals(await second, controller.signal.reason);
  endpoint.receive(answer(1, "one"));
  assertEquals(endpoint.sent.map((frame) => frame.type === "ask" ? frame.body : frame.type), [1, 3]);
  endpoint.receive(answer(2, "three"));
  assertEquals([await first, await third], ["one", "three"]);
});

Deno.test("portRef() sends the reason of an abort once, and waits for the answer", async () => {
  const { endpoint, actor } = asking();
  const controller = new AbortController();
  const ask = actor.ask("echo", 1, { signal: controller.signal });
  controller.abort(new TypeError("enough"));
  await assertPending(ask);
  const cancels = endpoint.sent.filter((frame) => frame.type === "cancel");
  assertEquals(cancels.map(({ id, reason }) => [id, reason.name, reason.message]), [[
    1,
    "TypeError",
    "enough",
  ]]);
  endpoint.receive(answer(1, "finished all the same"));
  assertEquals(await ask, "finished all the same");
});

Deno.test("portRef() heeds no abort that comes after the answer, or after a refusal", async () => {
  const { endpoint, actor } = asking({ credits: 1 });
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const answered = actor.ask("echo", 1, options);
  endpoint.receive(answer(1, "one"));
  assertEquals(await answered, "one");
  const refused = rejectionOf(actor.ask("echo", () => {}, options));
  const [sent, waiting] = [actor.ask("echo", 2), actor.ask("echo", 3)];
  controller.abort();
  assertInstanceOf(await refused, ActorProtocolError);
  for (const id of [3, 4]) endpoint.receive(answer(id, id));
  assertEquals(await Promise.all([sent, waiting]), [3, 4]);
  assertEquals(endpoint.sent.map(({ type }) => type), ["ask", "ask", "ask"]);
});

Deno.test("portRef() refuses a body that can't be cloned, and goes on", async () => {
  const { endpoint, actor } = asking({ credits: 1 });
  const { signal } = new AbortController();
  const error = await assertRejects(
    () => actor.ask("echo", () => {}, { signal }),
    ActorProtocolError,
    'Cannot ask "echo" of actor "far": the body can\'t be cloned',
  );
  assertInstanceOf(error.cause, DOMException);
  const ask = actor.ask("echo", 1);
  endpoint.receive(answer(2, "one"));
  assertEquals(await ask, "one");
});

Deno.test("portRef() ignores whatever is no frame, and answers to nobody", async () => {
  const { endpoint, actor, closed } = asking();
  const ask = actor.ask("echo", 1);
  const strange = [
    undefined,
    null,
    7,
    "bye",
    [],
    {},
    { type: "reply" },
    { type: "reply", id: "1", ok: true },
    {
      type: "ask",
      id: 1,
      kind: "echo",
    },
    { type: "cancel", id: 1 },
    answer(99, "nobody's"),
  ];
  for (const data of strange) endpoint.receive(data);
  await assertPending(ask);
  assertEquals(closed, []);
  endpoint.receive({ type: "reply", id: 1 });
  await assertRejects(() => ask, Error, "an error without a message");
});

Deno.test("a far side that says bye has every ask rejected, once and for all", async () => {
  const { endpoint, actor, closed } = asking({ credits: 1 });
  const asks = [actor.ask("echo", 1), actor.ask("echo", 2)].map(rejectionOf);
  endpoint.receive({ type: "bye" });
  endpoint.receive({ type: "bye" });
  for (const error of await Promise.all(asks)) {
    assertInstanceOf(error, ActorStoppedError);
    assertEquals([error.actor, error.kind], ["far", "echo"]);
  }
  await Promise.all([actor.done, actor.stop()]);
  await assertRejects(() => actor.ask("echo", 3), ActorStoppedError);
  assertEquals([closed, endpoint.listeners, endpoint.asked], [["closed"], 0, [1]]);
});

Deno.test("a failure on the far side rejects done at once, and stop() waits for the last word", async () => {
  const { endpoint, actor, closed } = asking();
  const ask = rejectionOf(actor.ask("echo", 1));
  const { encode } = errorCodec();
  const failure = new ActorError("far", { kind: "commit", cause: new Error("disk full") });
  endpoint.receive({ type: "failed", error: encode(failure) });
  const error = await assertRejects(() => actor.done, ActorError, failure.message);
  const refused = await ask;
  assertInstanceOf(refused, ActorStoppedError);
  assertStrictEquals(refused.cause, error);
  const stopped = actor.stop();
  await assertPending(stopped);
  assertEquals(closed, []);
  endpoint.receive({ type: "bye" });
  await stopped;
  assertEquals(closed, ["closed"]);
});

for (
  const [type, event, text] of [
    ["messageerror", new MessageEvent("messageerror"), "can't be read"],
    ["error", new ErrorEvent("error", { message: "out of memory", cancelable: true }), "out of memory"],
    ["close", new Event("close"), "the port was closed"],
  ] as const
) {
  Deno.test(`a far side that is lost to the event "${type}" is a failure of the actor`, async () => {
    const { endpoint, actor, closed } = asking();
    const ask = rejectionOf(actor.ask("echo", 1));
    endpoint.dispatchEvent(event);
    assertInstanceOf(await ask, ActorStoppedError);
    await assertRejects(() => actor.done, ActorError, text);
    await actor.stop();
    assertEquals([closed, endpoint.listeners, endpoint.sent.at(-1)], [["closed"], 0, { type: "bye" }]);
    assertEquals(event.defaultPrevented, type === "error");
  });
}

Deno.test("a Worker that crashes rejects its asks and done, and not the process", async () => {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "crash" });
  const actor = portRef<Echo>(worker, { name: "far", onClose: () => worker.terminate() });
  const error = await assertRejects(() => actor.ask("echo", 1), ActorStoppedError);
  assertInstanceOf(error.cause, ActorError);
  await assertRejects(() => actor.done, ActorError, "the Worker crashed");
});

Deno.test("Actor.stop() of a portRef() refuses what waits for a credit and waits for what is on its way", async () => {
  const { endpoint, actor } = asking({ credits: 1 });
  const sent = actor.ask("echo", 1);
  const waiting = rejectionOf(actor.ask("echo", 2));
  const stopped = actor.stop();
  actor.stop();
  assertInstanceOf(await waiting, ActorStoppedError);
  assertEquals(endpoint.sent.map(({ type }) => type), ["ask", "bye"]);
  endpoint.receive(answer(1, "one"));
  assertEquals(await sent, "one");
  await assertPending(stopped);
  endpoint.receive({ type: "bye" });
  await stopped;
});

Deno.test("Actor.abandon() of a portRef() says bye once and closes", async () => {
  const { endpoint, actor, closed } = asking();
  actor.stop();
  actor.abandon();
  actor.abandon();
  await Promise.all([actor.done, actor.stop()]);
  assertEquals([endpoint.sent, closed], [[{ type: "bye" }], ["closed"]]);
});

Deno.test("portRef() wants a positive integer for its credits", () => {
  assertThrows(
    () => portRef(new ScriptedEndpoint(), { name: "far", credits: 0 }),
    ValueError,
    "credits are 0",
  );
});
