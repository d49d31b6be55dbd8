import { assertEquals, assertRejects } from "@std/assert";
import { ActorError, ValueError } from "@greenroom/matrix/errors";
import type { HandlerContext, SessionDefinition, SessionScope } from "@greenroom/matrix";
import { assertPending, settle } from "../kernel/support.ts";
import { message, ROOM } from "../support/events.ts";
import { type Counter, counterOf, kinds, sessionStage } from "../support/sessions.ts";

Deno.test("A session is committed with the delivery that changed it, in one commit, and goes on in the next process", async () => {
  await using here = await sessionStage();
  await here.run((context) => {
    assertEquals(context.deliveryId, "$1-x");
    context.session.count = 5;
  });
  assertEquals(here.kv.commits.map(kinds), [[`set session counter ${ROOM}`, "set settled $1-x"]]);
  await using later = await sessionStage({ kv: here.kv });
  assertEquals(await later.count(), 6);
  assertEquals(await later.store.settled(), ["$1-x"]);
});

Deno.test("A session that is as it was costs no commit, and is read once", async () => {
  await using here = await sessionStage();
  await here.run(({ session }) => assertEquals(session, { count: 0 }));
  await here.run((context) => context.endSession());
  await here.run(() => {});
  assertEquals([here.kv.commits.length, here.opened.count], [0, 1]);
});

Deno.test("A session that has ended is removed with the delivery, and the next event starts a new one", async () => {
  await using here = await sessionStage();
  await here.count();
  await here.run((context) => context.endSession());
  assertEquals(kinds(here.kv.commits[1]), [`delete session counter ${ROOM}`, "set settled $2-x"]);
  assertEquals(await here.count(), 1);
  await using later = await sessionStage({ kv: here.kv });
  await later.run((context) => context.endSession());
  await using latest = await sessionStage({ kv: here.kv });
  assertEquals(await latest.count(), 1);
});

Deno.test("A session can be replaced", async () => {
  await using here = await sessionStage();
  await here.run((context) => context.session = { count: 41 });
  assertEquals(await here.count(), 42);
});

Deno.test("Sessions of other rooms, and of other names, are other sessions", async () => {
  await using here = await sessionStage();
  const other = counterOf("room", "other");
  assertEquals([await here.count("!a"), await here.count("!b"), await here.count("!a")], [1, 1, 2]);
  assertEquals(await here.count("!a", other), 1);
  assertEquals(await here.count("!a", counterOf("room")), 3);
  assertEquals(await here.count("!a", counterOf(() => "everywhere")), 1);
  assertEquals(await here.count("!b", counterOf(() => "everywhere")), 2);
});

Deno.test("A handler that throws changes nothing, and its failure is its own", async () => {
  await using here = await sessionStage();
  await here.count();
  const failure = new RangeError("no");
  const thrown = await assertRejects(() =>
    here.run(({ session }) => {
      session.count = 100;
      throw failure;
    }), RangeError);
  const rejected = await assertRejects(() =>
    here.run(async (context) => {
      await Promise.resolve();
      context.endSession();
      throw failure;
    }), RangeError);
  assertEquals([thrown, rejected], [failure, failure]);
  assertEquals(here.kv.commits.length, 1);
  assertEquals(await here.count(), 2);
});

Deno.test("A handler that throws changes no bytes of a session in place, whether they are stored or about to be", async () => {
  await using here = await sessionStage();
  const seenIn = (session: Counter) => session as Counter & { seen: Uint8Array };
  const fails = () =>
    assertRejects(() =>
      here.run(({ session }) => {
        seenIn(session).seen.fill(9);
        throw new RangeError("no");
      }), RangeError);
  await Promise.all([here.run(({ session }) => seenIn(session).seen = Uint8Array.of(3, 2)), fails()]);
  await fails();
  await here.run(({ session }) => assertEquals(seenIn(session).seen, Uint8Array.of(3, 2)));
  await using later = await sessionStage({ kv: here.kv });
  await later.run(({ session }) => assertEquals(seenIn(session).seen, Uint8Array.of(3, 2)));
});

Deno.test("A state that is no plain data is the handler's failure, and changes nothing", async () => {
  await using here = await sessionStage();
  await here.count();
  await assertRejects(
    () =>
      here.run(({ session }) => {
        session.count = 100;
        Object.assign(session, { call: () => {} });
      }),
    ValueError,
    "it is not an object of plain data",
  );
  assertEquals(here.kv.commits.length, 1);
  assertEquals(await here.count(), 2);
});

Deno.test("A handler whose event has no session runs all the same, and fails if it uses it", async () => {
  await using here = await sessionStage();
  const none = counterOf(() => undefined);
  let ran = 0;
  await here.run(() => ran++, { of: none });
  assertEquals(ran, 1);
  await assertRejects(() => here.run(({ session }) => session.count++, { of: none }), ValueError);
  const bad = counterOf((() => 7) as unknown as SessionScope);
  await assertRejects(() => here.run(() => ran++, { of: bad }), ValueError);
  assertEquals([ran, here.kv.commits.length], [1, 0]);
});

