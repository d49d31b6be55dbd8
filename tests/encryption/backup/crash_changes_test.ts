import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { type FaultPlan, type OperationLog, TestProcess } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "../identity/crash_scene.ts";
import { device, KEY } from "../identity/scene.ts";
import { backupOf } from "./scene.ts";

const LEASE = { duration: 1_000 };

/** What a process does with a backup that is there, and what holds when it has, in one process or two. */
interface Change {
  /** Which device does it: the one that has made the backup, or a new one. */
  readonly by: "BOT" | "NEW";
  readonly work: (client: Client) => Promise<unknown>;
  readonly check: (here: ClientStage, client: Client, roomId: RoomID) => Promise<void>;
}

/** A change of a backup with a key in it, in a process with a fault, and in another one after it. */
function story({ by, work, check }: Change): (plan: FaultPlan) => Promise<OperationLog> {
  return async (plan) => {
    await using here = clientStage();
    const stores = { BOT: new MemoryStore(), NEW: new MemoryStore() };
    const options = { store: stores[by], lease: LEASE, encryption: { recoveryKey: KEY } };
    const bot = await device(here, "BOT", { ...options, store: stores.BOT });
    await bot.crypto?.start();
    const roomId = await bot.createRoom({ initialState: ENCRYPTED });
    await bot.sendText(roomId, "before");
    await bot.crypto?.idle();
    await bot.close();
    if (by === "NEW") {
      const young = await device(here, by, options);
      await young.crypto?.start();
      await young.close();
    }
    const process = new TestProcess(plan);
    const client = await device(here, by, {
      ...options,
      store: process.store(options.store),
      fetch: process.fetch(here.homeserver.fetch),
    });
    const working = ticking(here, work(client));
    await working.catch((error) => assert(!process.isRunning, `${JSON.stringify(plan)}: ${error}`));
    await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
    const again = await device(here, by, options);
    if (plan.at > 0) await ticking(here, work(again));
    await ticking(here, check(here, again, roomId));
    await again.close();
    return process.log;
  };
}

/** Does something with the open storage. */
async function withStorage(
  client: Client,
  work: (storage: Awaited<ReturnType<Client["secretStorage"]["open"]>>) => Promise<unknown>,
): Promise<void> {
  using storage = await client.secretStorage.open({ recoveryKey: KEY });
  await work(storage);
}

/** What a device reads of the first message. */
async function readBy(client: Client, roomId: RoomID): Promise<unknown> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ type }) => type === "m.room.encrypted") as MessageEvent | undefined;
  const decryption = event && await client.crypto?.decrypt(event);
  return decryption !== undefined && "event" in decryption && decryption.event.content.body;
}

Deno.test("After a crash at any commit or request of a reset of the backup, a second try ends with one that a new device reads by the stored key", async () => {
  await atEachCrashPoint(story({
    by: "BOT",
    work: (client) => withStorage(client, (storage) => backupOf(client).reset({ storage })),
    async check(here, client, roomId) {
      await client.crypto?.start();
      await client.crypto?.idle();
      const { problem, isReadable, isComplete, version } = await backupOf(client).info();
      assertEquals([problem, isReadable, isComplete], [undefined, true, true]);
      assert(version === "2" || version === "3", version);
      const fresh = await device(here, "FRESH", { encryption: { recoveryKey: KEY } });
      await fresh.crypto?.start();
      assertEquals([(await fresh.crypto?.ensureVerified())?.backup, await readBy(fresh, roomId)], [
        "on",
        "before",
      ]);
    },
  }));
});

Deno.test("After a crash at any commit or request of a deletion of the backup, a second try leaves no version and no key", async () => {
  await atEachCrashPoint(story({
    by: "BOT",
    work: (client) => withStorage(client, (storage) => backupOf(client).delete({ storage })),
    async check(here, client) {
      const { problem, isWanted } = await backupOf(client).info();
      assertEquals([problem, isWanted], ["absent", false]);
      await withStorage(
        client,
        async (storage) => assertEquals(await storage.get("m.megolm_backup.v1"), undefined),
      );
      const fresh = await device(here, "FRESH", { encryption: { recoveryKey: KEY } });
      await fresh.crypto?.start();
      assertEquals((await fresh.crypto?.ensureVerified())?.backup, "unwanted");
    },
  }));
});

Deno.test("C25: after a crash at any commit or request of a restoration, a second try has restored all", async () => {
  let total = 0;
  await atEachCrashPoint(story({
    by: "NEW",
    work: async (client) => total = (await backupOf(client).restore()).total,
    async check(_here, client, roomId) {
      assertEquals([total, await readBy(client, roomId)], [1, "before"]);
    },
  }));
});
