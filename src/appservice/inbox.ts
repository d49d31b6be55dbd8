/**
 * The inbox of an application service: transactions, durable before they are answered, until they
 * have been handled.
 *
 * Any process may add to it. What it has is numbered in the order of arrival, and the record of the
 * last number, which every change checks and writes, makes each change one that nobody else has
 * made.
 *
 * @module
 */

import { alarm, type Clock } from "../base/clock.ts";
import { platform } from "../base/platform/mod.ts";
import { Turns } from "../base/runs.ts";
import { StoreError } from "../errors/store_error.ts";
import { isJsonObject } from "../types/json.ts";
import type { Store, StoreKey, StoreMutation } from "../store/base/mod.ts";
import type { Transaction } from "./transaction.ts";

/** What is known of the inbox as a whole. */
interface Head {
  /** The number of the latest transaction; 0: there was none. */
  readonly last: number;
  /** Up to which number transactions were handled, and removed. */
  readonly removed: number;
  /** The names of the latest transactions. */
  readonly ids: readonly string[];
}

/** A transaction in the inbox. */
export interface Entry {
  readonly number: number;
  /** The ID that the homeserver gave it. */
  readonly id: string;
  readonly transaction: Transaction;
}

const EMPTY: Head = { last: 0, removed: 0, ids: [] };
/** How much of a hash tells enough. */
const HASH_LENGTH = 22;
/** How many names are remembered: homeservers send one transaction after the other. */
const MAX_IDS = 100;
/** How many transactions may wait to be handled. */
const MAX_WAITING = 10_000;
/** How often a change is tried that another process was faster than. */
const TRIES = 20;
/** How long a change may take, in milliseconds: what never settles must not hold up the next one. */
const PATIENCE = 30_000;
/** How many transactions are removed at once. */
const REMOVED_AT_ONCE = 500;

/** Makes a change of what the inbox is, or says what there is in place of one. */
type Change<Result> = (
  head: Head,
) => Result | { readonly head: Head; readonly mutations: readonly StoreMutation[] };

/** What became of a transaction: kept, there already, or there is no room for it. */
type Arrival = "new" | "known" | "full";

/**
 * What tells a transaction from others: its ID, and its events. Synapse on SQLite begins with the
 * first ID again when it is restarted; and what is no event it leaves out when it sends again.
 */
async function nameOf(id: string, transaction: Transaction): Promise<string> {
  const { events } = transaction;
  const text = JSON.stringify(
    events.length === 0 ? transaction : events.map((event) => isJsonObject(event) ? event.event_id : event),
  );
  const { createHash } = await platform.crypto();
  return `${id} ${createHash("sha256").update(text).digest("base64url").slice(0, HASH_LENGTH)}`;
}

/** Keeps transactions. */
export class Inbox {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #prefix: StoreKey;
  /** The changes of this process, one after the other. */
  readonly #changes = new Turns();
  #arrival = Promise.withResolvers<void>();
  #last = 0;

  /**
   * @param store Where they are kept.
   * @param owner Whose it is: its ID, which another homeserver may have given as well, and its own user;
   *   and the clock, which bounds how long a change may take.
   */
  constructor(
    store: Store,
    { id, userId, clock }: { readonly id: string; readonly userId: string; readonly clock: Clock },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#prefix = ["appservice", userId, id];
  }

  /** The number of the latest transaction that this process has seen. */
  get last(): number {
    return this.#last;
  }

