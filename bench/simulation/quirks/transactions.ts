/**
 * Servers whose transactions to an application service have events again.
 *
 * @module
 */

import type { Asked, Json, Layer, Next, QuirkPlace } from "./quirk.ts";

/** How often a transaction has something again. */
const AGAIN = 0.4;

/** Has events of earlier transactions in later ones, or twice in one, at any place. */
export class TransactionsRepeat implements Layer {
  readonly #place: QuirkPlace;
  /** By address, what was made of transactions: what is sent again is the same. */
  readonly #texts = new Map<string, string>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  ask({ request }: Asked, next: Next): Promise<Response> {
    return next(request);
  }

  transaction(url: string, text: string, delivered: readonly Json[]): string {
    return this.#texts.getOrInsertComputed(url, () => {
      const body = JSON.parse(text);
      this.#put(body.events, delivered);
      return JSON.stringify(body);
    });
  }

  #put(events: Json[], delivered: readonly Json[]): void {
    const { chance, does } = this.#place;
    const before = delivered.filter(({ state_key }) => state_key === undefined);
    while (events.length > 0 && chance.odds(AGAIN)) {
      const isOwn = before.length === 0 || chance.odds(0.3);
      if (isOwn) {
        const at = chance.below(events.length);
        if (events[at].state_key !== undefined) continue; // there may be a newer one between
        events.splice(at + 1 + chance.below(events.length - at), 0, structuredClone(events[at]));
      } else events.splice(chance.below(events.length + 1), 0, structuredClone(chance.pick(before)));
      does();
    }
  }
}
