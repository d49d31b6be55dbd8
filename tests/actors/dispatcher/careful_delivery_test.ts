import { assert, assertEquals } from "@std/assert";
import {
  CAREFUL_AFTER,
  deliverCarefully,
  type Quarantine,
  type Step,
} from "../../../src/actors/dispatcher/quarantine.ts";
import type { NamedDelivery } from "../../../src/actors/dispatcher/deliver.ts";
import type { Task } from "../../../src/actors/dispatcher/dispatcher.ts";
import { spawnStore, type StoreHandlers } from "../../../src/actors/store/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import type { MatrixEvent } from "@greenroom/matrix/types";
import { assertPending, recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "../support/counting_store.ts";
import { message } from "../support/events.ts";
import { answeredBy } from "../../support/answered_by.ts";

/** How long a handler is waited for, in milliseconds. */
const PATIENCE = 5_000;

/** A handler that ends when the test says so, or immediately. */
interface Work {
  readonly text: string;
  readonly gate?: Promise<void>;
}

async function stage(kv: CountingStore = new CountingStore()) {
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  const clock = new TestClock();
  const asked: unknown[] = [];
  const begun: string[] = [];
  const taken: unknown[] = [];
  const settled: NamedDelivery[] = [];
  const watched = answeredBy<StoreHandlers>((kind, body) => {
    asked.push([kind, body]);
    return store[kind as "attempt"](body);
  });
  const step = ({ text, gate }: Work): Step => ({
    delivery: { data: message(text) as unknown as MatrixEvent },
    id: `$${text}`,
    isWanted: () => true,
    start: () => {
      begun.push(text);
      if (gate !== undefined) {
        return [{
          waitSync: false,
          done: gate.then(() => "settled" as const),
          name: `$${text}-a`,
        }];
      }
      settled.push({ name: `$${text}-a` });
      return [];
    },
  });
  const take: Quarantine["take"] = (id, { data }, attempts): Promise<readonly Task[]> => {
    taken.push([id, data, attempts]);
    return Promise.resolve([{ waitSync: true, done: Promise.resolve("settled" as const), name: undefined }]);
  };
  return {
    kv,
    store,
    clock,
    asked,
    begun,
    taken,
    settled,
    run: (...steps: (Work | Step)[]) =>
      deliverCarefully(steps.map((each) => "start" in each ? each : step(each)), settled, { take }, {
        store: watched,
        clock,
      }),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

Deno.test("Careful delivery records each event before its handlers start, and that earlier ones have ended", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  const delivery = here.run({ text: "1" }, { text: "2", gate: gate.promise }, { text: "3" });
  await here.clock.tick();
  assertEquals(here.begun, ["1", "2"]);
  await assertPending(delivery);
  gate.resolve();
  assertEquals((await delivery).tasks.map(({ name }) => name), ["$2-a"]);
  assertEquals(here.begun, ["1", "2", "3"]);
  assertEquals(here.asked, [
    ["attempt", { id: "$1", ended: [] }],
    ["noteSettled", ["$1-a"]],
    ["attempt", { id: "$2", ended: ["$1"] }],
    ["noteSettled", ["$2-a"]],
    ["attempt", { id: "$3", ended: ["$2"] }],
    ["noteSettled", ["$3-a"]],
    ["ended", ["$3"]],
  ]);
  assertEquals([here.clock.pending, here.settled], [0, []]);
});

Deno.test("After a careful delivery, nothing is held against what has ended, also if it ends late", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  const delivery = here.run({ text: "late", gate: gate.promise }, { text: "last" });
  await here.clock.tick(PATIENCE);
  await delivery;
  const attempts = async (id: string): Promise<number> => {
    const next = await stage(here.kv); // the process is killed, before anything else was committed
    try {
      return (await next.store.attempt({ id, ended: [] })).lives;
    } finally {
      await next.store.stop();
    }
  };
  assertEquals([await attempts("$late"), await attempts("$last")], [1, 0]);
  gate.resolve();
  await here.clock.tick();
  assertEquals(await attempts("$late"), 0);
});

Deno.test("An event that has settled in careful delivery is durable before the next one starts", async () => {
  await using here = await stage();
  let kept: string[] | undefined;
  const look: Step = {
    delivery: { data: message("2") as unknown as MatrixEvent },
    id: "$2",
    isWanted: () => true,
    start: () => {
      kept = here.kv.commits.flat().map(({ key }) => key.join(" "));
      return [];
    },
  };
  await here.run({ text: "1" }, look);
  assert(kept?.includes("settled $1-a"), kept?.join());
});

Deno.test("Careful delivery begins an event in three lives that end soon, then leaves it out, and goes on", async () => {
  await using here = await stage();
  for (let process = 0; process < 3; process++) {
    const next = await stage(here.kv);
    next.run({ text: "1" }, { text: "bad", gate: new Promise(() => {}) }, { text: "3" });
    await next.clock.tick();
    assertEquals(next.begun, ["1", "bad"]); // and here the process ends
    assertEquals(next.taken, []);
    await next.store.stop();
  }
  const last = await stage(here.kv);
  const { tasks } = await last.run({ text: "1" }, { text: "bad" }, { text: "3" });
  assertEquals([last.begun, last.taken], [["1", "3"], [["$bad", message("bad"), 3]]]);
  assertEquals(tasks.map(({ waitSync }) => waitSync), [true]); // of the handlers of the report
  await last.store.stop();
});

Deno.test("A handler that is cut off after more than five seconds is begun in twenty lives", async () => {
  await using here = await stage();
  for (let process = 0; process < 20; process++) {
    const next = await stage(here.kv);
    next.run({ text: "slow", gate: new Promise(() => {}) });
    await next.clock.tick(PATIENCE);
    assertEquals([next.begun, next.taken], [["slow"], []]);
    await next.store.stop();
  }
  const last = await stage(here.kv);
  await last.run({ text: "slow" });
  assertEquals([last.begun, last.taken], [[], [["$slow", message("slow"), 20]]]);
  await last.store.stop();
});

Deno.test("Careful delivery waits five seconds for a handler that may wait for the next event, and not longer", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  const releasing: Step = {
    delivery: { data: message("2") as unknown as MatrixEvent },
    id: "$2",
    isWanted: () => true,
    start: () => {
      here.begun.push("2");
      gate.resolve();
      return [];
    },
  };
  const delivery = here.run({ text: "1", gate: gate.promise }, releasing);
  await here.clock.tick(PATIENCE - 1);
  assertEquals(here.begun, ["1"]);
  await here.clock.tick(1);
  assertEquals(here.begun, ["1", "2"]);
  assertEquals((await delivery).tasks.length, 1);
  assertEquals(here.asked.slice(0, 2), [
    ["attempt", { id: "$1", ended: [] }],
    ["outlived", "$1"],
  ]);
  assertEquals(here.clock.pending, 0);
});

