import { TestClock } from "@greenroom/matrix/testing";
import { assert, assertEquals, assertFalse } from "@std/assert";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import { factsOf, nextRecord, RoomRecords } from "../../../src/actors/store/room_records.ts";
import { set, StoreWriter } from "../../../src/actors/store/writer.ts";
import type { StoreKey } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import type { RoomRecord } from "../../../src/store/device/mod.ts";

/** Counts the keys that are read. */
class ReadStore extends MemoryStore {
  reads: string[] = [];

  override getMany(keys: readonly StoreKey[]) {
    this.reads.push(...keys.map((key) => key[1] ?? ""));
    return super.getMany(keys);
  }
}

function record(roomId: string, membership: RoomRecord["membership"] = "join"): RoomRecord {
  return { roomId: roomId as RoomID, membership, allMembers: false };
}

async function stage(...rooms: string[]) {
  const kv = new ReadStore();
  const writer = new StoreWriter(kv);
  await writer.open([], new AbortController().signal);
  await writer.commit(rooms.map((roomId) => set(writer.keys.room(roomId as RoomID), record(roomId))));
  const records = new RoomRecords(writer);
  const get = (roomId: string) => records.get(roomId as RoomID);
  return { kv, records, get };
}

Deno.test("RoomRecords reads a record once", async () => {
  const { kv, records, get } = await stage("!a", "!b");
  assertEquals([await get("!a"), await get("!a")], [record("!a"), record("!a")]);
  const found = await records.getMany(["!b", "!a", "!none"]);
  assertEquals([...found.values()].map(({ roomId }) => roomId).sort(), ["!a", "!b"]);
  await records.getMany(["!a", "!b"]);
  assertEquals(kv.reads, ["!a", "!b", "!none"]);
});

Deno.test("RoomRecords looks again for a record that was not there", async () => {
  const { kv, get } = await stage();
  assertEquals([await get("!a"), await get("!a")], [undefined, undefined]);
  assertEquals(kv.reads, ["!a", "!a"]);
});

Deno.test("RoomRecords returns the last record without a read", async () => {
  const { kv, records, get } = await stage("!a");
  await get("!a");
  for (const roomId of ["!a", "!b"]) records.remember(record(roomId, "leave"));
  assertEquals([await get("!a"), await get("!b")], [record("!a", "leave"), record("!b", "leave")]);
  assertEquals(kv.reads, ["!a"]);
});

Deno.test("RoomRecords remembers twenty thousand, and forgets what was asked for longest ago", async () => {
  const rooms = Array.from({ length: 20_000 }, (_, index) => `!${index}`);
  const { kv, records, get } = await stage(...rooms, "!more");
  await records.getMany(rooms as RoomID[]);
  await get("!0");
  await get("!more"); // in the place of !1
  kv.reads = [];
  for (const roomId of ["!0", "!2", "!19999", "!more", "!1"]) assertEquals(await get(roomId), record(roomId));
  assertEquals(kv.reads, ["!1"]);
});

Deno.test("A room's record has nothing undefined, so that it can be kept as JSON", () => {
  const change = {
    roomId: "!a:a" as RoomID,
    membership: "join",
    state: [],
    complete: false,
    lossy: false,
  } as const;
  const sources = { record: undefined, facts: factsOf([]), predecessor: undefined, clock: new TestClock() };
  const next = nextRecord(change, sources);
  assertEquals(Object.entries(next).sort(), Object.entries(record("!a:a")).sort());
});

Deno.test("RoomRecords returns a room as it was last committed, whatever changed it", async () => {
  const store = spawnStore({ kv: new MemoryStore() });
  await store.open([]);
  const [roomId, known] = ["!a:a", async () => await store.room("!a:a")] as const;
  const sync = async (membership: RoomRecord["membership"]) => {
    const room = { roomId, membership, state: [], complete: false, lossy: false };
    await store.commitSync({ nextBatch: membership, repeated: false, rooms: [room] } as never);
  };
  await sync("join");
  await store.replaceMembers({ roomId, events: [], complete: true });
  assert((await known())?.allMembers);
  await store.noEncryption(roomId);
  assertFalse((await known())?.encryption ?? "unknown");
  const content = { algorithm: "a" };
  const event = { type: "m.room.encryption", state_key: "", sender: "@a:a", content } as never;
  await store.putState({ roomId, events: [event] });
  assertEquals((await known())?.encryption, content);
  await sync("leave");
  assertEquals((await known())?.membership, "leave");
  await store.pruneRooms({ leftBefore: Infinity });
  const record = { roomId, membership: "leave", allMembers: false, encryption: content };
  assertEquals([await known(), ...await store.rooms()], [record, record] as never);
  await store.stop();
});
