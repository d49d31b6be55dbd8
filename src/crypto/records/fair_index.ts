/**
 * A bounded index of what others make this device remember, in which none of them can crowd out the
 * rest.
 *
 * @module
 */

import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

/** An entry: its group, its name in the group, and its value. */
export type FairEntry<Value> = readonly [group: string, id: string, value: Value];

/** The values of a group. */
interface Group<Value> {
  readonly values: Map<string, Value>;
  /** The number of values by share, where several share the group. */
  readonly shares: Map<string, number>;
}

/**
 * Remembers values by group and name. When there are too many, the oldest of the largest group is
 * evicted; where several share a group, the oldest of the largest share.
 *
 * A step changes it immediately, so that it sees its own changes; if the step is aborted, they are
 * taken back.
 */
export class FairIndex<Value> {
  readonly #limit: number;
  readonly #shareOf: (value: Value) => string;
  readonly #groups = new Map<string, Group<Value>>();
  #size = 0;

  /**
   * @param limit How many things it remembers.
   * @param shareOf The share of a value within its group. Default: groups are not shared.
   */
  constructor(limit: number, shareOf: (value: Value) => string = () => "") {
    this.#limit = limit;
    this.#shareOf = shareOf;
  }

  /** How many things it remembers. */
  get size(): number {
    return this.#size;
  }

  /** The value with a name. */
  get(group: string, id: string): Value | undefined {
    return this.#groups.get(group)?.values.get(id);
  }

  /** Everything. */
  *values(): Generator<Value> {
    for (const { values } of this.#groups.values()) yield* values.values();
  }

  /** Adds a value that is durable already. */
  load(group: string, id: string, value: Value): void {
    const known = this.#groups.getOrInsertComputed(group, () => ({ values: new Map(), shares: new Map() }));
    const before = known.values.get(id);
    if (before === undefined) this.#size++;
    else count(known, this.#shareOf(before), -1);
    known.values.set(id, value);
    count(known, this.#shareOf(value), 1);
  }

  /**
   * Remembers something.
   *
   * @returns What had to go for it.
   */
  set(tx: Transaction, [group, id, value]: FairEntry<Value>): FairEntry<Value>[] {
    const before = this.get(group, id);
    this.load(group, id, value);
    tx.onAbort(() => before === undefined ? this.#remove(group, id) : this.load(group, id, before));
    const gone: FairEntry<Value>[] = [];
    while (this.#size > this.#limit) {
      const oldest = this.#oldestOfLargest();
      if (oldest === undefined) break;
      this.delete(tx, oldest[0], oldest[1]);
      gone.push(oldest);
    }
    return gone;
  }

  /** Forgets something. */
  delete(tx: Transaction, group: string, id: string): void {
    const value = this.get(group, id);
    if (value === undefined) return;
    this.#remove(group, id);
    tx.onAbort(() => this.load(group, id, value));
  }

  /** Forgets everything. */
  clear(): void {
    this.#groups.clear();
    this.#size = 0;
  }

  #remove(group: string, id: string): void {
    const known = this.#groups.get(group);
    const value = known?.values.get(id);
    if (known === undefined || value === undefined) return;
    known.values.delete(id);
    count(known, this.#shareOf(value), -1);
    this.#size--;
    if (known.values.size === 0) this.#groups.delete(group);
  }

  #oldestOfLargest(): FairEntry<Value> | undefined {
    const [name = "", group] = largest(this.#groups, ({ values }) => values.size) ?? [];
    const [share] = largest(group?.shares ?? [], (size) => size) ?? [];
    for (const [id, value] of group?.values ?? []) {
      if (this.#shareOf(value) === share) return [name, id, value];
    }
    return undefined;
  }
}

function count({ shares }: Group<unknown>, share: string, change: number): void {
  const next = (shares.get(share) ?? 0) + change;
  if (next === 0) shares.delete(share);
  else shares.set(share, next);
}

/** The first of the entries that is the largest. */
function largest<Value>(
  entries: Iterable<readonly [string, Value]>,
  sizeOf: (value: Value) => number,
): readonly [string, Value] | undefined {
  let found: readonly [string, Value] | undefined;
  for (const entry of entries) if (found === undefined || sizeOf(entry[1]) > sizeOf(found[1])) found = entry;
  return found;
}

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
