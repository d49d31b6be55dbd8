import { type StateUpdates, UPDATES } from "../../../src/actors/store/mod.ts";
import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import type { JsonObject, MessageEvent, StoredState } from "@greenroom/matrix/types";
import { member, ROOM, state } from "../support/events.ts";
import { stateStage } from "../support/state_store.ts";
import { ReadsUnderWay } from "../../../src/actors/store/redactable_state.ts";

const stored = (...events: JsonObject[]) => events as unknown as StoredState[];
const OLD = stored(state("m.room.topic", { topic: "old" }, { event_id: "$topic" }));
const CHANGE = { roomId: ROOM, membership: "join", complete: false, lossy: false } as const;

Deno.test("A sync overtakes requests that are under way, of its room, and no others", () => {
  const reads = new ReadsUnderWay();
  const change = { ...CHANGE, state: OLD };
  reads.begin({ read: 1, roomId: ROOM });
  reads.begin({ read: 2, roomId: "!other:a" });
  reads.overtake(change, []);
  reads.begin({ read: 3, roomId: ROOM });
  const current = (read?: number) => reads.current(OLD, read).length;
  assertEquals([current(1), current(2), current(3), current(4), current()], [0, 1, 1, 1, 1]);
  assertEquals(reads.current(stored(state("m.room.name", {})), 1).length, 1);
  reads.end(1);
  reads.overtake(change, []);
  assertEquals([current(1), current(3)], [1, 0]);
});

Deno.test("A request is forgotten when it has ended, however it ends", async () => {
  await using here = await stateStage();
  const { stateStore } = here;
  const under: { store?: StateUpdates } = {};
  await stateStore[UPDATES].during(ROOM, async (store) => {
    under.store = store;
    await here.stateStore.getCreate(ROOM); // the Store has heard of the request
  });
  await here.sync(...OLD as unknown as JsonObject[]);
  await under.store?.updateContent(ROOM, "m.room.topic", "", { topic: "ended" });
  assertEquals((await stateStore.getState(ROOM, "m.room.topic"))?.content, { topic: "ended" });
  await assertRejects(() =>
    stateStore[UPDATES].during(ROOM, async (store) => {
      under.store = store;
      await here.stateStore.getCreate(ROOM);
      throw new RangeError("refused");
    }), RangeError);
  await here.sync(...OLD as unknown as JsonObject[]);
  await under.store?.updateContent(ROOM, "m.room.topic", "", { topic: "failed" });
  assertEquals((await stateStore.getState(ROOM, "m.room.topic"))?.content, { topic: "failed" });
});

Deno.test("A late answer does not bring back what was redacted", async () => {
  await using here = await stateStage();
  await here.sync(...OLD as unknown as JsonObject[]);
  await here.stateStore[UPDATES].during(ROOM, async (answer) => {
    await here.stateStore.getCreate(ROOM); // the Store has heard of the request
    const redaction = { type: "m.room.redaction", redacts: "$topic", content: {}, sender: "@a:a" };
    const redactions = [redaction as unknown as MessageEvent];
    const rooms = [{ ...CHANGE, state: [], redactions }];
    await here.store.commitSync({ nextBatch: "m", repeated: false, rooms });
    await answer.updateState(ROOM, OLD);
  });
  assertEquals((await here.stateStore.getState(ROOM, "m.room.topic"))?.content, {});
});

Deno.test("A late list of members is not complete, if a sync since may have left members out", async () => {
  for (const lossy of [false, true]) {
    await using here = await stateStage();
    await here.stateStore[UPDATES].during(ROOM, async (answer) => {
      await here.stateStore.getCreate(ROOM); // the Store has heard of the request
      const change = { ...CHANGE, state: stored(member("@b:a", "join")), lossy };
      await here.store.commitSync({ nextBatch: "m", repeated: false, rooms: [change] });
      await answer.setMembers(ROOM, stored(member("@a:a", "join")));
    });
    assertEquals((await here.stateStore.listState(ROOM)).length, 2);
    assertEquals(await here.stateStore.hasFullMemberList(ROOM), !lossy);
  }
});

Deno.test("That a room is encrypted counts, however late the answer comes", async () => {
  await using here = await stateStage();
  await here.stateStore[UPDATES].during(ROOM, async (answer) => {
    await here.stateStore.getCreate(ROOM); // the Store has heard of the request
    await here.sync(state("m.room.encryption", "none" as never));
    assertFalse(await here.stateStore.isEncrypted(ROOM));
    await answer.updateContent(ROOM, "m.room.encryption", "", { algorithm: "a" });
  });
  assert(await here.stateStore.isEncrypted(ROOM));
});
