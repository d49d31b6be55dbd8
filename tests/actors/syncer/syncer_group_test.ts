import { assertEquals, assertInstanceOf } from "@std/assert";
import { ActorError, StoreError } from "@greenroom/matrix/errors";
import type { JsonObject, SyncResponse } from "@greenroom/matrix/types";
import { assertPending, rejectionOf } from "../kernel/support.ts";
import type { SyncRequests } from "../../../src/actors/syncer/syncer_options.ts";
import { joined, member, message, state, timeline } from "../support/events.ts";
import { HeldStore } from "../support/held_store.ts";
import {
  heard,
  response,
  sinces,
  type SyncerStage,
  syncerStage,
  type SyncerStageOptions,
} from "../support/syncer_stage.ts";

interface HeldStage extends SyncerStage {
  readonly kv: HeldStore;
}

/** A client that has synced twice, whose commits wait from now on; what the server has comes at once. */
async function held(answers: readonly JsonObject[], options: SyncerStageOptions = {}): Promise<HeldStage> {
  const kv = new HeldStore();
  const here = await syncerStage({ kv, answers: [response("a"), response("b")], ...options });
  await here.api.syncOnce();
  await here.api.syncOnce();
  kv.commits.length = 0;
  kv.isHeld = true;
  here.answers.push(...answers);
  here.asked.length = 0;
  here.answers.splice(0, 2);
  const dispose = here[Symbol.asyncDispose];
  return Object.assign(here, {
    kv,
    [Symbol.asyncDispose]: async () => {
      kv.free();
      await dispose();
    },
  });
}

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => response(`t${index + 1}`, `${index + 1}`));

/** The tokens that each commit has written: what was committed, and what was handled. */
const tokens = ({ kv }: HeldStage) =>
  kv.commits.map((mutations) => {
    const sync = mutations.findLast(({ key }) => key.at(-1) === "sync");
    const { nextBatch, handled } = (sync?.type === "set" ? sync.value : {}) as JsonObject;
    return `${nextBatch} ${handled}`;
  });

Deno.test("Responses that come while one is being committed are committed by one, and handled in order", async () => {
  await using here = await held(many(3));
  const texts = heard(here);
  here.api.start();
  await here.settle();
  assertEquals([sinces(here), here.kv.waiting, texts], [["b", "t1", "t2", "t3"], 1, []]);
  here.kv.letGo();
  await here.settle();
  assertEquals([here.kv.waiting, texts], [1, ["1"]]);
  here.kv.letGo();
  await here.settle();
  assertEquals([tokens(here), texts], [["t1 b", "t3 b"], ["1", "2", "3"]]);
  here.kv.free();
  await here.api.stop();
  assertEquals(tokens(here).at(-1), "t3 t3");
});

Deno.test("No more than four responses are on their way to handlers, and one more is read", async () => {
  await using here = await held(many(9));
  const texts = heard(here);
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), ["b", "t1", "t2", "t3", "t4"]);
  here.kv.letGo();
  await here.settle();
  assertEquals([sinces(here).at(-1), texts], ["t5", ["1"]]);
  here.kv.free();
  await here.settle();
  assertEquals([sinces(here).at(-1), texts.length], ["t9", 9]);
});

Deno.test("Nothing is taken in behind a response with many events before that was handled", async () => {
  const texts = Array.from({ length: 101 }, (_, index) => `${index}`);
  await using here = await held([response("t1", ...texts), response("t2", "2"), response("t3", "3")]);
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), ["b", "t1"]);
});

Deno.test("Messages to the device are committed, and reach their handlers, before more is asked for", async () => {
  const toDevice = { to_device: { events: [{ type: "org.example.custom", sender: "@bob:a", content: {} }] } };
  await using here = await held([
    response("t1", "1"),
    { ...response("t2", "2"), ...toDevice },
    ...many(3).slice(2),
  ]);
  const seen: unknown[] = heard(here);
  here.api.on("org.example.custom", () => void seen.push(sinces(here).at(-1)));
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), ["b", "t1"]);
  here.kv.letGo();
  await here.settle();
  assertEquals([sinces(here), seen], [["b", "t1"], ["1"]]);
  here.kv.letGo();
  await here.settle();
  assertEquals([sinces(here), seen], [["b", "t1", "t2", "t3"], ["1", "t1", "2"]]);
});

Deno.test("Nothing is taken in behind a response that a handler wants to hear of, or to be waited for, at its time", async () => {
  for (const [event, waitSync] of [["SYNC_SUCCESSFUL", false], ["m.room.message", true]] as const) {
    await using here = await held(many(2));
    const seen: string[] = [];
    const told = (data: { readonly data?: { readonly next_batch: string } }) =>
      void seen.push(data.data?.next_batch ?? "message");
    here.api.on(event as "SYNC_SUCCESSFUL", told, { waitSync });
    here.api.start();
    await here.settle();
    assertEquals([here.kv.waiting, seen], [1, waitSync ? [] : ["t1"]]);
    here.kv.letGo();
    await here.settle();
    assertEquals([here.kv.waiting, tokens(here)], [1, ["t1 b"]]);
    assertEquals(seen, waitSync ? ["message"] : ["t1", "t2"]);
  }
});

