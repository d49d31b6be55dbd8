import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { KeyBackupInfo } from "@greenroom/matrix/types";
import type { FaultPlan, OperationLog } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { clientStage } from "../../client/support/stage.ts";
import { backupOf } from "./scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** What is left at the end. */
interface Outcome {
  readonly log: OperationLog;
  readonly version: string | undefined;
}

/** A bot that has sent something to a room of its own makes a backup, in processes with a fault. */
async function story(plan: FaultPlan): Promise<Outcome> {
  await using stage = clientStage();
  const owner = stage.client("bot");
  const { recoveryKey } = await owner.secretStorage.create({ onRecoveryKey() {} });
  let log: OperationLog | undefined;
  const bot = new RestartingBot(stage, {
    plans: [plan],
    client: { encryption: EVERYBODY },
    setUp: (_, process) => log ??= process.log,
  });
  await bot.complete(async (client) => {
    const roomId = await client.createRoom({ initialState: ENCRYPTED });
    await client.sendText(roomId, "to myself");
  });
  await bot.complete((client) => create(client, recoveryKey));
  let info: KeyBackupInfo | undefined;
  await bot.complete(async (client) => {
    await client.crypto?.idle();
    info = await backupOf(client).info();
  });
  assert(info);
  assertEquals([info.problem, info.isReadable, info.isComplete, info.isWanted], [
    undefined,
    true,
    true,
    true,
  ]);
  assert(info.count > 0);

  using storage = await owner.secretStorage.open({ recoveryKey });
  const other = stage.client("bot", { encryption: EVERYBODY, accessToken: "" });
  await other.login({ identifier: "@bot:localhost", password: "password of bot" });
  assertEquals((await backupOf(other).trust({ storage })).problem, undefined, "what was kept opens it");
  assert(log);
  return { log, version: info.version };
}

async function create(client: Client, recoveryKey: string): Promise<void> {
  using storage = await client.secretStorage.open({ recoveryKey });
  await backupOf(client).create({ storage });
}

Deno.test("C19: after a crash at any request or commit there is one backup in the end, which the kept secret opens", async () => {
  await atEachCrashPoint(async (plan) => {
    const { log, version } = await story(plan);
    assertEquals(version, "1", JSON.stringify(plan));
    return log;
  });
});
