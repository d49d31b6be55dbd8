import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { OwnIdentityError } from "@greenroom/matrix/errors";
import { type FaultPlan, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "./crash_scene.ts";
import { ALICE, device, type DeviceOptions, KEY, selfSigning, shown } from "./scene.ts";

/** A device that has the secrets. */
async function holder(here: ClientStage): Promise<Client> {
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.syncOnce();
  return first;
}

/** A device without secrets, which knows by comparison which identity is the user's. */
async function bare(here: ClientStage, options: DeviceOptions = {}): Promise<Client> {
  const second = await device(here, "SECOND", { encryption: {}, ...options });
  await second.syncOnce();
  const own = await second.crypto?.getIdentity(ALICE);
  assert(own !== undefined);
  await second.crypto?.verifyUser(own);
  return second;
}

/** Has the first device vouch for the second. */
async function vouch(first: Client): Promise<void> {
  await first.syncOnce(); // there is another device
  const devices = await first.crypto?.getDevices(ALICE) ?? [];
  const second = devices.find(({ deviceId }) => deviceId === "SECOND");
  assert(second !== undefined);
  await first.crypto?.verifyDevice(second);
}

/** Has both take what is there for them. */
async function exchanged(...clients: Client[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    for (const client of clients) {
      await client.crypto?.idle();
      await client.syncOnce();
    }
  }
}

async function stateOf(client: Client): Promise<unknown[]> {
  const report = await client.crypto?.ensureVerified();
  return [report?.state, report?.backup];
}

for (const order of ["asks before", "asks after"] as const) {
  Deno.test(`S47 A device that ${order} it is verified gets all secrets, is verified by them, and uses the backup`, async () => {
    await using here = clientStage();
    const first = await holder(here);
    const second = await bare(here);
    const names = ["master", "self_signing", "user_signing"].map((name) => `m.cross_signing.${name}`);
    const ask = async () =>
      assertEquals(await second.crypto?.requestSecrets(), {
        names: [...names, "m.megolm_backup.v1"],
        devices: ["FIRST"],
      });
    if (order === "asks before") await ask();
    await exchanged(first);
    await vouch(first);
    if (order === "asks after") await ask();
    await exchanged(first, second);
    assertEquals(await stateOf(second), ["verified", "on"]);
    assertEquals((await shown(first)).signers.SECOND, [await selfSigning(first)]);
    assertEquals(await second.crypto?.requestSecrets(), { names: [], devices: [] });
  });
}

Deno.test("A device that nobody has verified gets nothing, and not after its time either", async () => {
  await using here = clientStage();
  const first = await holder(here);
  const second = await bare(here);
  await second.crypto?.requestSecrets();
  await exchanged(first, second);
  assertEquals(await stateOf(second), ["needs-secret", undefined]);
  await here.clock.tick(15 * 60_000 + 1);
  await vouch(first);
  await exchanged(first);
  assertEquals(await stateOf(second), ["needs-secret", undefined], "ensureVerified() asks again");
  await exchanged(first, second);
  assertEquals(await stateOf(second), ["verified", "on"]);
});

Deno.test("A device whose own identity is not verified asks nobody", async () => {
  await using here = clientStage();
  await holder(here);
  const second = await device(here, "SECOND", { encryption: {} });
  await second.syncOnce();
  assertEquals(await second.crypto?.requestSecrets(), { names: [], devices: [] });
});

Deno.test("verifyDevice() refuses other users' devices, this one, other keys, and to sign without the key", async () => {
  await using here = clientStage();
  const first = await holder(here);
  const second = await bare(here);
  await first.syncOnce();
  const [known] = await first.crypto?.getDevices(ALICE) ?? [];
  assert(known !== undefined);
  const refuse = (change: Partial<typeof known>) =>
    assertRejects(async () => await first.crypto?.verifyDevice({ ...known, ...change }), ValueError);
  await refuse({ userId: "@bob:localhost" });
  await refuse({ deviceId: "FIRST" });
  await refuse({ deviceId: "GHOST" });
  await refuse({ ed25519: known.curve25519 });
  const [other] = await second.crypto?.getDevices(ALICE) ?? [];
  assert(other !== undefined);
  const error = await assertRejects(async () => await second.crypto?.verifyDevice(other), OwnIdentityError);
  assertEquals(error.problem, "no-key");
});

Deno.test("After a crash at any commit or request while secrets come, the device that has asked is verified in the end", async () => {
  const story = async (plan: FaultPlan): Promise<OperationLog> => {
    await using here = clientStage();
    const first = await holder(here);
    const store = new MemoryStore();
    const lease = { duration: 1_000 };
    await (await bare(here, { store, lease })).close();
    const process = new TestProcess(plan);
    const fetch = process.fetch(here.homeserver.fetch);
    const client = await device(here, "SECOND", {
      fetch,
      store: process.store(store),
      lease,
      encryption: {},
    });
    const working = async () => {
      await client.crypto?.requestSecrets();
      await vouch(first);
      await first.crypto?.idle();
      await client.syncOnce();
      await client.crypto?.idle();
      await client.syncOnce();
      await client.crypto?.idle();
    };
    await ticking(here, working()).catch((error) => assert(!process.isRunning, String(error)));
    await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
    const again = await device(here, "SECOND", { store, lease, encryption: {} });
    await ticking(here, again.syncOnce());
    if ((await stateOf(again)).includes(undefined)) { // it has asked again for what it does not have
      if ((await first.crypto?.getDevices(ALICE))?.[0]?.trust !== "verified") await vouch(first);
      await exchanged(first, again);
    }
    assertEquals(await stateOf(again), ["verified", "on"], JSON.stringify(plan));
    await again.close();
    return process.log;
  };
  await atEachCrashPoint(story);
});
