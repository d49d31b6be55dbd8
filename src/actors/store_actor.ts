/**
 * The Store: the single writer of what is kept.
 *
 * @module
 */

import type { Logger } from "../log.ts";
import type { KvStore } from "../store/kv_store.ts";
import type { Actor } from "./actor.ts";
import { spawn } from "./spawn.ts";
import { StorePosition } from "./store_position.ts";
import type { StoreProtocol } from "./store_protocol.ts";
import { StoreRooms } from "./store_rooms.ts";
import { StoreWriter } from "./store_writer.ts";

/** What the Store is made of. */
export interface StoreOptions {
  /** Where everything is kept. */
  readonly kv: KvStore;
  /** Whether to close it in the end: who opened it closes it. */
  readonly close: boolean;
  /** Where failures are told. */
  readonly log?: Logger;
}

/** Starts the Store. */
export function spawnStore({ kv, close, log }: StoreOptions): Actor<StoreProtocol> {
  const writer = new StoreWriter(kv);
  const position = new StorePosition(writer);
  const rooms = new StoreRooms(writer);
  return spawn<StoreProtocol>({
    name: "store",
    log,
    handlers: {
      open: (prefix) => writer.open(prefix),
      position: () => position.get(),
      move: (nextBatch) => position.move(nextBatch),
      async commitSync(change) {
        const { mutations, former } = await rooms.changes(change.rooms);
        await position.advance(change.nextBatch, mutations);
        return former;
      },
      handled: (token) => position.handled(token),
      saveFilter: (filter) => position.saveFilter(filter),
      getState: (query) => rooms.getState(query),
      listState: ({ roomId, type }) => rooms.listState(roomId, type),
      putState: ({ roomId, events }) => rooms.putState(roomId, events),
      replaceMembers: ({ roomId, events, only, complete }) =>
        rooms.replaceMembers(roomId, events, only, complete),
      room: (roomId) => rooms.room(roomId),
      rooms: () => rooms.rooms(),
      noEncryption: (roomId) => rooms.noEncryption(roomId),
      readRecords: (keys) => writer.getMany(keys.map((key) => writer.keys.record(key))),
      listRecords: (prefix) => writer.listRecords(prefix),
      commitRecords: (mutations) =>
        writer.commit(mutations.map((each) => ({ ...each, key: writer.keys.record(each.key) }))),
    },
    onStop: () => close ? kv.close() : undefined,
  });
}
