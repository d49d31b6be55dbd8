import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { Mailbox } from "../../../src/actors/kernel/mailbox.ts";
import { assertPending } from "./support.ts";

function mailboxOf(...items: number[]): Mailbox<number> {
  const mailbox = new Mailbox<number>();
  for (const item of items) assert(mailbox.send(item));
  return mailbox;
}

function takeAll(mailbox: Mailbox<number>): number[] {
  const items: number[] = [];
  for (let item = mailbox.take(); item !== undefined; item = mailbox.take()) items.push(item);
  return items;
}

Deno.test("Mailbox gives items out in the order they were sent", () => {
  assertEquals(takeAll(mailboxOf(1, 2, 3, 4)), [1, 2, 3, 4]);
});

Deno.test("Mailbox.ready() waits for an item", async () => {
  const mailbox = mailboxOf();
  const ready = mailbox.ready();
  await assertPending(ready);
  mailbox.send(1);
  assert(await ready);
  assert(await mailbox.ready());
});

Deno.test("Mailbox.close() keeps what is inside and refuses what comes later", async () => {
  const mailbox = mailboxOf(1, 2);
  mailbox.close();
  assertFalse(mailbox.send(3));
  assert(await mailbox.ready());
  assertEquals(takeAll(mailbox), [1, 2]);
  assertFalse(await mailbox.ready());
});

Deno.test("Mailbox.close() ends a wait", async () => {
  const mailbox = mailboxOf();
  const ready = mailbox.ready();
  mailbox.close();
  assertFalse(await ready);
});

Deno.test("Mailbox.clear() closes the mailbox and returns what was in it, in order", async () => {
  const mailbox = mailboxOf(1, 2, 3);
  assertEquals(mailbox.clear(), [1, 2, 3]);
  assertFalse(mailbox.send(4));
  assertEquals(mailbox.take(), undefined);
  assertFalse(await mailbox.ready());
  assertEquals(mailbox.clear(), []);
});

Deno.test("Mailbox does what a plain list does, whatever is sent, taken, cleared and closed", () => {
  const step = fc.constantFrom("send", "send", "send", "take", "take", "close", "clear");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const mailbox = mailboxOf();
      const list: number[] = [];
      let closed = false;
      for (const [item, step] of steps.entries()) {
        if (step === "send") {
          assertEquals(mailbox.send(item), !closed);
          if (!closed) list.push(item);
        } else if (step === "take") {
          assertEquals(mailbox.take(), list.shift());
        } else if (step === "clear") {
          assertEquals(mailbox.clear(), list.splice(0));
          closed = true;
        } else {
          mailbox.close();
          closed = true;
        }
      }
      assertEquals(takeAll(mailbox), list);
    }),
  );
});
