/**
 * The position in the sync stream, as applications read and move it.
 *
 * @module
 */

import type { SyncToken } from "../types/ids.ts";
import type { ActorRef } from "../actors/kernel/actor.ts";
import type { StoreProtocol } from "../actors/store/store_protocol.ts";

/** Where a client is in the sync stream. */
export class SyncStore {
  readonly #store: ActorRef<StoreProtocol>;
  readonly #ready: () => Promise<void>;

  /**
   * Made by the client.
   *
   * @internal
   * @param store The Store actor.
   * @param ready Opens it, the first time.
   */
  constructor(store: ActorRef<StoreProtocol>, ready: () => Promise<void>) {
    this.#store = store;
    this.#ready = ready;
  }

  /** The token that the next sync asks with; undefined before the first. */
  async getNextBatch(): Promise<SyncToken | undefined> {
    await this.#ready();
    return (await this.#store.ask("position", undefined)).nextBatch;
  }

  /**
   * Moves to another position, for the next sync. A sync that is running overwrites it with what it
   * is being answered: stop it first.
   *
   * @param nextBatch The token to ask with; undefined starts from the beginning.
   */
  async putNextBatch(nextBatch: SyncToken | undefined): Promise<void> {
    await this.#ready();
    await this.#store.ask("move", nextBatch);
  }
}
