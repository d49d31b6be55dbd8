import { assertEquals } from "@std/assert";
import { AbortWatch } from "../../../src/actors/kernel/abort_watch.ts";

/** A signal that counts its listeners. */
function countedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  return { controller, listeners: () => listeners };
}

Deno.test("AbortWatch names the items of the signal that aborts, in order, once", () => {
  const aborted: string[] = [];
  const watch = new AbortWatch<string>((item) => aborted.push(item));
  const [first, second] = [new AbortController(), new AbortController()];
  watch.add(first.signal, "a");
  watch.add(second.signal, "b");
  watch.add(first.signal, "c");
  watch.add(first.signal, "d");
  watch.delete(first.signal, "c");
  first.abort();
  first.abort();
  assertEquals(aborted, ["a", "d"]);
});

Deno.test("AbortWatch keeps one listener on a signal, and none when no item is left", () => {
  const watch = new AbortWatch<number>(() => {});
  const { controller, listeners } = countedSignal();
  for (let item = 0; item < 100; item++) watch.add(controller.signal, item);
  assertEquals(listeners(), 1);
  for (let item = 0; item < 100; item++) watch.delete(controller.signal, item);
  assertEquals(listeners(), 0);
});

Deno.test("AbortWatch.delete() may come after the abort", () => {
  const watch = new AbortWatch<number>(() => {});
  const { controller } = countedSignal();
  watch.add(controller.signal, 1);
  controller.abort();
  watch.delete(controller.signal, 1);
});
