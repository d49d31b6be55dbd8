import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { PlainContext, SessionContext } from "../../../src/actors/dispatcher/dispatcher.ts";
import { NoSessionContext, type SessionOutcome } from "../../../src/actors/dispatcher/session_context.ts";
import { ValueError } from "@greenroom/matrix/errors";
import type { ContentSchema } from "@greenroom/matrix/types";
import { decodeValue, encodeValue } from "../../../src/store/base/mod.ts";
import { defineSession } from "../../../src/types/events/define_session.ts";

interface Counter {
  count: number;
  seen?: Set<string>;
}

/** A counter, checked or not. */
function counter(schema?: ContentSchema<Counter>) {
  return defineSession<Counter>({ name: "counter", per: "room", initial: () => ({ count: 0 }), schema });
}

/** A schema that brings what version 1 left into the form of today, and refuses what is neither. */
function upgrading({ sync }: { readonly sync: boolean }): ContentSchema<Counter> {
  const validate = (value: unknown) => {
    if (typeof value === "number") return { value: { count: value } };
    if (typeof (value as Counter).count === "number") return { value: value as Counter };
    return { issues: [{ message: "expected number, got secret", path: ["count"] }] };
  };
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => sync ? validate(value) : Promise.resolve(validate(value)),
    },
  };
}

function fresh(): Promise<SessionContext<Counter>> {
  return SessionContext.of(counter(), "$1-x", undefined);
}

function kept(state: unknown, schema?: ContentSchema<Counter>): Promise<SessionContext<Counter>> {
  return SessionContext.of(counter(schema), "$1-x", encodeValue(state));
}

/** What was changed, decoded. */
function changed(outcome: SessionOutcome): unknown {
  assert(outcome.kind === "changed", outcome.kind);
  return decodeValue(outcome.bytes);
}

Deno.test("A session begins with its initial state, which is kept only when it is changed", async () => {
  const context = await fresh();
  assertEquals(context.session, { count: 0 });
  assertEquals(context.outcome(), { kind: "same" });
  context.session.count++;
  assertEquals(changed(context.outcome()), { count: 1 });
  assertEquals(context.deliveryId, "$1-x");
});

Deno.test("A session goes on with what was kept, whatever structured clone can carry", async () => {
  const state = { count: 3, seen: new Set(["$a"]) };
  const context = await kept(state);
  assertEquals(context.session, state);
  assertEquals(context.outcome(), { kind: "same" });
  context.session.seen?.add("$b");
  assertEquals(changed(context.outcome()), { count: 3, seen: new Set(["$a", "$b"]) });
});

Deno.test("A state that is changed and changed back is the same", async () => {
  const context = await kept({ count: 3 });
  context.session.count = 4;
  context.session.count = 3;
  context.session = { count: 3 };
  assertEquals(context.outcome(), { kind: "same" });
});

Deno.test("An initial state that the program shares is not changed by handlers", async () => {
  const shared = { count: 0 };
  const definition = defineSession({ name: "counter", per: "room", initial: () => shared });
  const context = await SessionContext.of(definition, undefined, undefined);
  context.session.count = 7;
  assertEquals(shared, { count: 0 });
  assertEquals(changed(context.outcome()), { count: 7 });
});

Deno.test("A session can be replaced, ended, and started again", async () => {
  const replaced = await kept({ count: 3 });
  replaced.session = { count: 9 };
  assertEquals(changed(replaced.outcome()), { count: 9 });
  const ended = await kept({ count: 3 });
  ended.endSession();
  assertEquals(ended.outcome(), { kind: "ended" });
  assertThrows(() => ended.session, ValueError, 'Cannot use the session "counter": it has ended');
  ended.session = { count: 1 };
  assertEquals(ended.session, { count: 1 });
  assertEquals(changed(ended.outcome()), { count: 1 });
});

Deno.test("A session that ends before anything of it was kept changes nothing", async () => {
  const context = await fresh();
  context.session.count = 2;
  context.endSession();
  assertEquals(context.outcome(), { kind: "same" });
});

Deno.test("Changes of a session after its outcome was taken have no effect", async () => {
  const context = await fresh();
  context.session.count = 1;
  const outcome = context.outcome();
  context.session.count = 2;
  assertEquals(changed(outcome), { count: 1 });
});

Deno.test("A state that is not an object of plain data can't be kept", async () => {
  for (const bad of [{ count: () => {} }, { count: Symbol("x") }, 7, "x", null, new Proxy({}, {})]) {
    const context = await fresh();
    context.session = bad as unknown as Counter;
    assertThrows(() => context.outcome(), ValueError, 'Cannot keep the session "counter": it is not');
  }
  const functions = defineSession({ name: "counter", per: "room", initial: () => ({ call: () => {} }) });
  await assertRejects(() => SessionContext.of(functions, undefined, undefined), ValueError);
});

Deno.test("A schema converts what an older version stored, synchronously or not", async () => {
  for (const sync of [true, false]) {
    const context = await kept(5, upgrading({ sync }));
    assertEquals(context.session, { count: 5 });
    assertEquals(context.outcome(), { kind: "same" }); // the form alone is no reason to commit
    context.session.count++;
    assertEquals(changed(context.outcome()), { count: 6 });
  }
});

Deno.test("A schema does not look at the initial state, and what it refuses can't be used", async () => {
  const broken = counter(upgrading({ sync: true }));
  const strange = { ...broken, initial: () => ({ other: 1 }) as unknown as Counter };
  assertEquals((await SessionContext.of(strange, undefined, undefined)).session, { other: 1 } as never);
  const error = await assertRejects(
    () => kept({ count: "secret" }, upgrading({ sync: true })),
    ValueError,
    'Cannot use the session "counter": its schema refuses count of what was kept',
  );
  assertFalse(error.message.includes("secret"));
  assert(Array.isArray(error.cause));
});

Deno.test("The context of an event that has no such session says so when it is used, and only then", () => {
  const context = new NoSessionContext("counter", "$1-x");
  assertEquals(context.deliveryId, "$1-x");
  assertThrows(() => context.session, ValueError, 'Cannot use the session "counter": the event has none');
  assertThrows(() => context.session = undefined as never, ValueError);
  context.endSession();
});

Deno.test("The context of a handler without a session has none, whatever is done to it", () => {
  const context = new PlainContext({ name: "$1-x" }, { update: () => Promise.resolve() });
  assertEquals([context.deliveryId, context.session], ["$1-x", undefined]);
  context.session = undefined;
  context.endSession();
  assertEquals(context.session, undefined);
});
