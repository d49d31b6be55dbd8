import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Mailbox } from "../../../src/actors/kernel/mailbox.ts";
import { ValueError } from "../../../src/errors/value_error.ts";
import { assertPending } from "./support.ts";

interface TestLetter {
  readonly id: number;
  readonly signal?: AbortSignal;
}

function mailboxOf(capacity: number): { mailbox: Mailbox<TestLetter>; refused: number[] } {
  const refused: number[] = [];
  return { mailbox: new Mailbox<TestLetter>(capacity, ({ id }) => refused.push(id)), refused };
}

function takeAll(mailbox: Mailbox<TestLetter>): number[] {
  const ids: number[] = [];
  for (let letter = mailbox.take(); letter !== undefined; letter = mailbox.take()) ids.push(letter.id);
  return ids;
}

Deno.test("Mailbox gives letters out in the order they were sent", () => {
  const { mailbox, refused } = mailboxOf(2);
  for (const id of [1, 2, 3, 4]) mailbox.send({ id });
  assertEquals(takeAll(mailbox), [1, 2, 3, 4]);
  assertEquals(refused, []);
});

Deno.test("Mailbox holds no more than its capacity, the others wait at the door and come in one by one", () => {
  const { mailbox } = mailboxOf(2);
  for (const id of [1, 2, 3, 4]) mailbox.send({ id });
  assertEquals([mailbox.size, mailbox.waiting], [2, 2]);
  mailbox.take();
  assertEquals([mailbox.size, mailbox.waiting], [2, 1]);
  takeAll(mailbox);
  assertEquals([mailbox.size, mailbox.waiting], [0, 0]);
});

Deno.test("Mailbox.ready() waits for a letter", async () => {
  const { mailbox } = mailboxOf(1);
  const ready = mailbox.ready();
  await assertPending(ready);
  mailbox.send({ id: 1 });
  assert(await ready);
  assert(await mailbox.ready());
});

Deno.test("Mailbox.ready() goes on waiting if the letter is taken back before anybody sees it", async () => {
  const { mailbox, refused } = mailboxOf(1);
  const ready = mailbox.ready();
  const controller = new AbortController();
  mailbox.send({ id: 1, signal: controller.signal });
  controller.abort();
  await assertPending(ready);
  assertEquals(refused, [1]);
  mailbox.send({ id: 2 });
  assert(await ready);
  assertEquals(takeAll(mailbox), [2]);
});

Deno.test("Mailbox.close() keeps what is inside and refuses what is at the door and what comes later", async () => {
  const { mailbox, refused } = mailboxOf(2);
  for (const id of [1, 2, 3, 4]) mailbox.send({ id });
  mailbox.close();
  mailbox.send({ id: 5 });
  assertEquals(refused, [3, 4, 5]);
  assert(await mailbox.ready());
  assertEquals(takeAll(mailbox), [1, 2]);
  assert(!(await mailbox.ready()));
});

Deno.test("Mailbox.close() ends a wait", async () => {
  const { mailbox } = mailboxOf(1);
  const ready = mailbox.ready();
  mailbox.close();
  assert(!(await ready));
});

Deno.test("Mailbox.clear() refuses everything, in order", async () => {
  const { mailbox, refused } = mailboxOf(2);
  for (const id of [1, 2, 3]) mailbox.send({ id });
  mailbox.clear();
  assertEquals(refused, [1, 2, 3]);
  assert(!(await mailbox.ready()));
});

Deno.test("Mailbox leaves a signal alone once the letter is out", () => {
  const { mailbox, refused } = mailboxOf(1);
  const controller = new AbortController();
  for (const id of [1, 2, 3]) mailbox.send({ id, signal: controller.signal });
  mailbox.take();
  controller.abort();
  assertEquals(refused, [2, 3]);
});

Deno.test("Mailbox refuses a letter whose signal has aborted before", () => {
  const { mailbox, refused } = mailboxOf(1);
  mailbox.send({ id: 1, signal: AbortSignal.abort() });
  assertEquals([refused, mailbox.size], [[1], 0]);
});

Deno.test("Mailbox wants a positive integer for its capacity", () => {
  for (const capacity of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(() => mailboxOf(capacity), ValueError, `is ${capacity}`);
  }
});

type Step = { do: "send"; signal: number | undefined } | { do: "abort"; signal: number } | {
  do: "take" | "close";
};

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("send"), signal: fc.option(fc.nat(2), { nil: undefined }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("take") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort"), signal: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close") }) },
);

Deno.test("Mailbox does what a plain list does, whatever is sent, taken, aborted and closed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
      const { mailbox, refused } = mailboxOf(capacity);
      const controllers = Array.from({ length: 3 }, () => new AbortController());
      let list: { id: number; controller: AbortController | undefined }[] = [];
      const gone: number[] = [];
      let closed = false;
      let id = 0;
      for (const step of steps) {
        if (step.do === "send") {
          const controller = step.signal === undefined ? undefined : controllers[step.signal];
          id++;
          if (closed || controller?.signal.aborted) gone.push(id);
          else list.push({ id, controller });
          mailbox.send({ id, signal: controller?.signal });
        } else if (step.do === "take") {
          assertEquals(mailbox.take()?.id, list.shift()?.id);
        } else if (step.do === "abort") {
          const controller = controllers[step.signal];
          gone.push(...list.filter((letter) => letter.controller === controller).map((letter) => letter.id));
          list = list.filter((letter) => letter.controller !== controller);
          controller?.abort();
        } else if (!closed) {
          closed = true;
          gone.push(...list.splice(capacity).map((letter) => letter.id));
          mailbox.close();
        }
        assertEquals(refused, gone);
        assertEquals([mailbox.size, mailbox.waiting], [
          Math.min(list.length, capacity),
          Math.max(list.length - capacity, 0),
        ]);
      }
      assertEquals(takeAll(mailbox), list.map((letter) => letter.id));
    }),
  );
});
