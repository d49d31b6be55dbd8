/**
 * Names for requests that are to be unlike any before.
 *
 * @module
 */

/**
 * What distinguishes requests that are to be unlike any before, of this process or another: a
 * random number. Tries of one request share it, so that the server need not begin anew with each.
 */
export class FreshNames {
  /** The number of the next request. */
  next: number = randomNumber();

  /** Notes that the request was answered. */
  answered(): void {
    this.next = randomNumber();
  }
}

function randomNumber(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number; // there is one
}
