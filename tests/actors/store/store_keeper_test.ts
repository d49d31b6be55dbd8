import { assertEquals } from "@std/assert";
import { StoreKeeper } from "../../../src/actors/store/store_keeper.ts";
import type { StoreWriter } from "../../../src/actors/store/writer.ts";
import { TestClock } from "@greenroom/matrix/testing";

Deno.test("Taking the device and handing it back leaves nothing of each time behind", async () => {
  const clock = new TestClock();
  const writer = { isKept: true, dueIn: 5_000, isLeftOver: false, hasDeferred: false };
  const keeper = new StoreKeeper(writer as unknown as StoreWriter, clock);
  const stopping = new AbortController();
  const { signal } = stopping;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...of: Parameters<typeof addEventListener>) => {
    listeners.add(of[1]);
    addEventListener.apply(signal, of);
  };
  signal.removeEventListener = (...of: Parameters<typeof removeEventListener>) => {
    listeners.delete(of[1]);
    removeEventListener.apply(signal, of);
  };
  const { any } = AbortSignal;
  let followers = 0; // what `any` returns, a signal knows for good
  AbortSignal.any = (signals) => (followers++, any.call(AbortSignal, signals));
  try {
    keeper.begin(signal);
    for (let time = 0; time < 10; time++) {
      keeper.handedBack();
      keeper.taken();
    }
    keeper.handedBack();
    assertEquals(await keeper.ended, undefined);
    assertEquals([followers, listeners.size, clock.pending], [0, 0, 0]);
    keeper.taken();
    assertEquals(clock.pending, 1);
    stopping.abort();
    await keeper.ended;
    assertEquals([listeners.size, clock.pending], [0, 0]);
  } finally {
    AbortSignal.any = any;
  }
});
