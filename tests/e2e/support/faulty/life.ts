/**
 * A process of ours that ends at a chosen moment: what it had not committed or sent by then never
 * is.
 *
 * @module
 */

import { MemoryStore, type Store, type StoreMutation } from "@greenroom/matrix";
import { FaultyNetwork } from "./network.ts";

/** One life of a process, on a store that outlives it. */
export class Life {
  /** Its way to the server. */
  readonly network: FaultyNetwork;
  /** Its store. */
  readonly store: Store;
  readonly #ended = Promise.withResolvers<void>();
  #isOver = false;
  #lastCommit: (() => boolean) | undefined;

  /** @param inner The store that outlives it. */
  constructor(inner: Store) {
    this.network = new FaultyNetwork(async (input, init) => {
      await this.#alive();
      const response = await fetch(input, init);
      if (this.#isOver) await response.body?.cancel();
      await this.#alive();
      return response;
    });
    this.store = {
      getMany: (keys) => this.#alive().then(() => inner.getMany(keys)),
      list: (prefix, options) => inner.list(prefix, options),
      commit: async (mutations, checks) => {
        await this.#alive();
        if (this.#lastCommit?.() === true) this.end();
        await this.#alive();
        return await inner.commit(mutations, checks);
      },
      close: () => {},
    };
  }

  /** Resolves when it has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Ends it now. */
  end(): void {
    this.#isOver = true;
    this.#ended.resolve();
  }

  /**
   * Ends it when it makes a request with a path that fits; `reaching`: the server still gets the
   * request.
   */
  endAt(path: RegExp, { reaching }: { reaching: boolean }): void {
    this.network.on(path, async (_request, forward) => {
      if (reaching) await (await forward()).body?.cancel();
      this.end();
      return await forward();
    });
  }

  /** Ends it before a commit, from now on, of which a condition holds. */
  endBeforeCommit(condition: () => boolean): void {
    this.#lastCommit = condition;
  }

  /** Nothing comes back from the dead. */
  #alive(): Promise<void> {
    return this.#isOver ? Promise.reject(new TypeError("the process has ended")) : Promise.resolve();
  }
}

/** A copy of a store as it is now. */
export async function copyOf(store: MemoryStore): Promise<MemoryStore> {
  const copy = new MemoryStore();
  const mutations: StoreMutation[] = [];
  for await (const { key, value } of store.list([])) mutations.push({ type: "set", key, value });
  await copy.commit(mutations);
  return copy;
}
