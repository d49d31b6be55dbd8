/**
 * Room state of a user, over a store in memory.
 *
 * @module
 */

import type { Actor } from "../../../src/actors/kernel/mod.ts";
import { spawnStore, StateStore, type StoreHandlers } from "../../../src/actors/store/mod.ts";
import type { JsonObject, StoredState } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "./counting_store.ts";
import { ROOM } from "./events.ts";

/** A state store and what is behind it. */
export interface StateStage extends AsyncDisposable {
  readonly kv: CountingStore;
  readonly store: Actor<StoreHandlers>;
  readonly stateStore: StateStore;
  /** Commits a sync response with this state of the room. */
  sync(...events: JsonObject[]): Promise<void>;
}

/** Opens a state store. */
export async function stateStage(): Promise<StateStage> {
  const kv = new CountingStore();
  const store = spawnStore({ kv, log: recordingLogger() });
  await store.open([]);
  return {
    kv,
    store,
    stateStore: new StateStore({ store, ready: () => Promise.resolve() }),
    async sync(...events) {
      const state = events as unknown as StoredState[];
      const room = { roomId: ROOM, membership: "join", state, complete: true, lossy: false } as const;
      await store.commitSync({ nextBatch: "n", repeated: false, rooms: [room] });
    },
    [Symbol.asyncDispose]: () => store.stop(),
  };
}
