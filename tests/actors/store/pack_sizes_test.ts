import { assert, assertEquals } from "@std/assert";
import { RoomPacks, unpacked } from "../../../src/actors/store/packed_state.ts";
import { StoreWriter } from "../../../src/actors/store/writer.ts";
import type { RoomID } from "@greenroom/matrix/types";
import { grownBy } from "../../support/growth.ts";
import { CountingStore } from "../support/counting_store.ts";
import { ROOM, state } from "../support/events.ts";
import { kinds, MEMBERS, opened, topic } from "../support/packs.ts";

const note = (number: number, length: number) =>
  state("org.example.note", { text: "x".repeat(length) }, {
    state_key: `${number}`,
    event_id: `$${number}` as const,
  });

/** The characters in the largest record of a kind. */
async function largest(kv: CountingStore, kind: string): Promise<number> {
  const records = await Array.fromAsync(kv.list([kind]), ({ value }) => JSON.stringify(value).length);
  return Math.max(...records);
}

Deno.test("Large events that would make a pack large have records of their own", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  const notes = Array.from({ length: 200 }, (_, number) => note(number, 60_000));
  await device.commit([...notes, topic("$1"), ...MEMBERS]);
  assertEquals(await kinds(kv), { pack: 2, room: 1, state: 197, sync: 1 });
  assert(await largest(kv, "pack") <= 200_000);
  assertEquals((await device.ids("org.example.note")).length, 200);
  assertEquals((await device.ids()).length, 206);
  const { pack: rest } = Object.groupBy(await Array.fromAsync(kv.list([])), ({ key }) => key[0] ?? "");
  assert(JSON.stringify(rest).includes('"$1"'), "what is small is in the pack");
});

Deno.test("Of an event that a server lists twice the last counts, if one is too large for a pack, too", async () => {
  for (const [first, last] of [[300_000, 1], [1, 300_000]] as const) {
    const kv = new CountingStore();
    await using device = await opened(kv);
    await device.commit([
      note(1, first),
      topic("$1"),
      topic("$2"),
      { ...note(1, last), event_id: "$last" },
      ...MEMBERS,
    ]);
    assertEquals(await device.get("org.example.note", "1"), "$last");
    assertEquals(await device.get("m.room.topic"), "$2");
  }
});

Deno.test("An event that is larger than a pack may be has a record of its own", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  await device.commit([note(1, 300_000), ...MEMBERS]);
  assertEquals(await kinds(kv), { pack: 1, room: 1, state: 1, sync: 1 });
  assertEquals((await device.ids()).length, 6);
});

Deno.test("An event that is nested deeply has a record of its own, however deep", async () => {
  for (const depth of [40, 100_000]) {
    const kv = new CountingStore();
    await using device = await opened(kv);
    const deep = JSON.parse("[".repeat(depth) + "]".repeat(depth));
    await device.commit([
      state("org.example.deep", { deep }, { event_id: "$deep" }),
      topic("$1"),
      ...MEMBERS,
    ]);
    assertEquals((await kinds(kv)).pack, 2);
    const [pack] = await kv.getMany([["pack", ROOM, "rest"]]);
    assertEquals(unpacked(pack?.value, ROOM).map(({ event_id }) => event_id), ["$1"]);
  }
});

Deno.test("Packs that were read are remembered up to a size", async () => {
  const kv = new CountingStore();
  await using device = await opened(kv);
  const ids = Array.from({ length: 30 }, (_, number) => `!${number}:a` as RoomID);
  for (const roomId of ids) await device.commit([note(1, 180_000), topic("$1"), ...MEMBERS], { roomId });
  let reads = 0;
  const getMany = kv.getMany.bind(kv);
  kv.getMany = (keys) => {
    reads += keys.filter(([kind]) => kind === "pack").length;
    return getMany(keys);
  };
  const read = async (roomId: RoomID): Promise<number> => {
    const before = reads;
    await device.store.getState({ roomId, type: "m.room.topic", stateKey: "" });
    return reads - before;
  };
  for (const roomId of ids) assertEquals(await read(roomId), 1);
  assertEquals(await read("!29:a"), 0);
  assertEquals(await read("!15:a"), 0);
  assertEquals(await read("!5:a"), 1);
});

Deno.test("Packs that were read are remembered up to a number of events", async () => {
  const kv = new CountingStore();
  const writer = new StoreWriter(kv);
  await writer.open([], new AbortController().signal);
  const packs = new RoomPacks(writer);
  let count = 0;
  const readMore = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await packs.get(`!${count++}:a`);
  };
  await readMore(5_000);
  assertEquals(await grownBy(() => readMore(5_000), 2_500), []);
});
