import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "../identity/crash_scene.ts";
import { device, history } from "../identity/scene.ts";
import {
  bot,
  DEHYDRATED,
  dehydratedDevices,
  friendOf,
  inSmallPages,
  leave,
  outcomeOf,
  records,
  says,
} from "./scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A process of the bot, which starts its encryption, or crashes. */
async function run(here: ClientStage, store: MemoryStore, plan: FaultPlan = NO_FAULT): Promise<OperationLog> {
  const process = new TestProcess(plan);
  const paged: typeof fetch = (input, init) =>
    here.homeserver.fetch(inSmallPages(new Request(input, init), 2));
  const client = await device(here, "BOT", {
    fetch: process.fetch(paged),
    store: process.store(store),
    lease: { duration: 1_000 },
    encryption: DEHYDRATED,
  });
  const started = async () => {
    await client.crypto?.start();
    assertEquals(await outcomeOf(client), process.isRunning ? "on" : "failed");
  };
  const working = ticking(here, started());
  if (plan.at === 0) await working;
  else await working.catch((error) => assert(!process.isRunning, `${JSON.stringify(plan)}: ${error}`));
  await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
  return process.log;
}

/** What must hold in the end: there is one device, and who has the recovery key reads what is sent to it. */
async function check(here: ClientStage, store: MemoryStore): Promise<void> {
  assertEquals(await records(store, "rehydrated_session"), []);
  const [record] = await records(store, "dehydration");
  const { made, reading } = record as { made?: { deviceId: string; isUploaded: boolean }; reading?: unknown };
  const client = await device(here, "BOT", { store, lease: { duration: 1_000 }, encryption: DEHYDRATED });
  assertEquals(await dehydratedDevices(client), [made?.deviceId]);
  assertEquals([made?.isUploaded, reading], [true, undefined]);
  const { friend, roomId } = await friendOf(here, client, "another");
  await leave(client);
  await says(friend, roomId, "after that");
  const next = await bot(here, "NEXT");
  assertEquals(await history(next, roomId), ["after that by direct"]);
}

Deno.test("C24: after a crash at any commit or request of making a dehydrated device there is one, which the recovery key opens", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const store = new MemoryStore();
    const log = await run(here, store, plan);
    if (plan.at > 0) await run(here, store);
    await check(here, store);
    return log;
  });
});

Deno.test("C24: after a crash at any commit or request of a rehydration the next start has all its keys, and nothing is left of it", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const first = await bot(here, "FIRST");
    const { friend, roomId } = await friendOf(here, first);
    await leave(first);
    await says(friend, roomId, "one", "two", "three", "four"); // over one Olm session, in two pages
    const store = new MemoryStore();
    const log = await run(here, store, plan);
    if (plan.at > 0) await run(here, store);

    const reader = await device(here, "BOT", {
      store,
      lease: { duration: 1_000 },
      encryption: EVERYBODY,
    });
    const read = ["one", "two", "three", "four"].map((text) => `${text} by direct`);
    assertEquals(await history(reader, roomId), read, JSON.stringify(plan));
    await reader.close();
    await check(here, store);
    return log;
  });
});
