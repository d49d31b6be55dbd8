/**
 * What must not compile: checked by `deno check`, which this file's directives make fail if it does.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Body, Kind, Reply } from "../../../src/actors/kernel/actor.ts";
import { type ActorRef, type Later, later, spawn, type TurnContext } from "../../../src/actors/kernel/mod.ts";

class Counter {
  #sum = 0;

  add({ by }: { by: number }, _: TurnContext): Promise<number | Later<number>> {
    return Promise.resolve(later(Promise.resolve(this.#sum += by)));
  }

  reset(): void {
    this.#sum = 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

Deno.test("an actor's types are derived from the class of its handlers", () => {
  const kinds: Equal<Kind<Counter>, "add" | "reset"> = true;
  const asked: Equal<keyof ActorRef<Counter>, "add" | "reset"> = true;
  const body: Equal<Body<Counter["add"]>, { by: number }> = true;
  const reply: Equal<Reply<Counter["add"]>, number> = true;
  assertEquals([kinds, asked, body, reply], [true, true, true, true]);
});

Deno.test("a call of a reference is typed, and so is what handles it", async () => {
  const actor = spawn({ name: "counter", handlers: new Counter() });
  const asker: ActorRef<Counter> = actor;
  // @ts-expect-error a body of another type
  const _body = () => asker.add({ by: "three" });
  // @ts-expect-error no body where there has to be one
  const _none = () => asker.add();
  // @ts-expect-error a kind that has no handler
  const _kind = () => asker.subtract({ by: 1 });
  // @ts-expect-error what an actor has anyway
  const _taken = () => spawn({ name: "taken", handlers: { stop: () => {} } });
  // @ts-expect-error what is no handler
  const _value = () => spawn({ name: "value", handlers: { value: 1 } });
  const reply: number = await asker.add({ by: 3 });
  assertEquals(reply, 3);
  await asker.reset(undefined, { signal: new AbortController().signal });
  assertEquals(await asker.add({ by: 1 }), 1);
  await actor.stop();
});
