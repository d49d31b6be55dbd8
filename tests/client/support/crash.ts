/**
 * Faults of a process at a chosen moment: it ends, or something that it does fails.
 *
 * @module
 */

import { type KvMutation, type KvStore, MemoryStore, StoreError } from "@greenroom/matrix";

/** What a process does that others can see: a commit, a request, or the request for what is new. */
export type Deed = "commit" | "request" | "sync";

/** When a process ends, or something goes wrong with it. */
export interface CrashPlan {
  /** With which kind of deed. */
  readonly deed: Deed;
  /** With which of them, from 1; 0: with none. */
  readonly at: number;
  /** Whether what it was about to do takes effect: then only the answer is lost. */
  readonly takesEffect: boolean;
  /** Whether the process ends, or is told of an error and goes on. Default: it ends. */
  readonly manner?: "death" | "error";
  /** Of which sort: `at` counts only those then. */
  readonly sort?: string;
}

/** The plan of a process that nothing happens to. */
export const NO_CRASH: CrashPlan = { deed: "commit", at: 0, takesEffect: false };

/** What a process has done, in one life or several. */
export class Tally {
  readonly #counts = new Map<string, number>();
  /** Of each kind, the sorts of what was done, in order. */
  readonly sorts: Readonly<Record<Deed, string[]>> = { commit: [], request: [], sync: [] };

  /** How often something of a kind, or of a sort of it, was begun. */
  count(deed: Deed, sort?: string): number {
    return sort === undefined ? this.sorts[deed].length : this.#counts.get(`${deed} ${sort}`) ?? 0;
  }

  /** Notes that something is begun. */
  add(deed: Deed, sort: string): void {
    this.sorts[deed].push(sort);
    this.#counts.set(`${deed} ${sort}`, this.count(deed, sort) + 1);
  }
}

/** One life of a process, on a store that outlives it. */
export class Life {
  readonly #plan: CrashPlan;
  readonly #ended = Promise.withResolvers<string>();
  #isSpared = false;
  /** What has been done. */
  readonly tally: Tally;
  /** What it was doing when it ended; undefined while it lives. */
  epitaph: string | undefined;
  /** What it was doing when something went wrong; undefined before. */
  fault: string | undefined;
  /** Is told of what the process still wants to commit when one of its commits has failed. */
  onAftermath: (name: string) => void = () => {};
  /** Of which sort that was. */
  faultSort: string | undefined;

  /**
   * @param plan What happens to it.
   * @param tally What was done before, in other lives.
   */
  constructor(plan: CrashPlan, tally: Tally = new Tally()) {
    this.#plan = plan;
    this.tally = tally;
  }

  /** Resolves when it has ended, with what it was doing. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Has nothing go wrong with it any more. */
  spare(): void {
    this.#isSpared = true;
  }

  /** Ends it now. */
  end(): void {
    this.epitaph ??= "at some moment";
    this.#ended.resolve(this.epitaph);
  }

  /** The store, as long as the process lives. */
  store(inner: KvStore): KvStore {
    return {
      getMany: (keys) => this.lives(() => inner.getMany(keys)),
      list: (prefix) => inner.list(prefix),
      commit: (mutations, checks) =>
        this.does("commit", () => kindsOf(mutations), () => inner.commit(mutations, checks)),
      close: () => {},
    };
  }

  /** The way to the server, as long as the process lives. */
  fetch(inner: typeof fetch): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      const deed = pathname.endsWith("/sync") ? "sync" : "request";
      return await this.does(deed, () => `${request.method} ${placeOf(pathname)}`, () => inner(request));
    };
  }

  /** Does something that does not go wrong, unless the process has ended. */
  async lives<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#alive();
    const result = await work();
    await this.#alive();
    return result;
  }

  /** Does something, or has it go wrong. */
  async does<T>(deed: Deed, name: () => string, work: () => Promise<T>): Promise<T> {
    if (deed === "commit" && this.#plan.deed === deed && this.fault !== undefined && this.#isToldOfErrors) {
      this.onAftermath(name());
    }
    await this.#alive();
    const sort = sortOf(name());
    this.tally.add(deed, sort);
    if (!this.#strikes(deed, sort)) return await this.lives(work);
    const { takesEffect, manner = "death" } = this.#plan;
    this.faultSort = sort;
    this.fault = `${manner} ${takesEffect ? "after" : "before"} ${deed} ${this.tally.count(deed)}: ${name()}`;
    if (manner === "death") this.epitaph = this.fault;
    if (takesEffect) await work();
    if (manner === "error") {
      const Failure = deed === "commit" ? StoreError : TypeError; // as stores say it, and as `fetch` does
      throw new Failure(`the answer to a ${deed} got lost`);
    }
    this.#ended.resolve(this.fault);
    return await this.#alive() as T;
  }

  get #isToldOfErrors(): boolean {
    return this.#plan.manner === "error";
  }

  #strikes(struck: Deed, struckSort: string): boolean {
    const { deed, at, sort } = this.#plan;
    if (deed !== struck || this.fault !== undefined || this.#isSpared) return false;
    return sort === undefined
      ? this.tally.count(deed) === at
      : sort === struckSort && this.tally.count(deed, sort) === at;
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

/** Of the kinds of records in a commit, those that it may be about; others go along when there is a commit. */
const SUBJECTS = [
  ...[
    "session/",
    "outbound_session",
    "inbound",
    "olm-session",
    "devices",
    "room_settings",
    "parked",
    "account",
  ],
  ...["replay", "outbox", "tracked", "state/", "owner"],
];

/** The sort of a deed: what it is about, whatever else goes along. */
function sortOf(name: string): string {
  return SUBJECTS.find((subject) => name.includes(subject)) ?? name;
}

/** What a path asks for, whatever the room, the event and the transaction. */
function placeOf(pathname: string): string {
  return pathname.replace(/\/(send|sendToDevice)\/([^/]+)\/.*/, "/$1/$2").replace(/\/redact\/.*/, "/redact")
    .replaceAll(/(%21|%24|%40|[!$@])[^/]*/g, "*");
}

export { MemoryStore };
