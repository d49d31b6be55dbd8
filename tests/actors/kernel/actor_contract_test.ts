/**
 * What every actor keeps to.
 *
 * @module
 */

import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import { ActorError, ActorStoppedError } from "@greenroom/matrix/errors";
import { contractActor, type ContractHandlers } from "./contract_actor.ts";
import { rejectionOf, settle } from "./support.ts";

function test(
  name: string,
  body: (actor: Actor<ContractHandlers>) => Promise<void>,
): void {
  Deno.test(`actor: ${name}`, async () => {
    const actor = contractActor();
    await body(actor);
    actor.abandon();
  });
}

test("a message is answered with what the handler returns", async (actor) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (body) => {
      assertEquals(await actor.echo(body), body);
    }),
    { numRuns: 50 },
  );
  assertEquals(
    await actor.echo(new Map([["bytes", new Uint8Array([1, 2])]])),
    new Map([["bytes", new Uint8Array([1, 2])]]),
  );
});

test("messages are handled one at a time, in order", async (actor) => {
  const names = Array.from({ length: 50 }, (_, index) => `${index}`);
  await Promise.all(names.map((name) => actor.note(name)));
  assertEquals(
    await actor.notes(),
    names.flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

test("a handler that throws rejects that ask only", async (actor) => {
  const failed = actor.fail("error");
  const answered = actor.echo(1);
  const error = await assertRejects(() => failed, Error, "no luck");
  assertEquals([error.name, Reflect.get(error, "code")], ["DetailedError", "DETAILED"]);
  assertInstanceOf(error.cause, RangeError);
  assertEquals(error.cause.message, "too far");
  assertEquals(await answered, 1);
});

test("errors of the language stay what they are", async (actor) => {
  await assertRejects(() => actor.fail("type"), TypeError, "wrong type");
});

test("a message with an aborted signal rejects immediately and nothing runs", async (actor) => {
  const signal = AbortSignal.abort(new Error("too late"));
  const error = await assertRejects(() => actor.note("never", { signal }));
  assertStrictEquals(error, signal.reason);
  assertEquals(await actor.notes(), []);
});

test("an ask aborted while queued rejects with the reason, and its turn never runs", async (actor) => {
  const [first, second] = [new AbortController(), new AbortController()];
  const held = actor.untilAborted(undefined, { signal: first.signal });
  const queued = rejectionOf(actor.note("queued", { signal: second.signal }));
  const alsoQueued = rejectionOf(actor.note("also queued", { signal: second.signal }));
  const patient = actor.note("patient");
  await actor.echo(1, { signal: AbortSignal.abort() }).catch(() => {});
  second.abort(new Error("changed my mind"));
  assertStrictEquals(await queued, second.signal.reason);
  assertStrictEquals(await alsoQueued, second.signal.reason);
  first.abort(new Error("go on"));
  assertEquals(await held, "go on");
  await patient;
  assertEquals(await actor.notes(), ["patient begins", "patient ends"]);
});

test("an abort during the turn is the handler's business", async (actor) => {
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const begun = actor.echo(1);
  const ends = actor.untilAborted(undefined, options);
  await begun;
  await settle();
  controller.abort(new DOMException("enough", "AbortError"));
  assertEquals(await ends, "enough");
});

test("a handler that throws its asker's reason gives the asker that very reason", async (actor) => {
  const controller = new AbortController();
  const ask = rejectionOf(actor.thrownByAbort("reason", { signal: controller.signal }));
  await settle();
  controller.abort(new Error("enough"));
  assertStrictEquals(await ask, controller.signal.reason);
});

test("a handler that throws something else after an abort gives the asker that", async (actor) => {
  const controller = new AbortController();
  const ask = rejectionOf(actor.thrownByAbort("other", { signal: controller.signal }));
  await settle();
  controller.abort(new Error("enough"));
  assertInstanceOf(await ask, TypeError);
});

test("thousands of asks may share one signal", async (actor) => {
  const [first, second] = [new AbortController(), new AbortController()];
  const held = actor.untilAborted(undefined, { signal: first.signal });
  await settle();
  const asks = Array.from({ length: 2_000 }, () => actor.echo(1, { signal: second.signal }));
  second.abort(new Error("all of you"));
  const outcomes = await Promise.allSettled(asks);
  assert(outcomes.every(({ status }) => status === "rejected"));
  first.abort(new Error("you too"));
  assertEquals(await held, "you too");
  assertEquals(await actor.echo(2), 2);
});

test("later() ends the turn before the ask is answered", async (actor) => {
  const gate = actor.gate();
  assertEquals(await actor.echo("in between"), "in between");
  await actor.open("opened");
  assertEquals(await gate, "opened");
});

test("a task that rejects rejects its ask only", async (actor) => {
  await assertRejects(() => actor.fail("task"), Error, "no luck");
  assertEquals(await actor.echo(1), 1);
});

test("stop() answers what is in the channel, refuses the rest and ends", async (actor) => {
  const controller = new AbortController();
  const held = actor.untilAborted(undefined, { signal: controller.signal });
  assertEquals(await Promise.race([held, Promise.resolve("still held")]), "still held");
  const queued = actor.note("queued");
  const stopped = actor.stop();
  const late = await assertRejects(() => actor.echo(1), ActorStoppedError, `"echo"`);
  assertEquals([late.actor, late.kind, late.code, late.cause], [
    "contract",
    "echo",
    "ACTOR_STOPPED",
    undefined,
  ]);
  controller.abort(new Error("go on"));
  await Promise.all([held, queued, stopped, actor.stop(), actor.done]);
  await assertRejects(() => actor.echo(1), ActorStoppedError);
});

test("stop() aborts tasks and waits for them", async (actor) => {
  const task = actor.untilStopping(undefined);
  await actor.echo(1);
  const order: string[] = [];
  const answered = task.then((reason) => order.push(reason));
  await actor.stop().then(() => order.push("stopped"));
  await Promise.all([answered, actor.done]);
  assertEquals(order, ['Cannot go on in actor "contract": it has stopped; start a new one', "stopped"]);
});

for (const how of ["turn", "task"] as const) {
  test(`a fatal error in a ${how} ends the actor and names it, the message and the cause`, async (actor) => {
    const gate = rejectionOf(actor.gate());
    const failed = actor.failForGood(how);
    const stuck = rejectionOf(actor.stuck());
    const error = await assertRejects(() => failed, ActorError, `"failForGood" in actor "contract"`);
    assertEquals([error.actor, error.kind, error.code], ["contract", "failForGood", "ACTOR_FAILED"]);
    assertInstanceOf(error.cause, Error);
    assertEquals([error.cause.name, error.cause.message], ["DetailedError", "beyond repair"]);
    for (const refused of [await gate, await stuck]) {
      assertInstanceOf(refused, ActorStoppedError);
      assertInstanceOf(refused.cause, ActorError);
    }
    const end = await assertRejects(() => actor.done, ActorError, "beyond repair");
    assertEquals([end.actor, end.kind, end.cause instanceof Error], ["contract", "failForGood", true]);
    const late = await assertRejects(() => actor.echo(1), ActorStoppedError);
    assertInstanceOf(late.cause, ActorError);
  });
}

test("stop() after a failure does not reject", async (actor) => {
  await assertRejects(() => actor.failForGood("turn"), ActorError);
  await actor.stop();
});

test("abandon() rejects every ask of a stuck actor and ends it", async (actor) => {
  const asks = [actor.gate(), actor.stuck(), actor.echo(1)];
  const refused = Promise.all(asks.map(rejectionOf));
  const stopped = actor.stop();
  actor.abandon();
  actor.abandon();
  for (const error of await refused) assertInstanceOf(error, ActorStoppedError);
  await Promise.all([stopped, actor.done]);
  await assertRejects(() => actor.echo(1), ActorStoppedError);
});

test("a rejection of done or stop() that is not handled ends no process", async (actor) => {
  await assertRejects(() => actor.fail("text"));
  await assertRejects(() => actor.failForGood("task"), ActorError);
  actor.stop();
});
