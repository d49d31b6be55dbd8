/**
 * A device with packs of state, and what is in its store.
 *
 * @module
 */

import { type RoomChange, spawnStore } from "../../../src/actors/store/mod.ts";
import type { JsonObject, StoredState } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import type { CountingStore } from "./counting_store.ts";
import { member, message, ROOM, state } from "./events.ts";

export const events = (list: readonly JsonObject[]) => list as unknown as StoredState[];
export const topic = (id: string) => state("m.room.topic", { topic: id }, { event_id: id });
export const MEMBERS = ["a", "b", "c", "d", "e"].map((name) => member(`@${name}:a`, "join"));

/** The device in a store, as a process opens it. */
export async function opened(kv: CountingStore) {
  const store = spawnStore({ kv, clock: new TestClock(0) });
  await store.open([]);
  let count = 0;
  return {
    store,
    commit: (list: readonly JsonObject[], more: Partial<RoomChange> = {}) =>
      store.commitSync({
        nextBatch: `n${count++}`,
        repeated: false,
        rooms: [{
          roomId: ROOM,
          membership: "join",
          state: events(list),
          complete: true,
          lossy: false,
          ...more,
        }],
      }),
    ids: async (type?: string) =>
      (await store.listState({ roomId: ROOM, type })).map(({ event_id }) => event_id),
    get: async (type: string, stateKey = "") =>
      (await store.getState({ roomId: ROOM, type, stateKey }))?.event_id,
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

export async function kinds(kv: CountingStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const { key: [kind = ""] } of kv.list([])) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

export function redactionsOf(...ids: string[]): RoomChange["redactions"] {
  const redaction = (id: string) =>
    message("why", { type: "m.room.redaction", redacts: id, content: { redacts: id } });
  return ids.map(redaction) as unknown as RoomChange["redactions"];
}

/** All that a store has, as text. */
export async function textOf(kv: CountingStore): Promise<string> {
  return JSON.stringify(await Array.fromAsync(kv.list([])));
}
