/**
 * Which state in a transaction is out of date, since a transaction that was made later came first.
 *
 * Synapse numbers transactions in the order in which it makes them. When one fails, one that was made
 * after it may arrive before it. A number that comes after it was skipped is such a late one. Numbers
 * are skipped as well that belong to other application services, and Synapse on SQLite begins with
 * the first again when it is restarted: a lower number that was not skipped shows that.
 *
 * @module
 */

import { RecentMap } from "../base/recent_map.ts";
import type { JsonObject } from "../types/json.ts";
import type { Entry } from "./inbox.ts";
import { isStateEvent } from "./transaction.ts";

const NUMBER = /^\d{1,15}$/;
/** How many pieces of state are remembered: late is a matter of minutes. */
const MAX_STATE = 10_000;
/** How many skipped numbers are remembered. */
const MAX_SKIPPED = 1_000;

/** Which transaction has set a piece of state, and how old that is. */
interface Setting {
  readonly number: number;
  readonly time: number;
}

/** Remembers which transaction set which piece of state. */
export class LateState {
  readonly #setBy = new RecentMap<string, Setting>(MAX_STATE);
  readonly #skipped = new Set<number>();
  #last: number | undefined;

  /** The state events of a transaction that are out of date. */
  find({ id, transaction: { events } }: Pick<Entry, "id" | "transaction">): Set<JsonObject> {
    const late = new Set<JsonObject>();
    if (!NUMBER.test(id)) return late;
    const number = Number(id);
    const isLate = this.#count(number);
    for (const event of events) {
      if (!isStateEvent(event)) continue;
      const piece = JSON.stringify([event.room_id, event.type, event.state_key]);
      const { number: by = -1, time: since = 0 } = this.#setBy.get(piece) ?? {};
      const time = Number(event.origin_server_ts);
      if (isLate && by > number && since >= time) late.add(event);
      else this.#setBy.set(piece, { number, time });
    }
    return late;
  }

  /** Notes a number, and says whether it was skipped before. */
  #count(number: number): boolean {
    if (this.#skipped.delete(number)) return true;
    if (this.#last !== undefined && number < this.#last) {
      this.#skipped.clear();
      this.#setBy.clear();
    } else {
      const first = Math.max((this.#last ?? number) + 1, number - MAX_SKIPPED);
      for (let skipped = first; skipped < number; skipped++) this.#skipped.add(skipped);
      for (const oldest of this.#skipped) {
        if (this.#skipped.size <= MAX_SKIPPED) break;
        this.#skipped.delete(oldest);
      }
    }
    this.#last = number;
    return false;
  }
}
