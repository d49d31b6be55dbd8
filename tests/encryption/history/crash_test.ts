import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { history } from "../identity/scene.ts";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "../identity/crash_scene.ts";
import { GUEST, roomOf, sharer, sharing } from "./scene.ts";

/** A process of a user, which does something, or crashes. */
async function run(
  here: ClientStage,
  { name, store, plan = NO_FAULT, work }: {
    readonly name: string;
    readonly store: MemoryStore;
    readonly plan?: FaultPlan;
    readonly work: (client: Client) => Promise<unknown>;
  },
): Promise<OperationLog> {
  const process = new TestProcess(plan);
  const client = here.client(name, {
    encryption: sharing(name),
    retry: false,
    fetch: process.fetch(here.homeserver.fetch),
    store: process.store(store),
    lease: { duration: 1_000 },
  });
  const working = ticking(here, work(client));
  if (plan.at === 0) await working;
  else await working.catch((error) => assert(!process.isRunning, `${JSON.stringify(plan)}: ${error}`));
  await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
  return process.log;
}

Deno.test("C23: after a crash at any commit or request of taking history in, the next process has it, once", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const host = await sharer(here, "host");
    const store = new MemoryStore();
    await run(here, { name: "guest", store, work: async (guest) => void await guest.crypto?.start() });
    const roomId = await roomOf(host, ["one", "two"]);
    await host.inviteUser(roomId, GUEST);
    const work = async (guest: Client) => {
      await guest.syncOnce();
      const rooms = await guest.getJoinedRooms();
      if (!rooms.includes(roomId)) await guest.joinRoom(roomId);
      await guest.syncOnce();
      await guest.crypto?.idle();
    };
    const log = await run(here, { name: "guest", store, plan, work });
    if (plan.at > 0) await run(here, { name: "guest", store, work });
    let texts: string[] = [];
    await run(here, {
      name: "guest",
      store,
      work: async (guest) => texts = await history(guest, roomId),
    });
    assertEquals(texts, ["one by bundle", "two by bundle"], JSON.stringify(plan));
    for await (const { key } of store.list([])) {
      assert(!key.includes("history_announced"), `${key} is left over`);
    }
    return log;
  });
});

Deno.test("C23: after a crash at any commit or request of sharing history, the user can be invited with it", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const store = new MemoryStore();
    const guest = await sharer(here, "guest");
    let roomId = "!";
    await run(here, {
      name: "host",
      store,
      work: async (host) => {
        await host.crypto?.start();
        roomId = await roomOf(host, ["one"]);
      },
    });
    const id = roomId as Parameters<Client["inviteUser"]>[0];
    const work = async (host: Client) => {
      await host.syncOnce();
      await host.inviteUser(id, GUEST);
      await host.crypto?.idle();
    };
    const log = await run(here, { name: "host", store, plan, work });
    if (plan.at > 0) await run(here, { name: "host", store, work });
    await guest.syncOnce();
    await guest.joinRoom(id);
    await guest.syncOnce();
    await guest.crypto?.idle();
    assertEquals(await history(guest, id), ["one by bundle"], JSON.stringify(plan));
    return log;
  });
});
