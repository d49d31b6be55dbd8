import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { ticking } from "./crash_scene.ts";
import { device, KEY, shown } from "./scene.ts";

/** What outlasts the processes of a bot: its store, and what its application wrote down. */
interface Left {
  readonly store: MemoryStore;
  recoveryKey?: string;
}

/** How a bot is given its key: by its owner, or it makes one. */
type Way = "given" | "handed out";

/** A process that starts its encryption, or crashes. */
async function run(
  here: ClientStage,
  left: Left,
  way: Way,
  plan: FaultPlan = NO_FAULT,
): Promise<OperationLog> {
  const process = new TestProcess(plan);
  const onRecoveryKey = (recoveryKey: string) => {
    assert(process.isRunning);
    assertEquals(left.recoveryKey ?? recoveryKey, recoveryKey, "another key was handed out");
    left.recoveryKey = recoveryKey;
  };
  const client = await device(here, "BOT", {
    fetch: process.fetch(here.homeserver.fetch),
    store: process.store(left.store),
    lease: { duration: 1_000 },
    encryption: way === "given" ? { recoveryKey: KEY } : { onRecoveryKey },
  });
  const working = ticking(here, started(client));
  if (plan.at === 0) await working;
  else await working.catch((error) => assert(!process.isRunning, `${JSON.stringify(plan)}: ${error}`));
  await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
  return process.log;
}

async function started(client: Client): Promise<void> {
  await client.crypto?.start();
  await client.crypto?.idle();
  const report = await client.crypto?.ensureVerified();
  assertEquals([report?.state, report?.backup], ["verified", "on"]);
}

/** What must hold when a process has come to its end: any device of the user is verified with the key. */
async function check(here: ClientStage, left: Left, way: Way): Promise<void> {
  const recoveryKey = way === "given" ? KEY : left.recoveryKey;
  assert(recoveryKey !== undefined);
  const next = await device(here, "NEXT", { encryption: { recoveryKey } });
  await next.crypto?.start();
  const report = await next.crypto?.ensureVerified();
  assertEquals([report?.state, report?.backup], ["verified", "on"]);
  assertEquals((await next.crypto?.backup.info())?.version, "1", "one backup was made");
  const { signers } = await shown(next);
  assertEquals([signers.BOT?.length, signers.NEXT], [1, signers.BOT], JSON.stringify(signers));
}

for (const way of ["given", "handed out"] as const) {
  Deno.test(`C16: after a crash at any commit or request of a bootstrap with a key that is ${way}, the next start ends verified with a key that opens what is published`, async () => {
    const story = async (plan: FaultPlan): Promise<OperationLog> => {
      await using here = clientStage();
      const left: Left = { store: new MemoryStore() };
      const log = await run(here, left, way, plan);
      if (plan.at > 0) await run(here, left, way);
      await check(here, left, way);
      return log;
    };
    await atEachCrashPoint(story);
  });
}

Deno.test("C16: after a crash at any commit or request of an adoption the next start ends verified", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
    await first.crypto?.start();
    const { master } = await shown(first);
    const left: Left = { store: new MemoryStore() };
    const log = await run(here, left, "given", plan);
    if (plan.at > 0) await run(here, left, "given");
    await check(here, left, "given");
    assertEquals((await shown(first)).master, master);
    return log;
  });
});

Deno.test("C16: after a bootstrap that was cut off at any request and lost its store, the key completes it on another device", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const log = await run(here, { store: new MemoryStore() }, "given", plan);
    if (plan.at === 0) return log;
    const next = await device(here, "NEXT", { encryption: { recoveryKey: KEY } });
    await next.crypto?.start();
    const report = await next.crypto?.ensureVerified();
    assertEquals([report?.state, report?.backup], ["verified", "on"]);
    assertEquals((await next.crypto?.backup.info())?.version, "1", "one backup was made");
    assertEquals((await shown(next)).signers.NEXT?.length, 1);
    return log;
  }, { operations: ["request"] });
});
