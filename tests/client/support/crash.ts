/**
 * A process that ends at a chosen moment: between a commit or a request and what follows.
 *
 * @module
 */

import { type KvMutation, type KvStore, MemoryStore } from "@greenroom/matrix";

/** What a process does that others can see. */
export type Deed = "commit" | "request";

/** When a process ends. */
export interface CrashPlan {
  /** At which kind of deed. */
  readonly deed: Deed;
  /** At which of them, from 1; 0: it does not end. */
  readonly at: number;
  /** Whether what it was about to do takes effect: then only the answer is lost. */
  readonly takesEffect: boolean;
}

/** The plan of a process that does not end. */
export const NO_CRASH: CrashPlan = { deed: "commit", at: 0, takesEffect: false };

/** One life of a process, on a store that outlives it. */
export class Life {
  readonly #plan: CrashPlan;
  readonly #counts = { commit: 0, request: 0 };
  readonly #ended = Promise.withResolvers<string>();
  /** What it was doing when it ended; undefined while it lives. */
  epitaph: string | undefined;

  /** @param plan When it ends. */
  constructor(plan: CrashPlan) {
    this.#plan = plan;
  }

  /** Resolves when it has ended, with what it was doing. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Ends it now. */
  end(): void {
    this.epitaph ??= "at some moment";
    this.#ended.resolve(this.epitaph);
  }

  /** The store, as long as the process lives. */
  store(inner: MemoryStore): KvStore {
    return {
      getMany: (keys) => this.#alive().then(() => inner.getMany(keys)),
      list: (prefix) => inner.list(prefix),
      commit: (mutations, checks) =>
        this.#do("commit", () => kindsOf(mutations), () => inner.commit(mutations, checks)),
      close: () => {},
    };
  }

  /** The way to the server, as long as the process lives. */
  fetch(inner: typeof fetch): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/sync")) {
        await this.#alive();
        return await inner(request);
      }
      return await this.#do("request", () => `${request.method} ${pathname}`, () => inner(request));
    };
  }

  async #do<T>(deed: Deed, name: () => string, work: () => Promise<T>): Promise<T> {
    await this.#alive();
    const { at, takesEffect } = this.#plan;
    if (deed !== this.#plan.deed || ++this.#counts[deed] !== at) {
      const result = await work();
      await this.#alive();
      return result;
    }
    this.epitaph = `${takesEffect ? "after" : "before"} ${deed} ${at}: ${name()}`;
    if (takesEffect) await work();
    this.#ended.resolve(this.epitaph);
    return await this.#alive() as T;
  }

  /** Nothing comes back from the dead. */
  #alive(): Promise<void> {
    return this.epitaph === undefined
      ? Promise.resolve()
      : Promise.reject(new TypeError("the process has ended"));
  }
}

/** The kinds of records that are committed. */
function kindsOf(mutations: readonly KvMutation[]): string {
  const kinds = mutations.map(({ key }) =>
    key.slice(2, 4).map((part) => part.replaceAll(/[!@$].*/g, "")).join("/")
  );
  return [...new Set(kinds)].sort().join(" ");
}

export { MemoryStore };
