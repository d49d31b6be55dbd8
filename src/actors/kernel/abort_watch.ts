/**
 * Many things that wait on few signals.
 *
 * @module
 */

interface Watched<T> {
  readonly items: Set<T>;
  readonly listener: () => void;
}

/**
 * Tells which of the watched items are concerned when a signal aborts.
 *
 * A thousand asks often share one signal; an event target looks for a listener in a list, so each signal gets one listener
 * for all its items, and an item leaves in constant time. A signal without items has no listener: it may outlive us.
 */
export class AbortWatch<T> {
  readonly #watched = new Map<AbortSignal, Watched<T>>();
  readonly #onAbort: (item: T) => void;

  /**
   * Makes a watch over nothing yet.
   *
   * @param onAbort Called for each item of a signal that aborts, in the order of {@link AbortWatch.add}.
   */
  constructor(onAbort: (item: T) => void) {
    this.#onAbort = onAbort;
  }

  /**
   * Begins to watch.
   *
   * @param signal A signal that has not aborted yet.
   * @param item What to name when it does.
   */
  add(signal: AbortSignal, item: T): void {
    let watched = this.#watched.get(signal);
    if (watched === undefined) {
      watched = { items: new Set(), listener: () => this.#aborted(signal) };
      this.#watched.set(signal, watched);
      signal.addEventListener("abort", watched.listener, { once: true });
    }
    watched.items.add(item);
  }

  /** Ends the watch over one item, which may be over already. */
  delete(signal: AbortSignal, item: T): void {
    const watched = this.#watched.get(signal);
    if (watched === undefined) return;
    watched.items.delete(item);
    if (watched.items.size > 0) return;
    this.#watched.delete(signal);
    signal.removeEventListener("abort", watched.listener);
  }

  #aborted(signal: AbortSignal): void {
    const items = this.#watched.get(signal)?.items ?? [];
    this.#watched.delete(signal);
    for (const item of items) this.#onAbort(item);
  }
}
