/**
 * A {@link FairIndex} that outlasts the process: each of its values has a record.
 *
 * @module
 */

import { FairIndex } from "./fair_index.ts";
import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

/** What values are kept by. */
export interface FairRecordsOptions<Value, Name> {
  /** How many are kept. */
  readonly limit: number;
  /** The parts of a value's name: the first is its group. */
  readonly partsOf: (name: Name) => readonly [group: string, ...others: string[]];
  /** The share of a value within its group. Default: groups are not shared. */
  readonly shareOf?: (value: Value) => string;
}

/** Keeps values by name, so that none of those they come from can crowd out the rest. */
export class FairRecords<Value extends Name, Name = Value> {
  readonly #kind: string;
  readonly #options: FairRecordsOptions<Value, Name>;
  readonly #index: FairIndex<Value>;

  /**
   * @param kind The kind of the records.
   * @param options What values are kept by.
   */
  constructor(kind: string, options: FairRecordsOptions<Value, Name>) {
    this.#kind = kind;
    this.#options = options;
    this.#index = new FairIndex(options.limit, options.shareOf);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#index.clear();
    for (const [, value] of await tx.list<Value>(this.#kind)) {
      this.#index.load(...this.#placeOf(value), value);
    }
  }

  /** Everything, as it is now. */
  get values(): readonly Value[] {
    return [...this.#index.values()];
  }

  /** Keeps a value, in place of others if there are too many. */
  set(tx: Transaction, value: Value): void {
    tx.set(this.#keyOf(value), value);
    const gone = this.#index.set(tx, [...this.#placeOf(value), value]);
    for (const [, , each] of gone) tx.delete(this.#keyOf(each));
  }

  /** Drops the value with a name, if there is one. */
  delete(tx: Transaction, name: Name): void {
    const place = this.#placeOf(name);
    if (this.#index.get(...place) === undefined) return;
    this.#index.delete(tx, ...place);
    tx.delete(this.#keyOf(name));
  }

  #placeOf(name: Name): [group: string, id: string] {
    const [group, ...others] = this.#options.partsOf(name);
    return [group, JSON.stringify(others)];
  }

  #keyOf(name: Name): RecordKey<Value> {
    return recordKey(this.#kind, ...this.#options.partsOf(name));
  }
}
