/** A process that crashes at each point of a login and of a refresh: the next one needs no person. */

import { assert, assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
import { type FaultPlan, type OperationLog, TestProcess } from "../client/support/crash.ts";
import { atEachCrashPoint } from "../client/support/crash_points.ts";
import { Stage } from "./stage.ts";

const BOT = "@bot:localhost";

/** What a process has of the stage. */
function optionsOf(stage: Stage, process: TestProcess) {
  const send: typeof fetch = async (input) => {
    const { url, method, headers, body } = new Request(input);
    return await stage.fetch(url, { method, headers, body: body && await new Response(body).text() });
  };
  return { ...stage.options, store: process.store(stage.store), fetch: process.fetch(send) };
}

/** Lets a process work until it is done, or has crashed. */
async function until(stage: Stage, process: TestProcess, work: Promise<unknown>): Promise<void> {
  work.catch(() => {});
  const error = await stage.until(Promise.race([work.then(() => undefined), process.ended]), 5_000)
    .catch((error) => error);
  if (process.isRunning) assertEquals(error, undefined);
}

/** Who the account is to the next process, by the session in the store; undefined: there is none. */
async function nextProcess(stage: Stage): Promise<string | undefined> {
  const { clientUri: _, ...options } = stage.options;
  const session = await OAuthSession.resume(options);
  if (session === undefined) return undefined;
  await using client = stage.client(session);
  return (await stage.until(client.whoami())).user_id;
}

async function refresh(plan: FaultPlan): Promise<OperationLog> {
  await using stage = new Stage();
  await stage.login();
  stage.homeserver.expireTokens(BOT);
  const process = new TestProcess(plan);
  const { clientUri: _, ...options } = optionsOf(stage, process);
  const work = OAuthSession.resume(options).then(async (session) => {
    const { fetch, clock, log } = options;
    return await new Client({ ...session?.clientOptions, fetch, clock, log }).whoami();
  });
  await until(stage, process, work);
  assertEquals(await nextProcess(stage), BOT, process.crash);
  assertEquals(stage.log.filter((line) => line.includes("log in again")), [], process.crash);
  return process.log;
}

async function login(plan: FaultPlan): Promise<OperationLog> {
  await using stage = new Stage();
  const process = new TestProcess(plan);
  const onUserCode = ({ user_code }: { readonly user_code: string }) =>
    void stage.homeserver.oauth.approve(user_code, BOT);
  await until(stage, process, loginByDeviceCode({ ...optionsOf(stage, process), onUserCode }));
  const found = await nextProcess(stage);
  assert(found === BOT || (found === undefined && !process.isRunning), process.crash);
  await stage.login();
  assertEquals(await nextProcess(stage), BOT, process.crash);
  return process.log;
}

Deno.test("A process that crashes at any point of a refresh loses no session", async () => {
  await atEachCrashPoint(refresh);
});

Deno.test("A process that crashes at any point of a login leaves a session that works, or none", async () => {
  await atEachCrashPoint(login);
});
