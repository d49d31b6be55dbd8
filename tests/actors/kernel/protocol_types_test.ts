/**
 * What must not compile: checked by `deno check`, which this file's directives make fail if it does.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { ActorRef, Body, Kind, Message, Reply } from "../../../src/actors/kernel/actor.ts";
import { type Handlers, later, spawn } from "../../../src/actors/kernel/spawn.ts";

interface Counter {
  add(body: { by: number }): number;
  reset(): void;
}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

Deno.test("a protocol's types are derived from its interface", () => {
  const kinds: Equal<Kind<Counter>, "add" | "reset"> = true;
  const body: Equal<Body<Counter, "add">, { by: number }> = true;
  const reply: Equal<Reply<Counter, "add">, number> = true;
  assertEquals([kinds, body, reply], [true, true, true]);
  const message = (of: Message<Counter>): number => of.kind === "add" ? of.body.by : 0;
  assertEquals(message({ kind: "add", body: { by: 2 } }), 2);
});

Deno.test("handlers are exhaustive and typed, and so is an ask", async () => {
  let sum = 0;
  const handlers: Handlers<Counter> = {
    add: ({ by }) => later(Promise.resolve(sum += by)),
    reset: () => void (sum = 0),
  };
  // @ts-expect-error a kind without a handler
  const _missing: Handlers<Counter> = { add: ({ by }) => by };
  // @ts-expect-error a reply of another type
  const _wrong: Handlers<Counter> = { ...handlers, add: () => "three" };
  // @ts-expect-error a task with a reply of another type
  const _wrongTask: Handlers<Counter> = { ...handlers, add: () => later(Promise.resolve("three")) };
  const actor = spawn<Counter>({ name: "counter", handlers });
  const asker: ActorRef<Counter> = actor;
  // @ts-expect-error a body of another type
  const _body = () => asker.ask("add", { by: "three" });
  // @ts-expect-error a kind the protocol does not have
  const _kind = () => asker.ask("subtract", { by: 1 });
  const reply: number = await asker.ask("add", { by: 3 });
  assertEquals(reply, 3);
  await asker.ask("reset", undefined);
  assertEquals(sum, 0);
  await actor.stop();
});
