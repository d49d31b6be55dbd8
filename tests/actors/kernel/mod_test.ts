import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import { ActorError, ActorStoppedError } from "@greenroom/matrix/errors";
import { fatal, later, spawn, type TurnContext } from "../../../src/actors/kernel/mod.ts";
import { assertPending, eventLoopTurn, recordingLogger, rejectionOf, settle } from "./support.ts";

class Worker {
  readonly #onStop: () => void | Promise<void>;

  constructor(onStop: () => void | Promise<void>) {
    this.#onStop = onStop;
  }

  run(work: (context: TurnContext) => unknown, context: TurnContext): unknown {
    return work(context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#onStop();
  }
}

/** An actor that does what it is handed: only one of this thread could. */
function worker({ onStop = () => {} }: { onStop?: () => void | Promise<void> } = {}) {
  const log = recordingLogger();
  return { actor: spawn({ name: "worker", handlers: new Worker(onStop), log }), log };
}

/** A signal that counts its listeners. */
function countedSignal(): { signal: AbortSignal; listeners: () => number } {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  return { signal, listeners: () => listeners };
}

Deno.test("an actor queues any number of messages, and answers them in order", async () => {
  const { actor } = worker();
  const order: number[] = [];
  const asks = Array.from({ length: 100_000 }, (_, index) => actor.run(() => void order.push(index)));
  await Promise.all(asks);
  assertEquals(order, Array.from({ length: 100_000 }, (_, index) => index));
  await actor.stop();
});

Deno.test("a message aborted in the same breath never runs its turn", async () => {
  const { actor } = worker();
  const controller = new AbortController();
  let ran = false;
  const ask = rejectionOf(actor.run(() => ran = true, { signal: controller.signal }));
  controller.abort(new Error("never mind"));
  assertStrictEquals(await ask, controller.signal.reason);
  await actor.stop();
  assert(!ran);
});

Deno.test("a message gives the handler the asker's signal, and none if there was none", async () => {
  const { actor } = worker();
  const { signal } = new AbortController();
  const contextOf = (options?: { signal: AbortSignal }) => actor.run((context) => context, options);
  const [without, again, within] = await Promise.all([
    contextOf(),
    contextOf(),
    contextOf({ signal }),
  ]) as TurnContext[];
  assertEquals(without?.signal, undefined);
  assertStrictEquals(without, again);
  assertStrictEquals(within?.signal, signal);
  assert(!within?.stopping.aborted);
  await actor.stop();
  assert(within?.stopping.aborted);
  assertInstanceOf(within?.stopping.reason, ActorStoppedError);
});

Deno.test("Actor.stop() handles every ask that is queued, and refuses those that come later", async () => {
  const { actor } = worker();
  const gate = Promise.withResolvers<number>();
  const running = actor.run(() => gate.promise);
  await settle();
  const queued = Array.from({ length: 200 }, (_, index) => actor.run(() => index));
  const stopped = actor.stop();
  assertInstanceOf(await rejectionOf(actor.run(() => "late")), ActorStoppedError);
  await assertPending(stopped);
  gate.resolve(-1);
  const replies: unknown[] = await Promise.all([running, ...queued]);
  assertEquals(replies, Array.from({ length: 201 }, (_, index) => index - 1));
  await stopped;
});

Deno.test("a message leaves no listener on a signal once the turn begins, or the ask is refused", async () => {
  const { actor } = worker();
  const { signal, listeners } = countedSignal();
  const gate = Promise.withResolvers<void>();
  const running = actor.run(() => gate.promise, { signal });
  const queued = actor.run(() => {}, { signal });
  assertEquals(listeners(), 2);
  await settle();
  assertEquals(listeners(), 1);
  gate.resolve();
  await Promise.all([running, queued]);
  assertEquals(listeners(), 0);
  actor.run(() => new Promise(() => {})).catch(() => {});
  const abandoned = rejectionOf(actor.run(() => {}, { signal }));
  actor.abandon();
  assertInstanceOf(await abandoned, ActorStoppedError);
  assertEquals(listeners(), 0);
});

Deno.test("Actor.stop() releases what the actor holds after the last turn and the last task, before it resolves", async () => {
  const order: string[] = [];
  const { actor } = worker({
    onStop: async () => {
      order.push("release begins");
      await settle();
      order.push("release ends");
    },
  });
  const gate = Promise.withResolvers<void>();
  const task = actor.run(() => later(gate.promise.then(() => void order.push("task"))));
  const turn = actor.run(() => void order.push("turn"));
  const stopped = actor.stop().then(() => order.push("stopped"));
  await settle();
  gate.resolve();
  await Promise.all([task, turn, stopped, actor.done]);
  assertEquals(order, ["turn", "task", "release begins", "release ends", "stopped"]);
});

Deno.test("Actor.done rejects if what the actor holds can't be released", async () => {
  const { actor, log } = worker({ onStop: () => Promise.reject(new Error("the disk is full")) });
  await actor.stop();
  const error = await assertRejects(() => actor.done, ActorError, 'run actor "worker": the disk is full');
  assertEquals(error.kind, undefined);
  assertEquals(log.lines.map(([level]) => level), ["debug"]);
});

Deno.test("Actor.stop() called by the actor's own turn does not wait for that turn", async () => {
  const { actor } = worker();
  const order: string[] = [];
  await actor.run(async () => {
    await settle();
    await actor.stop();
    order.push("turn");
  });
  await actor.stop().then(() => order.push("stopped"));
  assertEquals(order, ["turn", "stopped"]);
});

Deno.test("Actor.stop() called by what a turn has started does not wait for that turn either", async () => {
  const { actor } = worker();
  await actor.run(() => later(settle().then(() => actor.stop())));
  await actor.done;
});

Deno.test("Actor.stop() called by another actor's turn waits", async () => {
  const { actor: asked } = worker();
  const { actor: asker } = worker();
  const gate = Promise.withResolvers<void>();
  const turn = asked.run(() => gate.promise);
  const stop = asker.run(() => asked.stop());
  await assertPending(stop);
  gate.resolve();
  await Promise.all([turn, stop, asked.done, asker.stop()]);
});

Deno.test("an actor that failed releases what it holds, and says so before its leftovers are over", async () => {
  let released = false;
  const { actor, log } = worker({ onStop: () => void (released = true) });
  const gate = Promise.withResolvers<void>();
  const leftover = rejectionOf(actor.run(() => later(gate.promise)));
  const cause = new Error("the commit failed");
  await assertRejects(() =>
    actor.run(() => {
      throw fatal(cause);
    }), ActorError);
  const error = await assertRejects(() => actor.done, ActorError);
  assertStrictEquals(error.cause, cause);
  assertInstanceOf(await leftover, ActorStoppedError);
  assertEquals(log.lines, [["debug", "An actor failed", { actor: "worker", kind: "run", error: cause }]]);
  const stopped = actor.stop();
  await assertPending(stopped);
  assert(!released);
  gate.resolve();
  await stopped;
  assert(released);
});

Deno.test("a failure of what was left behind is reported, and changes nothing", async () => {
  const { actor, log } = worker();
  const gate = Promise.withResolvers<void>();
  const abandoned = rejectionOf(actor.run(() => gate.promise));
  await settle();
  actor.abandon();
  assertInstanceOf(await abandoned, ActorStoppedError);
  await Promise.all([actor.done, actor.stop()]);
  gate.reject(fatal(new Error("too late")));
  await settle();
  await actor.done;
  assertEquals(log.lines.map(([level]) => level), ["error"]);
  const late = await assertRejects(() => actor.run(() => 1), ActorStoppedError);
  assertEquals(late.cause, undefined);
});

Deno.test("Actor.abandon() ends the wait for what an actor that failed has left behind", async () => {
  const { actor } = worker();
  const stuck = rejectionOf(actor.run(() => later(new Promise(() => {}))));
  const failed = rejectionOf(actor.run(() => later(Promise.reject(fatal("no more")))));
  assertInstanceOf(await failed, ActorError);
  assertInstanceOf(await stuck, ActorStoppedError);
  const stopped = actor.stop();
  await assertPending(stopped);
  actor.abandon();
  await stopped;
});

Deno.test("later() owns the task from then on, even if the handler takes its time to return it", async () => {
  const { actor } = worker();
  const ask = rejectionOf(actor.run(async () => {
    const reply = later(Promise.reject(new TypeError("failed early")));
    await eventLoopTurn();
    return reply;
  }));
  assertInstanceOf(await ask, TypeError);
  await actor.stop();
});

Deno.test("a turn that begins after the actor's end does not exist: what was taken out is answered", async () => {
  // The first task fails in the very microtasks in which the next letter is on
  // its way from the channel to its turn.
  for (let rounds = 0; rounds < 12; rounds++) {
    const { actor } = worker();
    const late = async () => {
      for (let round = 0; round < rounds; round++) await Promise.resolve();
      throw fatal("no more");
    };
    const failed = rejectionOf(actor.run(() => later(late())));
    const next = Array.from(
      { length: 4 },
      () => actor.run(() => "answered").catch((error) => error.code),
    );
    assertInstanceOf(await failed, ActorError);
    const outcomes = await Promise.all(next);
    assertEquals(outcomes, outcomes.toSorted().toReversed());
    await actor.stop();
  }
});
