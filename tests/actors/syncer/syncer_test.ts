import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { assertPending, rejectionOf } from "../kernel/support.ts";
import { joined, member, message, OWN, timeline } from "../support/events.ts";
import { CountingStore } from "../support/counting_store.ts";
import {
  heard,
  response,
  sinces,
  type SyncerStage,
  syncerStage,
  UNREACHABLE,
} from "../support/syncer_stage.ts";

Deno.test("start() goes on from token to token, and delivers", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1"), response("t2", "2")] });
  const texts = heard(here);
  const done = here.api.start();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1", "t2"]);
  assertEquals(texts, ["1", "2"]);
  await assertPending(done);
  await here.api.stop();
  await done;
});

Deno.test("start() asks with presence and for the state after the timeline, at first without a wait, then for 30 s", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1")] });
  here.api.start();
  await here.settle();
  const asked = here.asked.map(({ signal: _, filterId: __, ...each }) => each);
  const always = { setPresence: "online", useStateAfter: true } as const;
  assertEquals(asked, [
    { since: undefined, timeout: 0, ...always },
    { since: "t1", timeout: 30_000, ...always },
  ]);
});

Deno.test("start() reports its beginning, each response before it is delivered, and its end", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1"), response("t2", "2")] });
  const seen: unknown[] = [];
  here.api.on("SYNC_STARTED", () => seen.push("started"));
  here.api.on(
    "SYNC_SUCCESSFUL",
    ({ isInitial, isFirst, data }) => seen.push([data.next_batch, isInitial, isFirst]),
  );
  here.api.on("m.room.message", ({ content }) => seen.push(content.body));
  here.api.on("SYNC_STOPPED", ({ error }) => seen.push(error ?? "stopped"));
  const done = here.api.start();
  await here.settle();
  await here.api.stop();
  await done;
  assertEquals(seen, ["started", ["t1", true, true], "1", ["t2", false, false], "2", "stopped"]);
});

Deno.test("A response whose SYNC_SUCCESSFUL handler stops the sync comes again with the next start", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1"), response("t1", "1")] });
  const texts = heard(here);
  const stop = () => here.api.stop();
  here.api.on("SYNC_SUCCESSFUL", stop, { waitSync: true });
  await here.api.start();
  assertEquals([texts, here.kv.commits], [[], []]);
  here.api.removeEventHandler("SYNC_SUCCESSFUL", stop);
  here.api.start();
  await here.settle();
  assertEquals([sinces(here), texts], [[undefined, undefined, "t1"], ["1"]]);
});

Deno.test("A restart goes on from what handlers have settled for, and delivers the rest again", async () => {
  const kv = new CountingStore();
  const never = Promise.withResolvers<void>();
  {
    const before = await syncerStage({ kv, answers: [response("t1", "1"), response("t2", "2")] });
    before.api.on("m.room.message", ({ content }) => content.body === "2" ? never.promise : undefined);
    before.api.start().catch(() => {});
    await before.settle();
    assertEquals(sinces(before), [undefined, "t1", "t2"]); // the process ends here, with a handler at work
  }
  await using after = await syncerStage({ kv, answers: [response("t2", "2")] });
  const texts = heard(after);
  after.api.start();
  await after.settle();
  assertEquals(sinces(after), ["t1", "t2"]);
  assertEquals(texts, ["2"]);
  never.resolve();
});

Deno.test("A restart reports the own joining again, which handlers may have missed", async () => {
  const kv = new CountingStore();
  const answer = joined({ state: { events: [member(OWN, "join")] }, ...timeline([message("1")]) }, {
    next_batch: "t2",
  });
  const never = Promise.withResolvers<void>();
  const joins = ({ api }: SyncerStage): string[] => {
    const joins: string[] = [];
    api.on("JOIN", ({ state_key }) => joins.push(state_key));
    return joins;
  };
  const before = await syncerStage({ kv, answers: [{ next_batch: "t1" }, structuredClone(answer)] });
  before.api.on("m.room.message", () => never.promise);
  const first = joins(before);
  before.api.start().catch(() => {});
  await before.settle(); // the process ends here, with a handler at work
  await using after = await syncerStage({ kv, answers: [answer] });
  const second = joins(after);
  after.api.start();
  await after.settle();
  assertEquals([first, second, sinces(after)], [[OWN], [OWN], ["t1", "t2"]]);
  never.resolve();
});

Deno.test("A restart that is to deliver at most once goes on from what was received", async () => {
  const kv = new CountingStore();
  const never = Promise.withResolvers<void>();
  {
    const before = await syncerStage({ kv, answers: [response("t1", "1")] });
    before.api.on("m.room.message", () => never.promise);
    before.api.start().catch(() => {});
    await before.settle();
  }
  await using after = await syncerStage({ kv, resume: "committed" });
  after.api.start();
  await after.settle();
  assertEquals(sinces(after), ["t1"]);
  never.resolve();
});