Deno.test("An event that has not ended when the next is begun counts as begun, until it has", async () => {
  await using here = await stage();
  const gate = Promise.withResolvers<void>();
  const delivery = here.run({ text: "1", gate: gate.promise }, { text: "2" }, { text: "3" });
  await here.clock.tick(PATIENCE);
  await delivery;
  assertEquals((await here.store.attempt({ id: "$1", ended: [] })).lives, 1);
  assertEquals((await here.store.attempt({ id: "$2", ended: [] })).lives, 0);
  gate.resolve();
});

Deno.test("Careful delivery skips events without a handler at their turn, and records nothing", async () => {
  await using here = await stage();
  let isWanted = false;
  const step = (text: string, start: Step["start"]): Step => ({
    delivery: { data: message(text) as unknown as MatrixEvent },
    id: `$${text}`,
    isWanted: () => isWanted,
    start,
  });
  const begun: string[] = [];
  const begin = (text: string) => step(text, () => (begun.push(text), []));
  const wanted: Step = {
    ...begin("2"),
    isWanted: () => true,
    start: () => {
      isWanted = true; // a handler adds another
      return [];
    },
  };
  await here.run(begin("1"), wanted, begin("3"));
  assertEquals(begun, ["3"]);
  assertEquals(here.asked, [
    ["attempt", { id: "$2", ended: [] }],
    ["attempt", { id: "$3", ended: ["$2"] }],
    ["ended", ["$3"]],
  ]);
});

Deno.test("Two processes may end over a response before it is delivered carefully", () => {
  assertEquals(CAREFUL_AFTER, 2);
});
