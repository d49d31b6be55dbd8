/**
 * Joins by invitations, only so many at a time.
 *
 * @module
 */

/** How many go on at a time: a join over federation may take minutes, as its server likes. */
const AT_ONCE = 50;
/** How many of them for one inviter, so that nobody's slow server has the others wait. */
const OF_ONE = 2;

/** A join that waits. */
interface Waiting {
  readonly inviter: string;
  readonly begin: () => void;
}

/** Has joins wait for each other: those of one inviter begin in their order. */
export class JoinQueue {
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, number>();
  #count = 0;

  /** Joins, when it is its turn. */
  async run<Result>(inviter: string, join: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ inviter, begin });
      this.#next();
    });
    try {
      return await join();
    } finally {
      this.#count--;
      const others = (this.#running.get(inviter) ?? 1) - 1;
      if (others > 0) this.#running.set(inviter, others);
      else this.#running.delete(inviter);
      this.#next();
    }
  }

  #next(): void {
    for (let at = 0; at < this.#waiting.length && this.#count < AT_ONCE;) {
      const { inviter, begin } = this.#waiting[at] as Waiting; // there is one
      const running = this.#running.get(inviter) ?? 0;
      if (running >= OF_ONE) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      this.#running.set(inviter, running + 1);
      this.#count++;
      begin();
    }
  }
}
