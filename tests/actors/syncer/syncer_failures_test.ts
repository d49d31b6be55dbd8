import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { ActorError, UnknownTokenError, ValueError } from "@greenroom/matrix/errors";
import type { InternalEvents } from "@greenroom/matrix/types";
import { requestError } from "../../../src/errors/errcodes.ts";
import { rejectionOf } from "../kernel/support.ts";
import { heard, response, type SyncerStage, syncerStage, UNREACHABLE } from "../support/syncer_stage.ts";

function refused(status: number, errcode: string, more: { body?: object; retryAfter?: number } = {}): Error {
  const { body, retryAfter } = more;
  return requestError({
    operation: "sync",
    method: "GET",
    path: "/",
    status,
    body: { errcode, ...body },
    retryAfter,
  });
}

/** The waits that were announced. */
function waits({ api }: SyncerStage): number[] {
  const waits: number[] = [];
  api.on("SYNC_ERRORED", ({ sleepFor }) => waits.push(sleepFor));
  return waits;
}

Deno.test("A failing sync waits 5 s, then twice as long each time up to 320 s, a fifth less by chance", async () => {
  await using here = await syncerStage({ answers: Array.from({ length: 9 }, () => UNREACHABLE) });
  const sleeps = waits(here);
  here.api.start();
  for (const full of [5, 10, 20, 40, 80, 160, 320, 320, 320]) {
    await here.settle();
    const sleep = sleeps.at(-1) ?? 0;
    assert(sleep > full * 800 - 1 && sleep <= full * 1000, `${sleep} ms in place of ${full} s`);
    const before = here.asked.length;
    await here.clock.tick(sleep - 10);
    assertEquals(here.asked.length, before);
    await here.clock.tick(10.1);
    assertEquals(here.asked.length, before + 1);
  }
});

Deno.test("A failing sync waits as the options of start() say", async () => {
  const cases = [
    [{ base: 100, cap: 300 }, [100, 200, 300, 300]],
    [{ base: 400_000 }, [400_000, 400_000]],
    [{ cap: 7_000 }, [5_000, 7_000, 7_000]],
    [{ base: 100, cap: 86_400_000 }, [100, 200]],
  ] as const;
  for (const [backoff, expected] of cases) {
    await using here = await syncerStage({ answers: Array.from({ length: 9 }, () => UNREACHABLE) });
    const sleeps = waits(here);
    here.api.start({ backoff });
    for (const full of expected) {
      await here.settle();
      const sleep = sleeps.at(-1) ?? 0;
      assert(sleep >= full * 0.8 && sleep <= full, `${sleep} ms in place of ${full}`);
      await here.clock.tick(sleep + 0.1);
    }
  }
});

Deno.test("start() refuses waits out of range, and leaves a sync that runs alone", async () => {
  await using here = await syncerStage();
  const running = here.api.start();
  await here.settle();
  const bad = [
    { base: 0 },
    { base: 99 },
    { base: -1 },
    { base: NaN },
    { base: Infinity },
    { cap: 50 },
    {
      base: 2_000,
      cap: 1_000,
    },
    { cap: 86_400_001 },
    { cap: NaN },
  ];
  for (const backoff of bad) {
    await assertRejects(() => here.api.start({ backoff }), ValueError, "backoff");
  }
  assertEquals(here.asked.length, 1);
  await here.api.stop();
  await running;
});

Deno.test("After a success, the waits start from the shortest again", async () => {
  await using here = await syncerStage({ answers: [UNREACHABLE, UNREACHABLE, response("t1"), UNREACHABLE] });
  const sleeps = waits(here);
  here.api.start();
  await here.clock.tick(60_000);
  assertEquals(sleeps.length, 3);
  assert((sleeps[1] ?? 0) > 5_000 && (sleeps[2] ?? 9_999) <= 5_000);
});

Deno.test("A sync waits as long as the server asks, within reason", async () => {
  for (const [asked, waited] of [[42_000, 42_000], [0, 1_000], [99_999_999, 3_600_000]]) {
    await using here = await syncerStage({
      answers: [refused(429, "M_LIMIT_EXCEEDED", { retryAfter: asked })],
    });
    const sleeps = waits(here);
    here.api.start();
    await here.settle();
    assertEquals(sleeps, [waited]);
    await here.clock.tick(waited ?? 0);
    assertEquals(here.asked.length, 2);
  }
});

Deno.test("A refusal, a server's fault and an answer of the wrong shape are tried again", async () => {
  const failures = [refused(403, "M_FORBIDDEN"), refused(401, "M_USER_LOCKED"), refused(500, "M_UNKNOWN")];
  await using here = await syncerStage({ answers: [...failures, response("t1", "1")] });
  const texts = heard(here);
  here.api.start();
  await here.clock.tick(60_000);
  assertEquals(texts, ["1"]);
});

for (
  const [status, errcode] of [[401, "M_UNKNOWN_TOKEN"], [401, "M_MISSING_TOKEN"], [
    403,
    "M_USER_DEACTIVATED",
  ]] as const
) {
  Deno.test(`${errcode} ends the sync: start() says why, SYNC_STOPPED too, and done names the part`, async () => {
    const error = refused(status, errcode, { body: { soft_logout: true } });
    await using here = await syncerStage({ answers: [response("t1"), error] });
    const stopped: InternalEvents["SYNC_STOPPED"][] = [];
    here.api.on("SYNC_STOPPED", (data) => stopped.push(data));
    assertEquals(await rejectionOf(here.api.start()), error);
    assertEquals(stopped.map((data) => data.error), [error]);
    const reason = await assertRejects(() => here.supervisor.done, ActorError);
    assertEquals([reason.actor, reason.cause], ["syncer", error]);
    if (error instanceof UnknownTokenError) assert(error.body.soft_logout);
  });
}

Deno.test("A store that fails ends the sync, and done names it", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1")] });
  const texts = heard(here);
  here.kv.failure = new Error("The disk is full");
  const error = await rejectionOf(here.api.start());
  assertInstanceOf(error, ActorError);
  assertEquals([error.actor, error.cause], ["store", here.kv.failure]);
  assertEquals(texts, []);
  assertEquals(await rejectionOf(here.supervisor.done), error);
});

Deno.test("A signal ends the sync as stop() does", async () => {
  await using here = await syncerStage();
  const abort = new AbortController();
  const done = here.api.start({ signal: abort.signal });
  await here.settle();
  abort.abort();
  await done;
  await here.api.start({ signal: abort.signal });
  assertEquals(here.asked.length, 1);
});

Deno.test("stop() ends a wait between tries; when nothing runs it does nothing", async () => {
  await using here = await syncerStage({ answers: [UNREACHABLE] });
  await here.api.stop();
  const done = here.api.start();
  await here.settle();
  await here.api.stop();
  await done;
  assertEquals([here.asked.length, here.clock.pending], [1, 0]);
});

Deno.test("A server whose answers are immediate and empty is asked once a second", async () => {
  const answers = Array.from({ length: 20 }, () => ({ next_batch: "same" }));
  await using here = await syncerStage({ answers });
  here.api.start();
  await here.settle();
  assertEquals(here.asked.length, 2);
  await here.clock.tick(3_000);
  assertEquals(here.asked.length, 5);
});
