/**
 * The pieces of a room's state: of each type and state key the last event.
 *
 * @module
 */

import { compareParts } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";

/** Of each piece of state the last event: what was replaced may be redacted, and is not stored. */
export function lastOfEach(events: readonly StoredState[]): readonly StoredState[] {
  if (areApart(events)) return events; // the usual case
  const last = new Map(
    events.map((event) => [`${event.type.length} ${event.type}${event.state_key}`, event]),
  );
  return [...last.values()];
}

function areApart(events: readonly StoredState[]): boolean {
  const keys = new Map<string, Set<string>>();
  for (const { type, state_key } of events) {
    let ofType = keys.get(type);
    if (ofType === undefined) keys.set(type, ofType = new Set());
    if (ofType.size === ofType.add(state_key).size) return false;
  }
  return true;
}

export function isPiece(type: string, stateKey: string): (event: StoredState) => boolean {
  return (event) => event.state_key === stateKey && event.type === type;
}

/**
 * How many events of a room may wait to be sorted in, beside as many as it has pieces of state.
 * This bounds the work of the first read, and the memory of rooms that are never read.
 */
const MAX_WAITING = 64;

/**
 * After so many reads through the events that wait, they are sorted in. One such read takes at most
 * a tenth of the time of sorting.
 */
const MAX_READS = 8;

/**
 * The state of a room. Events are sorted in after a few reads: most rooms are never read, and a
 * first sync brings the state of all of them.
 */
export class Pieces {
  /** The events that have been sorted in, by type and state key; undefined before the first are. */
  #byType: Map<string, Map<string, StoredState>> | undefined;
  #sorted = 0;
  /** Events that wait to be sorted in, from old to new. */
  #waiting: StoredState[] = [];
  /** When so many wait, they are sorted in without a read. */
  #limit = 0;
  #reads = 0;

  get size(): number {
    this.#sort();
    return this.#sorted;
  }

  set(events: readonly StoredState[]): void {
    if (this.#waiting.length === 0) {
      this.#limit = this.#sorted + events.length + MAX_WAITING;
      this.#waiting = events.slice();
    } else {
      for (const event of events) this.#waiting.push(event);
      if (this.#waiting.length > this.#limit) this.#sort();
    }
  }

  get(type: string, stateKey: string): StoredState | undefined {
    if (this.#waiting.length > 0 && ++this.#reads > MAX_READS) this.#sort();
    return this.#waiting.findLast(isPiece(type, stateKey)) ?? this.#byType?.get(type)?.get(stateKey);
  }

  list(type?: string): StoredState[] {
    this.#sort();
    const types = type === undefined ? inOrder(this.#byType) : [this.#byType?.get(type)];
    return types.flatMap(inOrder);
  }

  remove(events: readonly StoredState[]): void {
    this.#sort();
    for (const { type, state_key } of events) {
      const byKey = this.#byType?.get(type);
      if (byKey?.delete(state_key) !== true) continue;
      this.#sorted--;
      if (byKey.size === 0) this.#byType?.delete(type);
    }
  }

  #sort(): void {
    const byType = this.#byType ??= new Map();
    for (const event of this.#waiting) {
      let byKey = byType.get(event.type);
      if (byKey === undefined) byType.set(event.type, byKey = new Map());
      const before = byKey.size;
      byKey.set(event.state_key, event);
      this.#sorted += byKey.size - before;
    }
    this.#waiting = [];
    this.#reads = 0;
  }
}

/** Values in the order of their keys, as stores have them. */
function inOrder<Value>(values: ReadonlyMap<string, Value> = new Map()): Value[] {
  return [...values].sort((first, second) => compareParts(first[0], second[0])).map(([, value]) => value);
}
