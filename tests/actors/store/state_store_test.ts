import { assert, assertEquals, assertFalse } from "@std/assert";
import { UPDATES } from "../../../src/actors/store/mod.ts";
import { SyncStore } from "../../../src/client/syncer_api.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { member, ROOM, state } from "../support/events.ts";
import { stateStage } from "../support/state_store.ts";

const create = (room_version: string, more: JsonObject = {}) =>
  state("m.room.create", { room_version, ...more }, { sender: "@boss:a" });

Deno.test("StateStore answers for members by what they are to the room", async () => {
  await using here = await stateStage();
  const { stateStore } = here;
  await here.sync(member("@a:a", "join"), member("@b:a", "invite"), member("@c:a", "leave"));
  assertEquals([...(await stateStore.getMembers(ROOM)).keys()], ["@a:a", "@b:a"]);
  assertEquals([...(await stateStore.getMembers(ROOM, ["leave"])).keys()], ["@c:a"]);
  assertEquals(await stateStore.getMembership(ROOM, "@b:a"), "invite");
  assertEquals(await stateStore.getMembership(ROOM, "@x:a"), "leave");
  assert(await stateStore.isJoined(ROOM, "@a:a"));
  assertFalse(await stateStore.isJoined(ROOM, "@b:a"));
  assertEquals(await stateStore.getMember(ROOM, "@x:a"), undefined);
});

Deno.test("StateStore lists the rooms one is in, and those one shares with another", async () => {
  await using here = await stateStage();
  const room = (roomId: `!${string}`, membership: "join" | "leave", ...state: JsonObject[]) =>
    ({ roomId, membership, state: state as never, complete: true, lossy: false }) as const;
  const rooms = [
    room("!a", "join", member("@b:a", "join")),
    room("!b", "join", member("@b:a", "invite")),
    room("!c", "join", member("@b:a", "leave")),
    room("!d", "leave", member("@b:a", "join")),
  ];
  await here.store.commitSync({ nextBatch: "n", repeated: false, rooms });
  assertEquals(await here.stateStore.getJoinedRooms(), ["!a", "!b", "!c"]);
  assertEquals(await here.stateStore.getSharedRooms("@b:a"), ["!a", "!b"]);
});

Deno.test("StateStore.hasPowerLevel() goes by the rules of the room's version", async () => {
  const levels = state("m.room.power_levels", { users: { "@mod:a": "50" } });
  const expected: [version: string, creator: number][] = [["1", 0], ["10", 0], ["11", 0], ["12", Infinity]];
  for (const [version, level] of expected) {
    await using here = await stateStage();
    await here.sync(create(version, { additional_creators: ["@more:a"] }), levels);
    const { stateStore } = here;
    assertEquals(await stateStore.getPowerLevel(ROOM, "@boss:a"), level, version);
    assertEquals(await stateStore.getPowerLevel(ROOM, "@more:a"), level, version);
    assert(await stateStore.hasPowerLevel(ROOM, "@mod:a", "kick"));
    assertFalse(await stateStore.hasPowerLevel(ROOM, "@x:a", "kick"));
  }
});

Deno.test("StateStore has no power levels for a room without a known creator", async () => {
  await using here = await stateStage();
  await here.sync(state("m.room.power_levels", { users: { "@a:a": 100 } }));
  assertEquals(await here.stateStore.getPowerLevel(ROOM, "@a:a"), undefined);
  assertFalse(await here.stateStore.hasPowerLevel(ROOM, "@a:a", "kick"));
  await here.sync(create("11"));
  assertEquals(await here.stateStore.getPowerLevel(ROOM, "@a:a"), 100);
});

Deno.test("StateStore.hasPowerLevel() allows nothing in a room whose power levels an invitation does not show", async () => {
  await using here = await stateStage();
  const { stateStore } = here;
  const actions = ["ban", "invite", { event: "m.room.message" }, {
    event: "m.room.name",
    state: true,
  }] as const;
  const invitation = {
    roomId: ROOM,
    membership: "invite",
    state: [create("11") as never],
    complete: true,
    lossy: false,
  } as const;
  await here.store.commitSync({ nextBatch: "n", repeated: false, rooms: [invitation] });
  assertEquals(await stateStore.getPowerLevel(ROOM, "@boss:a"), undefined);
  for (const action of actions) assertFalse(await stateStore.hasPowerLevel(ROOM, "@boss:a", action));
  await here.sync(create("11"));
  assertEquals(await stateStore.getPowerLevel(ROOM, "@boss:a"), 100);
  for (const action of actions) assert(await stateStore.hasPowerLevel(ROOM, "@boss:a", action));
  assertFalse(await stateStore.hasPowerLevel(ROOM, "@x:a", { event: "m.room.name", state: true }));
});

Deno.test("StateStore.isEncrypted() says yes, no, or that it is not known", async () => {
  await using here = await stateStage();
  const { stateStore } = here;
  assertEquals(await stateStore.isEncrypted(ROOM), undefined);
  await stateStore[UPDATES].setUnencrypted(ROOM);
  assertFalse(await stateStore.isEncrypted(ROOM));
  assertEquals(await stateStore.getEncryptionInfo(ROOM), undefined);
  await stateStore[UPDATES].updateContent(ROOM, "m.room.encryption", "", { algorithm: "a" });
  assert(await stateStore.isEncrypted(ROOM));
  assertEquals(await stateStore.getEncryptionInfo(ROOM), { algorithm: "a" });
});

Deno.test("SyncStore returns the position, and moves it", async () => {
  await using here = await stateStage();
  const syncStore = new SyncStore({ store: here.store, ready: () => Promise.resolve() });
  assertEquals(await syncStore.getNextBatch(), undefined);
  await here.sync();
  assertEquals(await syncStore.getNextBatch(), "n");
  await syncStore.setNextBatch("m");
  assertEquals(await syncStore.getNextBatch(), "m");
  await syncStore.setNextBatch(undefined);
  const { again, ...position } = await here.store.position();
  assertEquals(position, { nextBatch: undefined, handled: undefined });
  assertEquals([again?.until, again?.moved], ["m", true]);
});
