import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import { type Actor, later, spawn } from "../../../src/actors/kernel/mod.ts";
import { ActorError, ActorStoppedError } from "@greenroom/matrix/errors";
import { fatal, Supervisor } from "../../../src/actors/kernel/supervisor.ts";
import {
  assertPending,
  eventLoopTurn,
  ManualClock,
  recordingLogger,
  rejectionOf,
  settle,
} from "./support.ts";

class Stage {
  readonly #onStop: () => void | Promise<void>;

  constructor(onStop: () => void | Promise<void>) {
    this.#onStop = onStop;
  }

  run(work: () => unknown): unknown {
    return work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#onStop();
  }
}

function stages(onStop: (name: string) => void | Promise<void> = () => {}) {
  const log = recordingLogger();
  const stage = (name: string): Actor<Stage> => spawn({ name, log, handlers: new Stage(() => onStop(name)) });
  return { log, first: stage("first"), second: stage("second"), third: stage("third") };
}

function errorsOf({ lines }: ReturnType<typeof recordingLogger>): string[] {
  return lines.flatMap(([level, message]) => level === "error" ? [message] : []);
}

const fail = () => {
  throw fatal(new Error("broken"));
};

Deno.test("Supervisor.stop() stops the actors in order, each awaited", async () => {
  const order: string[] = [];
  const { log, first, second, third } = stages(async (name) => {
    order.push(`${name} begins`);
    await settle();
    order.push(`${name} ends`);
  });
  const supervisor = new Supervisor([first, second, third], { log });
  await Promise.all([supervisor.stop(), supervisor.stop()]);
  await supervisor.done;
  assertEquals(order, ["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  assertEquals(log.lines, []);
});

Deno.test("Supervisor.stop() allows an actor to ask later ones while it drains", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log });
  const asks = Array.from({ length: 10 }, (_, index) =>
    first.run(async () => {
      await settle();
      return await second.run(() => index);
    }));
  await supervisor.stop();
  assertEquals(await Promise.all(asks), Array.from({ length: 10 }, (_, index) => index));
});

Deno.test("Supervisor.done resolves when the actors have ended by themselves", async () => {
  const { first, second } = stages();
  const supervisor = new Supervisor([first, second]);
  await second.stop();
  await assertPending(supervisor.done);
  await first.stop();
  await supervisor.done;
});

Deno.test("a failure stops the other actors in order, and Supervisor.done rejects with it once they have ended", async () => {
  const order: string[] = [];
  const { log, first, second, third } = stages((name) => void order.push(name));
  const supervisor = new Supervisor([first, second, third], { log });
  const gate = Promise.withResolvers<void>();
  const turn = third.run(() => gate.promise);
  const failure = await rejectionOf(second.run(fail));
  await assertPending(supervisor.done);
  gate.resolve();
  await turn;
  assertStrictEquals(await rejectionOf(supervisor.done), failure);
  assertInstanceOf(failure, ActorError);
  assertEquals(order.toSorted(), ["first", "second", "third"]);
  assert(order.indexOf("first") < order.indexOf("third"));
  for (const actor of [first, second, third]) {
    await assertRejects(() => actor.run(() => 1), ActorStoppedError);
  }
  assertEquals(log.lines.map(([level, message]) => [level, message]), [
    ["debug", "An actor failed"],
    ["debug", "Stopping all actors, because one failed"],
  ]);
});

Deno.test("Supervisor.done rejects with the first of several failures", async () => {
  const { log, first, second } = stages((name) => {
    if (name === "first") throw new Error("can't close");
  });
  const supervisor = new Supervisor([first, second], { log });
  const failure = await rejectionOf(second.run(fail));
  assertStrictEquals(await rejectionOf(supervisor.done), failure);
  assertInstanceOf(await rejectionOf(first.done), ActorError);
  assertEquals(errorsOf(log), ["Another actor failed, too"]);
});

Deno.test("a failure that another one led to is not reported as well", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log });
  const failure = await rejectionOf(first.run(async () => {
    throw fatal(await rejectionOf(second.run(fail)));
  }));
  assertInstanceOf(failure, ActorError);
  assertStrictEquals(await rejectionOf(supervisor.done), failure.cause);
  await rejectionOf(first.done);
  assertEquals(errorsOf(log), []);
});

