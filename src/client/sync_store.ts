/**
 * The position in the sync stream, as applications read and move it.
 *
 * @module
 */

import type { SyncToken } from "../types/ids.ts";
import type { OpenableStore } from "../actors/store/mod.ts";

/** Where a client is in the sync stream. */
export class SyncStore {
  readonly #actors: OpenableStore;

  /**
   * Made by the client.
   *
   * @internal
   * @param actors Have the Store.
   */
  constructor(actors: OpenableStore) {
    this.#actors = actors;
  }

  /** The token that the next sync asks with; undefined before the first. */
  async getNextBatch(): Promise<SyncToken | undefined> {
    await this.#actors.ready();
    return (await this.#actors.store.position()).nextBatch;
  }

  /**
   * Moves to another position, for the next sync. A sync that is running overwrites it with what it
   * is being answered: stop it first.
   *
   * @param nextBatch The token to ask with; undefined starts from the beginning.
   */
  async putNextBatch(nextBatch: SyncToken | undefined): Promise<void> {
    await this.#actors.ready();
    await this.#actors.store.move(nextBatch);
  }
}
