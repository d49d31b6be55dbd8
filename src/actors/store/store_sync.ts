/**
 * Commits of sync responses.
 *
 * @module
 */

import { StoreError } from "../../errors/store_error.ts";
import type { SyncToken } from "../../types/ids.ts";
import { type Later, later } from "../kernel/mod.ts";
import type { StorePosition } from "./position.ts";
import type { RoomMutations, StoreRooms } from "./rooms.ts";
import type { CommittedSync, SyncChange } from "./store_protocol.ts";
import type { StoreWriter } from "./writer.ts";

/** Commits sync responses: those that come while a commit is on its way go into the next one. */
export class StoreSync {
  readonly #writer: StoreWriter;
  readonly #position: StorePosition;
  readonly #rooms: StoreRooms;
  /** The token of the last response that could not be committed. */
  #refused: SyncToken | undefined;

  /**
   * @param writer Makes the commits.
   * @param position Stores the token.
   * @param rooms Store room state.
   */
  constructor(writer: StoreWriter, position: StorePosition, rooms: StoreRooms) {
    this.#writer = writer;
    this.#position = position;
    this.#rooms = rooms;
  }

  /**
   * Works out what a response changes, and commits it, together with other responses if that saves
   * a commit.
   */
  async commit(change: SyncChange): Promise<CommittedSync | Later<CommittedSync>> {
    const { nextBatch, after } = change;
    try {
      if (after !== undefined && after === this.#refused) {
        throw new StoreError(
          "Cannot keep a sync response: the one before it could not be kept; ask for both again",
        );
      }
      const changes = await this.#rooms.changes(change.rooms);
      const crashes = await this.#position.advance(change, changes.mutations.length > 0);
      if (this.#refused === nextBatch) this.#refused = undefined;
      if (crashes === undefined) return { former: changes.former, crashes: 0 };
      return later(this.#commit(changes, crashes));
    } catch (error) {
      this.#refused = nextBatch;
      throw error;
    }
  }

  async #commit(changes: RoomMutations, crashes: number): Promise<CommittedSync> {
    this.#rooms.committing(changes);
    await this.#writer.flush(changes.mutations);
    this.#rooms.committed(changes);
    return { former: changes.former, crashes };
  }
}
