import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { Channel } from "../../../src/actors/kernel/mod.ts";
import { assertPending } from "./support.ts";

function channelOf(...items: number[]): Channel<number> {
  const channel = new Channel<number>();
  for (const item of items) assert(channel.send(item));
  return channel;
}

function takeAll(channel: Channel<number>): number[] {
  const items: number[] = [];
  for (let item = channel.take(); item !== undefined; item = channel.take()) items.push(item);
  return items;
}

Deno.test("Channel gives items out in the order they were sent", () => {
  assertEquals(takeAll(channelOf(1, 2, 3, 4)), [1, 2, 3, 4]);
});

Deno.test("Channel.ready() waits for an item", async () => {
  const channel = channelOf();
  const ready = channel.ready();
  await assertPending(Promise.resolve(ready));
  channel.send(1);
  assert(await ready);
  assert(await channel.ready());
});

Deno.test("Channel.close() keeps what is inside and refuses what comes later", async () => {
  const channel = channelOf(1, 2);
  channel.close();
  assertFalse(channel.send(3));
  assert(await channel.ready());
  assertEquals(takeAll(channel), [1, 2]);
  assertFalse(await channel.ready());
});

Deno.test("Channel.close() ends a wait", async () => {
  const channel = channelOf();
  const ready = channel.ready();
  channel.close();
  assertFalse(await ready);
});

Deno.test("Channel.clear() closes the channel and returns what was in it, in order", async () => {
  const channel = channelOf(1, 2, 3);
  assertEquals(channel.clear(), [1, 2, 3]);
  assertFalse(channel.send(4));
  assertEquals(channel.take(), undefined);
  assertFalse(await channel.ready());
  assertEquals(channel.clear(), []);
});

Deno.test("Channel does what a plain list does, whatever is sent, taken, cleared and closed", () => {
  const step = fc.constantFrom("send", "send", "send", "take", "take", "close", "clear");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const channel = channelOf();
      const list: number[] = [];
      let closed = false;
      for (const [item, step] of steps.entries()) {
        if (step === "send") {
          assertEquals(channel.send(item), !closed);
          if (!closed) list.push(item);
        } else if (step === "take") {
          assertEquals(channel.take(), list.shift());
        } else if (step === "clear") {
          assertEquals(channel.clear(), list.splice(0));
          closed = true;
        } else {
          channel.close();
          closed = true;
        }
      }
      assertEquals(takeAll(channel), list);
    }),
  );
});