  /**
   * Returns whether transactions after a number have all of these IDs, whichever process has kept them:
   * as far as IDs are remembered.
   */
  async hasAll(ids: readonly string[], after: number): Promise<boolean> {
    return await this.#change(({ ids: all, last }) => {
      const names = all.slice(Math.max(0, all.length - Math.max(0, last - after)));
      return ids.every((id) => names.some((name) => name.startsWith(`${id} `)));
    }) === true;
  }

  /** The number of the latest transaction, whichever process has kept it. */
  async latest(): Promise<number> {
    const last = await this.#change((head) => head.last);
    return typeof last === "number" ? last : last.head.last;
  }

  /** Keeps a transaction, durably, unless it has been before. */
  async add(id: string, transaction: Transaction): Promise<Arrival> {
    const name = await nameOf(id, transaction);
    const arrival = await this.#change((head) => {
      if (head.ids.includes(name)) return "known";
      if (head.last - head.removed >= MAX_WAITING) return "full";
      const number = head.last + 1;
      const kept = { ...head, last: number, ids: [...head.ids, name].slice(-MAX_IDS) };
      // As text: nobody can change it, and stores copy it faster than an object.
      const mutation: StoreMutation = {
        type: "set",
        key: this.#entry(number),
        value: JSON.stringify({ ...transaction, id }),
      };
      return { head: kept, mutations: [mutation] };
    });
    return typeof arrival === "string" ? arrival : "new";
  }

  /**
   * The transactions after a number, in order.
   *
   * @param limit How many.
   */
  async after(number: number, limit: number): Promise<Entry[]> {
    const entries: Entry[] = [];
    const options = { after: this.#entry(number), limit };
    for await (const { key, value } of this.#store.list([...this.#prefix, "in"], options)) {
      const found = Number(key.at(-1));
      this.#last = Math.max(this.#last, found);
      // As it was added.
      const { id, ...transaction } = JSON.parse(String(value)) as Transaction & Pick<Entry, "id">;
      entries.push({ number: found, id, transaction });
    }
    return entries;
  }

  /** Up to which number transactions have been removed. */
  async removed(): Promise<number> {
    return (await this.#head())[0].removed;
  }

  /** Removes transactions up to a number: they have been handled. */
  async remove(number: number): Promise<void> {
    for (let isDone = false; !isDone;) {
      await this.#change((head) => {
        const end = Math.min(number, head.last, head.removed + REMOVED_AT_ONCE);
        isDone = end >= Math.min(number, head.last);
        if (end <= head.removed) return "known";
        const mutations: StoreMutation[] = [];
        for (let each = head.removed + 1; each <= end; each++) {
          mutations.push({ type: "delete", key: this.#entry(each) });
        }
        return { head: { ...head, removed: end }, mutations };
      });
    }
  }

  /** Resolves with the next transaction that arrives in this process. */
  get arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  /**
   * Makes a change after those before it, and waits for it, but not for ever.
   * One that takes effect later is one that another process has made: what comes after it checks the head.
   */
  #change<Result>(make: Change<Result>): Promise<Result | { readonly head: Head }> {
    return this.#changes.take(async () => {
      const ending = new AbortController();
      const { promise: late, reject } = Promise.withResolvers<never>();
      const cancel = alarm(this.#clock, PATIENCE, () => {
        ending.abort();
        reject(new StoreError(`Cannot keep a transaction: the store has not answered within ${PATIENCE} ms`));
      });
      try {
        return await Promise.race([this.#commit(make, ending.signal), late]);
      } finally {
        cancel();
      }
    });
  }

  /** @param ended Aborted when nobody waits for it any more. */
  async #commit<Result>(
    make: Change<Result>,
    ended: AbortSignal,
  ): Promise<Result | { readonly head: Head }> {
    const key = [...this.#prefix, "head"];
    for (let tries = 0; tries < TRIES && !ended.aborted; tries++) {
      const [head, versionstamp] = await this.#head();
      const made = make(head);
      if (typeof made !== "object" || made === null || !("mutations" in made)) return made as Result;
      const mutations: StoreMutation[] = [...made.mutations, { type: "set", key, value: made.head }];
      if (!await this.#store.commit(mutations, [{ key, versionstamp }])) continue;
      if (made.head.last > head.last) {
        this.#last = made.head.last;
        this.#arrival.resolve();
        this.#arrival = Promise.withResolvers();
      }
      return made;
    }
    throw new StoreError("Cannot keep a transaction: other processes change the inbox all the time");
  }

  async #head(): Promise<[Head, string | null]> {
    const [entry] = await this.#store.getMany([[...this.#prefix, "head"]]);
    if (entry === undefined || !isJsonObject(entry.value)) return [EMPTY, entry?.versionstamp ?? null];
    const head = entry.value as unknown as Head; // as it was written
    this.#last = Math.max(this.#last, head.last);
    return [head, entry.versionstamp];
  }

  /** Numbers have as many digits, so that their order is that of the keys. */
  #entry(number: number): StoreKey {
    return [...this.#prefix, "in", String(number).padStart(16, "0")];
  }
}
