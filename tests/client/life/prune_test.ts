import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID, StateEvent } from "@greenroom/matrix/types";
import { unpacked } from "../../../src/actors/store/packed_state.ts";
import { twoInARoom } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const DAY = 86_400_000;

/** How many pieces of a room's state are stored, in its pack or as records. */
async function stateOf(store: MemoryStore, roomId: RoomID): Promise<number> {
  const entries = (await Array.fromAsync(store.list([]))).filter(({ key }) => key[3] === roomId);
  const of = (wanted: string) => entries.filter(({ key: [, , kind] }) => kind === wanted);
  const packed = of("pack").flatMap(({ value }) => unpacked(value, roomId));
  // As the Store writes them.
  const events = [...packed, ...of("state").map(({ value }) => value)] as StateEvent[];
  return new Set(events.map(({ type, state_key }) => JSON.stringify([type, state_key]))).size;
}

/** When the store was tidied. */
async function tidied(store: MemoryStore): Promise<unknown> {
  const entries = await Array.fromAsync(store.list([]));
  return entries.find(({ key }) => key[2] === "pruned")?.value;
}

/** A bot that has been in a room, and has left it. */
async function botThatLeft(stage: ClientStage, store: MemoryStore): Promise<{ bot: Client; room: RoomID }> {
  const bot = stage.client("bot", { store });
  await bot.syncOnce();
  const room = await bot.createRoom();
  await bot.syncOnce();
  await bot.leaveRoom(room);
  await bot.syncOnce();
  return { bot, room };
}

/** The next life of a bot, some time later. */
async function later(stage: ClientStage, bot: Client, store: MemoryStore, ms: number): Promise<Client> {
  await bot.close();
  await stage.clock.tick(ms);
  return stage.client("bot", { store });
}

Deno.test("prune() removes the state of rooms that were left a week ago, and of no others", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  let bot = here.client("bot", { store });
  await bot.syncOnce();
  const [left, justLeft, kept] = [await bot.createRoom(), await bot.createRoom(), await bot.createRoom()];
  await bot.syncOnce();
  await bot.leaveRoom(left);
  await bot.syncOnce();
  bot = await later(here, bot, store, 6 * DAY);
  await bot.syncOnce();
  await bot.leaveRoom(justLeft);
  await bot.syncOnce();
  bot = await later(here, bot, store, DAY + 1);
  const pieces = await stateOf(store, left);
  assert(pieces > 0);
  assertEquals(await bot.prune(), { removed: { state: pieces } });
  assertEquals(await stateOf(store, left), 0);
  assert(await stateOf(store, justLeft) > 0 && await stateOf(store, kept) > 0);
  assertEquals(await bot.prune(), { removed: {} });
});

Deno.test("a client that syncs prunes its store once a day", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const left = await botThatLeft(here, store);
  const { room } = left;
  let { bot } = left;
  const first = here.clock.now();
  assertEquals(await tidied(store), first);
  bot = await later(here, bot, store, DAY - 1);
  await bot.syncOnce();
  assertEquals(await tidied(store), first, "not twice a day");
  bot = await later(here, bot, store, 7 * DAY);
  assert(await stateOf(store, room) > 0);
  await bot.syncOnce();
  assertEquals(await stateOf(store, room), 0);
  assertEquals(await tidied(store), here.clock.now());
});

Deno.test("a client that has never let go of anything does so when it has been there for a day", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const left = await botThatLeft(here, store);
  const { room } = left;
  let { bot } = left;
  const entries = await Array.fromAsync(store.list([]));
  const note = entries.find(({ key }) => key[2] === "pruned");
  await store.commit([{ type: "delete", key: note?.key ?? [] }]);
  bot = await later(here, bot, store, 8 * DAY);
  await bot.syncOnce();
  assert(await stateOf(store, room) > 0);
  assertEquals(await tidied(store), here.clock.now());
  bot = await later(here, bot, store, DAY);
  await bot.syncOnce();
  assertEquals(await stateOf(store, room), 0);
});

Deno.test("pruning removes records of encryption too, and messages can still be decrypted", async () => {
  await using here = clientStage();
  const { alice, bob, roomId } = await twoInARoom(here);
  const read = heard(bob);
  await alice.sendText(roomId, "before");
  await here.until(() => read.length === 1);
  await bob.prune();
  await alice.sendText(roomId, "after");
  await here.until(() => read.length === 2);
  assertEquals(read, ["before", "after"]);
});
