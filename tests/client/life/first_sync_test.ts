import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { NO_FAULT, TestProcess } from "../support/crash.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

/** How long a device is left alone whose process has ended, in milliseconds. */
const LEASE = 15_000;

interface CutOff extends Disposable {
  readonly alice: Client;
  readonly roomId: RoomID;
}

/** A bot in a room, with handlers that never settle, whose process has ended. */
async function cutOff(stage: ClientStage, store: MemoryStore): Promise<CutOff> {
  const alice = stage.client("alice");
  const process = new TestProcess(NO_FAULT);
  const bot = stage.client("bot", { store: process.store(store) });
  const roomId = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(roomId);
  await alice.sendText(roomId, "First");
  const handled: string[] = [];
  const gate = Promise.withResolvers<void>();
  bot.on("m.room.message", ({ content }) => {
    handled.push(content.body);
    return gate.promise; // what has settled is noted, and does not come again
  });
  bot.start({ fillGaps: true }).catch(() => {}); // the end of the process
  await stage.until(() => handled.length === 1);
  for (let number = 0; number < 30; number++) await alice.sendText(roomId, String(number));
  await stage.until(() => handled.length === 31);
  process.kill();
  await stage.clock.tick(LEASE);
  return { alice, roomId, [Symbol.dispose]: gate.resolve };
}

Deno.test("Unhandled events of the first sync and after it come again after a crash", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  using before = await cutOff(stage, store);
  const again: string[] = [];
  const bot = stage.client("bot", { store });
  bot.on("m.room.message", ({ content }) => void again.push(content.body));
  bot.start({ fillGaps: true });
  await before.alice.sendText(before.roomId, "Last");
  await stage.until(() => again.includes("Last"));
  assertEquals(again, ["First", ...Array.from({ length: 30 }, (_, number) => String(number)), "Last"]);
});

Deno.test("A first sync that is to be ignored stays ignored after a crash; what came after it does not", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  using before = await cutOff(stage, store);
  const again: string[] = [];
  const bot = stage.client("bot", { store });
  bot.on("m.room.message", ({ content }) => void again.push(content.body));
  bot.start({ fillGaps: true, ignoreInitialSync: true });
  await before.alice.sendText(before.roomId, "Last");
  await stage.until(() => again.includes("Last"));
  assertEquals(again, [...Array.from({ length: 30 }, (_, number) => String(number)), "Last"]);
});