Deno.test("Handlers that share a session run one after the other, in the order of their start, and lose no update", async () => {
  await using here = await sessionStage();
  const order: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const runs = gates.map(({ promise }, index) =>
    here.run(async (context) => {
      const before = context.session.count;
      await promise;
      order.push(index);
      context.session.count = before + 1;
    })
  );
  for (const { resolve } of gates.toReversed()) resolve();
  await Promise.all(runs);
  assertEquals(order, [0, 1, 2, 3, 4]);
  assertEquals(await here.count(), 6);
});

Deno.test("A handler that waits delays those of its session, and no others", async () => {
  await using here = await sessionStage();
  const gate = Promise.withResolvers<void>();
  const slow = here.run(({ session }) => gate.promise.then(() => void session.count++));
  const next = here.count();
  assertEquals([await here.count("!other"), await here.count("!other")], [1, 2]);
  await assertPending(next);
  gate.resolve();
  await slow;
  assertEquals(await next, 2);
});

Deno.test("After a handler that fails, the next one of its session runs on the state before", async () => {
  await using here = await sessionStage();
  const gate = Promise.withResolvers<void>();
  const failing = here.run(async ({ session }) => {
    session.count = 100;
    await gate.promise;
    throw new RangeError("no");
  });
  const next = here.count();
  gate.resolve();
  await assertRejects(() => failing, RangeError);
  assertEquals(await next, 1);
});

Deno.test("Handlers that settle during a commit are committed together after it", async () => {
  await using here = await sessionStage();
  // So that nothing has to be read.
  for (let index = 0; index < 5; index++) await here.run(() => {}, { room: `!${index}` });
  here.kv.gate = Promise.withResolvers();
  const first = here.count("!0");
  await settle();
  const others = Array.from({ length: 20 }, (_, index) => here.count(`!${index % 5}`));
  await settle();
  here.kv.gate.resolve();
  assertEquals(await first, 1);
  await Promise.all(others);
  assertEquals(here.kv.commits.length, 2);
  const last = kinds(here.kv.commits[1]);
  assertEquals(last.filter((change) => change.startsWith("set session")).length, 5);
  assertEquals(last.filter((change) => change.startsWith("set settled")).length, 20);
  here.kv.gate = undefined;
  await using later = await sessionStage({ kv: here.kv });
  const counts: number[] = [];
  for (let index = 0; index < 5; index++) counts.push(await later.count(`!${index}`));
  assertEquals(counts, [6, 5, 5, 5, 5]);
});

Deno.test("A handler sees the changes of the one before, and settles only when its own are durable", async () => {
  await using here = await sessionStage();
  here.kv.gate = Promise.withResolvers();
  const first = here.count();
  let seen: number | undefined;
  const second = here.run(({ session }) => void (seen = session.count));
  await settle();
  assertEquals(seen, 1);
  await assertPending(first);
  await second; // it has changed nothing
  here.kv.gate.resolve();
  await first;
});

Deno.test("Changes to a session object after its handler has settled have no effect", async () => {
  await using here = await sessionStage();
  const kept: Counter[] = [];
  await here.run(({ session }) => kept.push(Object.assign(session, { count: 1 })));
  for (const each of kept) each.count = 100;
  assertEquals(await here.count(), 2);
});

Deno.test("A session that could not be read fails its handler, and is read again for the next", async () => {
  await using here = await sessionStage();
  await here.count();
  await using later = await sessionStage({ kv: here.kv });
  const getMany = later.kv.getMany.bind(later.kv);
  later.kv.getMany = () => Promise.reject(new RangeError("cut off"));
  let ran = false;
  await assertRejects(() => later.run(() => void (ran = true)), RangeError, "cut off");
  later.kv.getMany = getMany;
  assertEquals([ran, await later.count()], [false, 2]);
});

Deno.test("A failed commit ends the store, and rejects each handler whose session was in it", async () => {
  await using here = await sessionStage();
  here.kv.failure = new Error("The disk is full");
  const done = assertRejects(() => here.store.done, ActorError);
  const runs = await Promise.allSettled([here.count("!a"), here.count("!b"), here.count("!a")]);
  assertEquals(runs.map(({ status }) => status), ["rejected", "rejected", "rejected"]);
  await done;
  await assertRejects(() => here.count("!a"));
});

Deno.test("A delivery that never comes again leaves no record", async () => {
  await using here = await sessionStage();
  await here.sessions.run({
    definition: counterOf("room") as SessionDefinition<object>,
    event: { room_id: ROOM, ...message("1") },
    deliveryId: undefined,
    call: (context) => (context as HandlerContext<Counter>).session.count++,
  });
  assertEquals(here.kv.commits.map(kinds), [[`set session counter ${ROOM}`]]);
});
