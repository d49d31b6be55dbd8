/**
 * What the Store keeps of deliveries: which have been seen to though the response they came with has not.
 *
 * @module
 */

import type { KvMutation } from "../../store/kv_store.ts";
import type { SessionCommit } from "./store_protocol.ts";
import type { StoreQuarantine } from "./store_quarantine.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** How many deliveries are remembered: beyond them, the oldest may come again. */
const REMEMBERED = 10_000;
/** The first part of the keys. */
const SETTLED = "settled";
/** What stands under the name of a delivery. */
const NOTED = {};

/** Keeps them. */
export class StoreDeliveries {
  readonly #writer: StoreWriter;
  /** Names of deliveries that have settled, in the order in which they were noted, and after how many marks that was. */
  #settled: Map<string, number> | undefined;
  readonly #quarantine: StoreQuarantine;
  #marks = 0;

  /**
   * @param writer Reads and writes.
   * @param quarantine Remembers for longer what has settled of events that are left out.
   */
  constructor(writer: StoreWriter, quarantine: StoreQuarantine) {
    this.#writer = writer;
    this.#quarantine = quarantine;
  }

  /** Names of deliveries that have settled. */
  async settled(): Promise<string[]> {
    return [...(await this.#names()).keys()];
  }

  /** Notes deliveries that have settled; that is written with the next commit. */
  async noteSettled(names: readonly string[]): Promise<void> {
    for (const mutation of await this.noting(names)) this.#writer.defer(mutation);
  }

  /** Commits what handlers have made of their sessions, with the deliveries in which they have. */
  async commitSessions({ mutations, settled }: SessionCommit): Promise<void> {
    const { keys } = this.#writer;
    const sessions = mutations.map((mutation) => ({ ...mutation, key: keys.record(mutation.key) }));
    await this.#writer.commit([...sessions, ...await this.noting(settled)]);
  }

  /**
   * Forgets what need not be known any more, since everything up to another token has been handled. What was noted since the mark
   * before stays: the very first response is handled in two parts, if it has to be handled once more.
   */
  async marked(): Promise<void> {
    this.#marks++;
    const names = await this.#names();
    for (const [name, mark] of names) {
      if (mark > this.#marks - 2) break;
      names.delete(name);
      this.#writer.defer({ type: "delete", key: this.#key(name) });
    }
  }

  /** What it takes to note deliveries that have settled. */
  async noting(names: readonly string[]): Promise<KvMutation[]> {
    const known = await this.#names();
    const mutations = names.filter((name) => !known.has(name)).map((name) => set(this.#key(name), NOTED));
    for (const name of names) if (!known.has(name)) known.set(name, this.#marks);
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break;
      known.delete(oldest);
      mutations.push({ type: "delete", key: this.#key(oldest) });
    }
    mutations.push(...await this.#quarantine.noting(names));
    return mutations;
  }

  async #names(): Promise<Map<string, number>> {
    if (this.#settled !== undefined) return this.#settled;
    const records = await this.#writer.listRecords([SETTLED]);
    return this.#settled = new Map(records.map(({ key: [, name = ""] }) => [name, this.#marks]));
  }

  #key(name: string) {
    return this.#writer.keys.record([SETTLED, name]);
  }
}
