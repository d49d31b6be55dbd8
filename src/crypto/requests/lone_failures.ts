/**
 * What the server fails over again and again while it answers other requests.
 *
 * @module
 */

/** How often the server has answered, whatever it was asked. */
export interface ServerSigns {
  /** The number of answers. */
  answers: number;
}

/** After so many failures a thing is at fault, and not the server: some minutes of a client that syncs. */
const PATIENCE = 5;

/** Counts failures between which the server has answered something else. */
export class LoneFailures {
  readonly #server: ServerSigns;
  readonly #failures = new Map<string, { readonly count: number; readonly answers: number }>();

  /** @param server How often the server has answered. */
  constructor(server: ServerSigns) {
    this.#server = server;
  }

  /** Notes that the server has failed over something; returns whether that is at fault. */
  failed(name: string): boolean {
    const { answers } = this.#server;
    const before = this.#failures.get(name);
    const count = before === undefined ? 1 : before.count + (answers > before.answers ? 1 : 0);
    this.#failures.set(name, { count, answers });
    return count >= PATIENCE;
  }

  /** Notes that it worked, or is not tried any more. */
  forget(name: string): void {
    this.#failures.delete(name);
  }
}