Deno.test("a failure while stopping does not keep the others from being stopped", async () => {
  const { log, first, second } = stages((name) => {
    if (name === "first") throw new Error("can't close");
  });
  const supervisor = new Supervisor([first, second], { log });
  await supervisor.stop();
  await second.done;
  await assertRejects(() => supervisor.done, ActorError, "can't close");
});

Deno.test("Supervisor.stop() abandons an actor that takes longer than the deadline, reports it and goes on", async () => {
  const clock = new ManualClock();
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log, clock, deadline: 5_000 });
  const stuck = rejectionOf(first.run(() => new Promise(() => {})));
  const queued = rejectionOf(first.run(() => 1));
  await settle();
  const stopped = supervisor.stop();
  clock.advance(4_999);
  await assertPending(stopped);
  clock.advance(1);
  for (const error of await Promise.all([stuck, queued])) assertInstanceOf(error, ActorStoppedError);
  await stopped;
  await Promise.all([second.done, supervisor.done]);
  assertEquals(log.lines, [[
    "debug",
    "An actor did not stop in time and was abandoned",
    { actor: "first", deadline: 5_000 },
  ]]);
  assertEquals(clock.waiting, 0);
});

Deno.test("Supervisor.stop() with a deadline leaves no wait behind when all goes well", async () => {
  const clock = new ManualClock();
  const { log, first, second } = stages();
  await new Supervisor([first, second], { log, clock, deadline: 5_000 }).stop();
  assertEquals([clock.waiting, log.lines], [0, []]);
});

Deno.test("the deadline also bounds what an actor that failed has left behind", async () => {
  const clock = new ManualClock();
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log, clock, deadline: 1_000 });
  const stuck = rejectionOf(first.run(() => later(new Promise(() => {}))));
  const failure = await rejectionOf(first.run(fail));
  assertInstanceOf(await stuck, ActorStoppedError);
  await settle();
  clock.advance(1_000);
  assertStrictEquals(await rejectionOf(supervisor.done), failure);
});

Deno.test("Supervisor.stop() awaited inside a turn, deep in a chain of asks, does not deadlock", async () => {
  const { log, first, second, third } = stages();
  const supervisor = new Supervisor([first, second, third], { log });
  const order: string[] = [];
  const chain = first.run(() =>
    second.run(() =>
      later((async () => {
        await settle();
        await supervisor.stop();
        await settle();
        return await third.run(() => order.push("the turn's last ask"));
      })())
    )
  );
  assertEquals(await chain, 1);
  await supervisor.stop();
  order.push("stopped");
  await supervisor.done;
  assertEquals(order, ["the turn's last ask", "stopped"]);
});

Deno.test("Supervisor.stop() called inside a turn still stops the actors in order", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log });
  const turn = first.run(async () => {
    await supervisor.stop();
    await settle();
    return await second.run(() => "still there");
  });
  assertEquals(await turn, "still there");
  await supervisor.done;
});

Deno.test("Supervisor.done waits for what an actor that failed has left behind", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log });
  const gate = Promise.withResolvers<void>();
  const leftover = rejectionOf(second.run(() => later(gate.promise)));
  const failure = await rejectionOf(second.run(fail));
  assertInstanceOf(await leftover, ActorStoppedError);
  await assertPending(supervisor.done);
  gate.resolve();
  assertStrictEquals(await rejectionOf(supervisor.done), failure);
});

Deno.test("a failure that is not handled ends no process", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first, second], { log });
  assertInstanceOf(await rejectionOf(second.run(fail)), ActorError);
  await supervisor.stop();
  await eventLoopTurn();
});

Deno.test("Supervisor.stop() inside a turn of an actor it does not look after waits", async () => {
  const { log, first, second } = stages();
  const supervisor = new Supervisor([first], { log });
  const gate = Promise.withResolvers<void>();
  const turn = first.run(() => gate.promise);
  const stop = second.run(() => supervisor.stop());
  await assertPending(stop);
  gate.resolve();
  await Promise.all([turn, stop, second.stop()]);
});
