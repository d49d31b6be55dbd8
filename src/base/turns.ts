/**
 * Work that is done one piece after the other.
 *
 * @module
 */

/** Has pieces of work done one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Does something when all that came before has ended, well or not.
   *
   * @throws What the work throws; those behind it have their turn all the same.
   */
  take<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.then(() => {}, () => {}); // which keeps no result in memory
    return result;
  }
}