Deno.test("stop() and start() in one process deliver nothing twice, whatever is still at work", async () => {
  const never = Promise.withResolvers<void>();
  await using here = await syncerStage({ answers: [response("t1", "1"), undefined, response("t2", "2")] });
  const texts: string[] = [];
  here.api.on("m.room.message", ({ content }) => {
    texts.push(content.body);
    return never.promise;
  });
  here.api.start();
  await here.settle();
  await here.api.stop();
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1", "t1", "t2"]);
  assertEquals(texts, ["1", "2"]);
  never.resolve();
});

Deno.test("start() while a sync runs ends that one first", async () => {
  await using here = await syncerStage();
  const first = here.api.start();
  await here.settle();
  here.api.start();
  await first;
  await here.settle();
  assertEquals(here.asked.length, 2);
  assert(here.asked[0]?.signal?.aborted);
});

Deno.test("syncOnce() answers when all handlers have settled and the store knows, and does not wait for the server", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1"), { next_batch: "t1" }] });
  const gate = Promise.withResolvers<void>();
  here.api.on("m.room.message", () => gate.promise);
  const once = here.api.syncOnce();
  await here.settle();
  await assertPending(once);
  gate.resolve();
  assertEquals(await once, { events: 1, rounds: 1, left: undefined });
  assertEquals(here.kv.commits.length, 2);
  await here.api.syncOnce();
  assertEquals(here.asked.map(({ since, timeout }) => [since, timeout]), [[undefined, 0], ["t1", 0]]);
});

Deno.test("syncOnce() is refused while the client syncs, rejects with what went wrong, and can be ended", async () => {
  await using here = await syncerStage({ answers: [UNREACHABLE] });
  assertEquals(await rejectionOf(here.api.syncOnce()), UNREACHABLE);
  const abort = new AbortController();
  const once = rejectionOf(here.api.syncOnce({ signal: abort.signal }));
  await here.settle();
  await assertRejects(() => here.api.syncOnce(), ValueError);
  abort.abort();
  assertEquals((await once as Error).name, "AbortError");
  here.api.start();
  await assertRejects(() => here.api.syncOnce(), ValueError);
});

Deno.test("handleSync() takes a response in as if it had come, and leaves it as it was", async () => {
  await using here = await syncerStage();
  const texts = heard(here);
  const gate = Promise.withResolvers<void>();
  here.api.on("m.room.message", () => gate.promise);
  const data = response("t1", "1");
  const copy = structuredClone(data);
  const tasks = await here.api.handleSync(data as never);
  assertEquals([texts, tasks.length], [["1"], 1]);
  assertEquals(data, copy);
  const all = Promise.all(tasks);
  await assertPending(all);
  gate.resolve();
  await all;
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), ["t1"]);
  await assertRejects(() => here.api.handleSync({} as never), ValueError);
});

Deno.test("A handler can wait for what it had handleSync() deliver", async () => {
  await using here = await syncerStage({ answers: [response("t1", "outer")] });
  const texts: string[] = [];
  here.api.on("m.room.message", async ({ content }) => {
    if (content.body === "outer") {
      await Promise.all(await here.api.handleSync(response("t2", "inner") as never));
    }
    texts.push(content.body);
  });
  await here.api.syncOnce();
  assertEquals(texts, ["inner", "outer"]);
});

Deno.test("The next request waits for waitSync handlers, and not for others", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1"), response("t2", "2")] });
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  here.api.on("m.room.message", () => gates[0]?.promise);
  here.api.on("m.room.message", ({ content }) => content.body === "2" ? gates[1]?.promise : undefined, {
    waitSync: true,
  });
  here.api.start();
  await here.settle();
  assertEquals(here.asked.length, 2);
  gates[1]?.resolve();
  await here.settle();
  assertEquals(here.asked.length, 3);
  gates[0]?.resolve();
});

Deno.test("stop() called by a handler, one that is waited for too, does not wait for that handler", async () => {
  for (const waitSync of [false, true]) {
    await using here = await syncerStage({ answers: [response("t1", "1")] });
    const seen: string[] = [];
    here.api.on("m.room.message", async () => {
      await here.api.stop();
      seen.push("stopped");
    }, { waitSync });
    await here.api.start();
    await here.settle();
    assertEquals(seen, ["stopped"]);
  }
});

Deno.test("The end of all waits for handlers, and notes what they have handled", async () => {
  const kv = new CountingStore();
  const here = await syncerStage({ kv, answers: [response("t1", "1")] });
  const gate = Promise.withResolvers<void>();
  here.api.on("m.room.message", () => gate.promise);
  here.api.start();
  await here.settle();
  const stopped = here.supervisor.stop();
  await assertPending(stopped);
  gate.resolve();
  await stopped;
  assertEquals((await kv.getMany([["sync"]]))[0]?.value, { nextBatch: "t1", handled: "t1" });
});
