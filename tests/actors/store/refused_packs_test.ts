import { assertEquals } from "@std/assert";
import { type RoomChange, spawnStore } from "../../../src/actors/store/mod.ts";
import type { JsonObject, Membership, StoredState } from "@greenroom/matrix/types";
import type { StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { complaintsIn, recordingLogger } from "../kernel/support.ts";
import { member, ROOM, state } from "../support/events.ts";
import { redactionsOf } from "../support/packs.ts";

const topic = (id: string) => state("m.room.topic", { topic: id }, { event_id: id });
const name = (id: string) => state("m.room.name", { name: id }, { event_id: id });
const create = state("m.room.create", { room_version: "11" }, { event_id: "$create" });
const MEMBERS = ["a", "b", "c", "d"].map((user) => member(`@${user}:a`, "join"));
const IDS = MEMBERS.map(({ event_id }) => event_id);

type Refuses = (mutation: StoreMutation) => boolean;

const hasBad: Refuses = (mutation) => JSON.stringify(mutation).includes("BAD");
const isPack: Refuses = ({ type, key }) => type === "set" && key.includes("pack");

/** A store that refuses some changes. */
class PickyStore extends MemoryStore {
  refuses: Refuses = () => false;

  override commit(...args: Parameters<MemoryStore["commit"]>): Promise<boolean> {
    return args[0].some(this.refuses) ? Promise.reject(new TypeError("no")) : super.commit(...args);
  }
}

/** The device in a store, as a process opens it. */
async function opened(kv: PickyStore) {
  const log = recordingLogger();
  const store = spawnStore({ kv, clock: new TestClock(0), log });
  await store.open([]);
  let count = 0;
  return {
    log,
    commit: (list: JsonObject[], more: Partial<RoomChange> = {}, membership: `${Membership}` = "join") => {
      const events = list as unknown as StoredState[];
      const room = {
        roomId: ROOM,
        membership,
        state: events,
        complete: true,
        lossy: false,
        ...more,
      } as const;
      return store.commitSync({ nextBatch: `n${count++}`, repeated: false, rooms: [room as RoomChange] });
    },
    ids: async () => (await store.listState({ roomId: ROOM })).map(({ event_id }) => event_id),
    [Symbol.asyncDispose]: () => store.stop(),
  } as const;
}

/** The state of the room now, and as another process finds it. */
async function idsNowAndLater(kv: PickyStore, device: Awaited<ReturnType<typeof opened>>) {
  const now = await device.ids();
  await using next = await opened(kv);
  return [now, await next.ids()];
}

Deno.test("One event that a store refuses costs no other event of its pack", async () => {
  const kv = new PickyStore();
  kv.refuses = hasBad;
  await using device = await opened(kv);
  await device.commit([create, ...MEMBERS, member("@x:a", "join", { event_id: "$BAD" })]);
  assertEquals(await idsNowAndLater(kv, device), [["$create", ...IDS], ["$create", ...IDS]]);
  assertEquals(complaintsIn(device.log).map(([, text, data]) => [text, data?.count, data?.kinds]), [[
    "Left out records that the store does not take",
    1,
    "state",
  ]]);
});

Deno.test("A store that takes no packs takes the events of each, and nothing is left out", async () => {
  const kv = new PickyStore();
  kv.refuses = isPack;
  await using device = await opened(kv);
  await device.commit([create, ...MEMBERS, topic("$1")]);
  assertEquals(await idsNowAndLater(kv, device), [["$create", ...IDS, "$1"], ["$create", ...IDS, "$1"]]);
  assertEquals(complaintsIn(device.log), []);
});

Deno.test("State that is newer than a pack stays, if the store refuses the pack without what was redacted", async () => {
  const kv = new PickyStore();
  await using device = await opened(kv);
  await device.commit([create, ...MEMBERS, topic("$old"), name("$shame")]);
  await device.commit([topic("$new")]);
  kv.refuses = isPack;
  await device.commit([], { redactions: redactionsOf("$shame") });
  const left = ["$create", ...IDS, "$shame", "$new"];
  assertEquals(await idsNowAndLater(kv, device), [left, left]);
  const text = JSON.stringify(await Array.fromAsync(kv.list([])));
  assertEquals([text.includes('"name":"$shame"'), text.includes('"topic":"$old"')], [false, false]);
});

Deno.test("State that comes with what redacts a pack replaces that of the pack, if the store refuses the pack", async () => {
  const kv = new PickyStore();
  await using device = await opened(kv);
  await device.commit([create, ...MEMBERS, topic("$old"), name("$shame")]);
  kv.refuses = isPack;
  await device.commit([topic("$new")], { redactions: redactionsOf("$shame") });
  const left = ["$create", ...IDS, "$shame", "$new"];
  assertEquals(await idsNowAndLater(kv, device), [left, left]);
});

Deno.test("State of an earlier stay is replaced, though the store refuses the pack", async () => {
  const kv = new PickyStore();
  await using device = await opened(kv);
  await device.commit([create, ...MEMBERS, topic("$old")]);
  await device.commit([topic("$older"), name("$gone")]);
  await device.commit([], {}, "leave");
  kv.refuses = isPack;
  await device.commit([create, ...MEMBERS, topic("$new")]);
  assertEquals(await idsNowAndLater(kv, device), [["$create", ...IDS, "$new"], ["$create", ...IDS, "$new"]]);
});