for (
  const [when, options] of [["At most once", { resume: "committed" }], ["In memory", {
    isDurable: false,
  }]] as const
) {
  Deno.test(`${when}, nothing is committed before what was before it reaches handlers`, async () => {
    await using here = await held(many(3), options);
    const texts = heard(here);
    here.api.start();
    await here.settle();
    for (const index of [1, 2, 3]) {
      here.kv.letGo();
      await here.settle();
      assertEquals([tokens(here).length, texts.length], [index, index]);
    }
    assertEquals(tokens(here), ["t1 b", "t2 t1", "t3 t2"]);
  });
}

Deno.test("stop() waits for what is on its way, and delivers it; a new start goes on behind it", async () => {
  await using here = await held(many(3));
  const texts = heard(here);
  const done = here.api.start();
  await here.settle();
  const stopped = here.api.stop();
  await assertPending(stopped);
  here.kv.free();
  await stopped;
  await done;
  assertEquals([texts, here.kv.waiting], [["1", "2", "3"], 0]);
  here.answers.push(response("t4", "4")); // the request before was ended
  here.answers.splice(3, 0, undefined);
  here.api.start();
  await here.settle();
  assertEquals([sinces(here).slice(-2), texts], [["t3", "t4"], ["1", "2", "3", "4"]]);
});

Deno.test("A failed commit ends the sync, and no handler receives its events", async () => {
  await using here = await held(many(3));
  const texts = heard(here);
  const failure = rejectionOf(here.api.start());
  await here.settle();
  here.kv.letGo();
  await here.settle();
  here.kv.failure = new StoreError("The disk is full");
  here.kv.letGo();
  const error = await failure;
  assertInstanceOf(error, ActorError);
  assertEquals([error.actor, error.cause], ["store", here.kv.failure]);
  assertEquals([texts, tokens(here)], [["1"], ["t1 b"]]);
});

Deno.test("A process that ends when several responses are committed, and one is handled, is given the others again", async () => {
  const never = Promise.withResolvers<void>();
  const kv = new HeldStore();
  {
    await using here = await held(many(3));
    here.api.on("m.room.message", ({ content }) => content.body === "1" ? undefined : never.promise);
    here.api.start().catch(() => {});
    await here.settle();
    here.kv.letGo();
    await here.settle();
    here.kv.letGo();
    await here.settle();
    here.kv.free();
    await here.settle();
    // As they were when the process ends here.
    for (const mutations of here.kv.commits) await kv.commit(mutations);
    assertEquals(tokens(here), ["t1 b", "t3 b"]);
    never.resolve();
  }
  await using after = await syncerStage({ kv, answers: [response("t3", "2", "3")] });
  const texts = heard(after);
  after.api.start();
  await after.settle();
  assertEquals([sinces(after), texts], [["b", "t3"], ["2", "3"]]);
});

Deno.test("When a response can't be stored, later ones are not delivered: they come again, each once", async () => {
  const inRoom = (room: string, token: string) => ({
    next_batch: token,
    rooms: {
      join: { [room]: timeline([message(token), state("m.room.topic", {}), member("@bob:a", "join")]) },
    },
  });
  const told = new Map<unknown, JsonObject>([
    [undefined, response("a")],
    ["a", response("b")],
    ["b", inRoom("!one", "t1")],
    ["t1", inRoom("!two", "t2")],
    ["t2", response("t3", "t3")],
  ]);
  const asked: unknown[] = [];
  const sync: SyncRequests["sync"] = ({ since, signal } = {}) => {
    asked.push(since);
    const answer = told.get(since);
    if (answer !== undefined) return Promise.resolve(structuredClone(answer) as unknown as SyncResponse);
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  await using here = await held([], { requests: { sync } });
  const seen = heard(here);
  here.api.on("SYNC_ERRORED", ({ error }) => void seen.push(error.message));
  asked.length = 0;
  here.api.start();
  await here.settle();
  assertEquals([asked, here.kv.waiting], [["b", "t1", "t2", "t3"], 1]); // what changes state waits for t1
  here.kv.unreadable = new StoreError("Not now");
  here.kv.free();
  await here.settle();
  here.kv.unreadable = undefined;
  assertEquals([seen, tokens(here)], [["t1", "Not now"], ["t1 b"]]);
  await here.clock.tick(5_000);
  assertEquals(asked.slice(4), ["t1", "t2", "t3"]);
  assertEquals(seen, ["t1", "Not now", "t2", "t3"]);
});

Deno.test("A change of a room that is on its way is known to the response behind it", async () => {
  const change = (token: string, membership: string) =>
    joined(timeline([{ ...member("@bob:a", membership), event_id: `$${token}` }]), { next_batch: token });
  await using here = await held([change("t1", "join"), change("t2", "leave"), change("t3", "join")]);
  const seen: string[] = [];
  for (const type of ["JOIN", "LEAVE"] as const) {
    here.api.on(type, ({ state_key }) => void seen.push(`${type} ${state_key}`));
  }
  here.api.start();
  await here.settle();
  for (const count of [1, 2, 3]) {
    assertEquals(here.kv.waiting, 1);
    here.kv.letGo();
    await here.settle();
    assertEquals(seen.length, count);
  }
  assertEquals(seen, ["JOIN @bob:a", "LEAVE @bob:a", "JOIN @bob:a"]);
});
