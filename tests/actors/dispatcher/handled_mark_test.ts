import { assertEquals } from "@std/assert";
import { HandledMark } from "../../../src/actors/dispatcher/handled_mark.ts";
import { assertPending, rejectionOf, settle } from "../kernel/support.ts";

function stage() {
  const batches = new Map<number, PromiseWithResolvers<void>>();
  const notes: string[] = [];
  const of = (batch: number) => {
    const found = batches.get(batch) ?? Promise.withResolvers<void>();
    batches.set(batch, found);
    return found;
  };
  const mark = new HandledMark((batch) => of(batch).promise, (token) => {
    notes.push(token);
    return Promise.resolve();
  });
  return { mark, notes, end: (batch: number) => of(batch).resolve() };
}

Deno.test("HandledMark notes several batches at once that settled while it was busy", async () => {
  const { mark, notes, end } = stage();
  for (const batch of [1, 2, 3]) mark.follows(batch, `t${batch}`);
  for (const batch of [1, 2, 3]) end(batch);
  await mark.noted();
  assertEquals(notes, ["t3"]);
});

Deno.test("HandledMark.noted() waits for what is followed at the call, and not for what comes later", async () => {
  const { mark, notes, end } = stage();
  mark.follows(1, "t1");
  await settle();
  mark.follows(2, "t2");
  const noted = mark.noted();
  end(1);
  await assertPending(noted);
  end(2);
  await settle();
  mark.follows(3, "t3");
  await noted;
  assertEquals(notes, ["t1", "t2"]);
});

Deno.test("HandledMark.noted() resolves when there is nothing to note", async () => {
  await stage().mark.noted();
});

Deno.test("HandledMark.noted() rejects with the store's failure, which nobody need look at", async () => {
  const failure = new Error("The disk is full");
  const mark = new HandledMark(() => Promise.resolve(), () => Promise.reject(failure));
  mark.follows(1, "t1");
  await settle();
  mark.follows(2, "t2");
  assertEquals(await rejectionOf(mark.noted()), failure);
});
