/**
 * A bounded index of what others make this device remember, in which none of them can crowd out the rest; how
 * long unused records are kept, and how many; and the users whose records are to be looked at, by the day, so
 * that nothing is searched.
 *
 * Over 300 lines because each of its numbers has its reason beside it.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

/** An entry: its group, its name in the group, and its value. */
type FairEntry<Value> = readonly [group: string, id: string, value: Value];

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

/** Keeps values by name, so that none of those they come from can crowd out the rest. */
export class FairRecords<Value extends Name, Name = Value> {
  readonly #kind: string;
  readonly #partsOf: (name: Name) => readonly [group: string, ...others: string[]];
  readonly #index: FairIndex<Value>;

  /**
   * @param kind The kind of the records.
   * @param limit How many are kept.
   * @param partsOf The parts of a value's name: the first is its group.
   * @param shareOf The share of a value within its group. Default: groups are not shared.
   */
  constructor(
    kind: string,
    limit: number,
    partsOf: (name: Name) => readonly [group: string, ...others: string[]],
    shareOf?: (value: Value) => string,
  ) {
    this.#kind = kind;
    this.#partsOf = partsOf;
    this.#index = new FairIndex(limit, shareOf);
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
    const [group, ...others] = this.#partsOf(name);
    return [group, JSON.stringify(others)];
  }

  #keyOf(name: Name): RecordKey<Value> {
    return recordKey(this.#kind, ...this.#partsOf(name));
  }
}

const HOUR = 3_600_000;

/** A day, in milliseconds: pruning runs once a day. */
export const DAY_MS = 24 * HOUR;

/** How many records one step of letting go removes, about: it must not keep a message waiting. */
export const RECORDS_A_STEP = 300;

/** How many devices a step works for until it pauses: each may take half a millisecond. */
export const DEVICES_A_TURN = 16;

/**
 * How long, in days, sessions with a former device are kept after its last message. Messages of it
 * may still be on their way: a server keeps them for devices that do not sync.
 */
export const GONE_PEER_DAYS = 30;

/**
 * How long, in days, sessions with a user's devices are kept after their last message when no
 * encrypted room is shared any more. If the user comes back, keys may come over the old sessions.
 */
export const LEFT_PEER_DAYS = 365;

/**
 * How long, in days, the devices of a user are kept with whom no encrypted room is shared any more.
 * They are queried again when there is a room; until then they only show the owner of old events,
 * which sessions record as well.
 */
export const LEFT_USER_DAYS = 30;

/**
 * How long, in days, the keys of a user's former devices are kept after that, if no cross-signing
 * key was ever seen and the application has made no decision. An attacker who could replace such a
 * key could as well show a new device.
 */
export const UNVOUCHED_USER_DAYS = 365;

/**
 * How many former devices are kept of a user with whom no encrypted room is shared any more, the
 * newest.
 */
export const FORMER_DEVICES = 100;

/**
 * How long, in milliseconds, the recipients of a room's last session are kept after its last use:
 * so long may they request its key again.
 */
export const IDLE_ROOM_MS = 30 * DAY_MS;

/**
 * The longest time for which a session counts as in use, in milliseconds, whatever the room's
 * settings.
 */
export const LONGEST_USE_MS = 365 * DAY_MS;

/**
 * How much older, in milliseconds, than the oldest key by which sessions can be begun the last
 * message of a device must be for its messages to be forgotten: a repetition of any of them then
 * opens nothing. The server may have handed a key out before it was known to have it.
 */
export const FALLBACK_MARGIN_MS = 7 * DAY_MS;

/**
 * With how many unknown devices there may be sessions, shared fairly among users: they may send
 * room keys only. They do not expire, since a key over such a session would be lost.
 */
export const UNKNOWN_DEVICES = 5_000;

/** How many unknown devices are remembered that could not be understood, shared fairly among users. */
export const MISUNDERSTOOD_DEVICES = 1_000;

/**
 * How many users are looked up in an hour because a device of theirs that is not known could not be
 * understood, shared fairly among their servers; each once. One query can ask about so many.
 */
export const LOOKUPS_AN_HOUR = 250;

/** With how many new devices one user can begin sessions in a day: as many as a user may have. */
export const NEW_PEERS_A_DAY = 1_000;

/** How many group sessions of one user may wait for their first message; the oldest is evicted. */
export const UNUSED_OF_USER = 10_000;

/**
 * How many group sessions may wait for their first message in all; the oldest of the user with the
 * most is evicted.
 */
export const UNUSED_IN_ALL = 200_000;

/** A look at a user that is due. */
export interface ScheduledPruning {
  readonly userId: UserID;
  /**
   * The day on which it is due, in days since the epoch; with the user it is the key of the record.
   */
  readonly day: string;
}

/** When to look. */
interface PruningTime {
  /** From when on it counts, in milliseconds since the epoch. */
  readonly now: number;
  /** After how many days. */
  readonly days: number;
}

const KIND = "leftover";
/** So that the order of keys is that of days. */
const DIGITS = 8;

/** Schedules pruning of a user some days from now. */
export function schedulePruning(tx: Transaction, userId: UserID, { now, days }: PruningTime): void {
  tx.set(leftoverKey({ userId, day: dayOf(now + days * DAY_MS) }), now);
}

/** The prunings that are due, the oldest first, without those of this step. */
export async function duePruning(
  tx: Transaction,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<ScheduledPruning[]> {
  const first = await tx.page<number>({ limit }, KIND);
  const today = dayOf(now);
  return first
    .map(([[day = "", userId = ""]]) => ({ userId: userId as UserID, day })) // it was written under a user ID
    .filter(({ day }) => day <= today);
}

/** Removes a pruning that is done. */
export function pruningDone(tx: Transaction, leftover: ScheduledPruning): void {
  tx.delete(leftoverKey(leftover));
}

function dayOf(time: number): string {
  return String(Math.floor(time / DAY_MS)).padStart(DIGITS, "0");
}

function leftoverKey({ userId, day }: ScheduledPruning): RecordKey<number> {
  return recordKey(KIND, day, userId);
}
