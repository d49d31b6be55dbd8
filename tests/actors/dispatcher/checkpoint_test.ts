import { assertEquals, assertFalse } from "@std/assert";
import type { Ending, Started } from "../../../src/actors/dispatcher/deliver.ts";
import type { Task } from "../../../src/actors/dispatcher/dispatcher.ts";
import { Checkpoint, PendingTasks } from "../../../src/actors/dispatcher/checkpoint.ts";
import { assertPending, rejectionOf, settle } from "../kernel/support.ts";

/** A handler that ends when the test says so. */
function task(name?: string): { readonly task: Task; readonly end: (ending?: Ending) => void } {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  return { task: { waitSync: false, done: promise, name }, end: (ending = "settled") => resolve(ending) };
}

/** Deliveries that have settled at once. */
function settled(...names: string[]): Started {
  return { tasks: [], settled: names.map((name) => ({ name })) };
}

Deno.test("A batch of which nothing is at work has settled", async () => {
  const pending = new PendingTasks();
  const number = pending.add(settled("$1-a"));
  assertEquals(pending.size, 0);
  await pending.of(number);
  await pending.upTo(number);
  assertEquals(pending.add({ tasks: [] }), number + 1);
});

Deno.test("of() waits for its own batch, upTo() for those before too", async () => {
  const pending = new PendingTasks();
  const [first, second, third] = [task(), task(), task()];
  pending.add({ tasks: [first.task] });
  const number = pending.add({ tasks: [second.task] });
  pending.add({ tasks: [third.task] });
  const [own, all] = [pending.of(number), pending.upTo(number)];
  await assertPending(own);
  second.end();
  await own;
  await assertPending(all);
  first.end();
  await all;
  third.end();
  await pending.upTo(Infinity);
  assertEquals(pending.size, 0);
});

Deno.test("atMost() waits until so few run, in the order of the calls", async () => {
  const pending = new PendingTasks();
  const tasks = [task(), task(), task()];
  pending.add({ tasks: tasks.map(({ task }) => task) });
  await pending.atMost(3);
  const [two, none] = [pending.atMost(2), pending.atMost(0)];
  await assertPending(two);
  tasks[1]?.end();
  await two;
  await assertPending(none);
  tasks[0]?.end();
  tasks[2]?.end();
  await none;
});

Deno.test("takeSettled() returns each settled delivery once, of batches that are not wholly handled", async () => {
  const pending = new PendingTasks();
  const [slow, quick, nameless, later] = [task("$1-a"), task("$2-a"), task(), task("$3-a")];
  const first = pending.add({ ...settled("$0-a"), tasks: [slow, quick, nameless].map(({ task }) => task) });
  const second = pending.add({ tasks: [later.task] });
  const third = pending.add(settled("$4-a"));
  pending.add({ tasks: [] });
  assertEquals(pending.takeSettled(), ["$0-a", "$4-a"]);
  quick.end();
  nameless.end();
  await settle();
  assertEquals(pending.takeSettled(), ["$2-a"]);
  assertEquals(pending.takeSettled(), []);
  later.end();
  await settle();
  assertEquals(pending.takeSettled(), ["$3-a"]); // all of its batch has settled, but not what comes before
  slow.end();
  await settle();
  pending.handled(first);
  assertEquals(pending.takeSettled(), []);
  assertEquals([first, second, third], [0, 1, 2]);
});

Deno.test("handled() forgets what has settled up to a batch, and nothing that comes after", async () => {
  const pending = new PendingTasks();
  const late = task("$2-a");
  pending.add(settled("$0-a"));
  const last = pending.add({ ...settled("$1-a"), tasks: [late.task] });
  pending.add(settled("$3-a"));
  pending.handled(last);
  late.end();
  await settle();
  assertEquals(pending.takeSettled(), ["$3-a"]);
});

Deno.test("Names are kept only while something of the batch or of one before is at work", async () => {
  const pending = new PendingTasks();
  pending.add(settled("$1-a"));
  assertEquals(pending.takeSettled(), []);
  const slow = task("$2-a");
  pending.add({ tasks: [slow.task] });
  pending.add(settled("$3-a"));
  assertEquals(pending.takeSettled(), ["$3-a"]);
  slow.end();
  await settle();
  pending.add(settled("$4-a"));
  assertEquals(pending.takeSettled(), ["$2-a"]);
});

Deno.test("A handler that was cut off has not settled: what else did is reported, also of later batches", async () => {
  const pending = new PendingTasks();
  const [cut, whole] = [task("$1-a"), task("$2-a")];
  const number = pending.add({ ...settled("$0-a"), tasks: [cut.task, whole.task] });
  cut.end("cut off");
  whole.end();
  assertFalse(await pending.of(number));
  await pending.upTo(Infinity);
  assertEquals([pending.isCutOff, pending.size], [true, 0]);
  pending.add(settled("$3-a"));
  assertEquals(pending.takeSettled(), ["$0-a", "$2-a", "$3-a"]);
});

function stage() {
  const batches = new Map<number, PromiseWithResolvers<void>>();
  const notes: string[] = [];
  const of = (batch: number) => {
    const found = batches.get(batch) ?? Promise.withResolvers<void>();
    batches.set(batch, found);
    return found;
  };
  const pending = { upTo: (batch: number) => of(batch).promise, isCutOff: false, handled: () => {} };
  const checkpoint = new Checkpoint(pending, {
    handled(token) {
      notes.push(token);
      return Promise.resolve();
    },
  });
  return { checkpoint, notes, end: (batch: number) => of(batch).resolve() };
}

Deno.test("Checkpoint records several batches together that settled while it was busy", async () => {
  const { checkpoint, notes, end } = stage();
  for (const batch of [1, 2, 3]) checkpoint.follows(batch, `t${batch}`);
  for (const batch of [1, 2, 3]) end(batch);
  await checkpoint.recorded();
  assertEquals(notes, ["t3"]);
});

Deno.test("Checkpoint.recorded() waits for what is followed at the call, and not for what comes later", async () => {
  const { checkpoint, notes, end } = stage();
  checkpoint.follows(1, "t1");
  await settle();
  checkpoint.follows(2, "t2");
  const noted = checkpoint.recorded();
  end(1);
  await assertPending(noted);
  end(2);
  await settle();
  checkpoint.follows(3, "t3");
  await noted;
  assertEquals(notes, ["t1", "t2"]);
});

Deno.test("Checkpoint.recorded() resolves when there is nothing to note", async () => {
  await stage().checkpoint.recorded();
});

Deno.test("Checkpoint.recorded() rejects with the store's failure, which need not be handled", async () => {
  const failure = new Error("The disk is full");
  const checkpoint = new Checkpoint(new PendingTasks(), { handled: () => Promise.reject(failure) });
  checkpoint.follows(1, "t1");
  await settle();
  checkpoint.follows(2, "t2");
  assertEquals(await rejectionOf(checkpoint.recorded()), failure);
});
