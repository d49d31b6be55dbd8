import { assertEquals } from "@std/assert";
import type { Client, HandlerContext } from "@greenroom/matrix";
import { Once, Run, RunTime } from "../../../src/bot/run/mod.ts";

const SCENE = { name: "Tea", topic: undefined, isEncrypted: false, displayName: undefined };

function begun(): Run {
  const context = { deliveryId: "delivery", updateSession: () => {} } as unknown as HandlerContext;
  return new Run({ context, time: new RunTime(new AbortController().signal) });
}

Deno.test("The scene of a run is kept until it ends, and not for what its functions do after that", async () => {
  const sessions = { read: () => Promise.resolve(undefined), update: () => Promise.resolve() };
  const once = new Once({ sessions } as unknown as Client);
  const run = begun();
  await once.keepScene(run, SCENE);
  assertEquals(once.sceneOf(run), SCENE);
  run.end = "done";
  once.ended(run);
  await once.keepScene(run, SCENE);
  assertEquals(once.sceneOf(run), undefined);
});
