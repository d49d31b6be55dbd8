/**
 * Contestants that do their jobs in step: each is given a response, or the answer to a message, only while
 * none of the others works on one. So whatever else the machine does meets all of them within milliseconds.
 *
 * @module
 */

/** A contestant that keeps step with others. */
export class Step {
  /** The job that it does. */
  job = 0;
  /** Milliseconds that it has worked, by jobs. */
  readonly worked: number[] = [];
  readonly #group: StepGroup;

  /** @param group Those that keep step with each other. */
  constructor(group: StepGroup) {
    this.#group = group;
  }

  /** Resolves when all of the group have started. */
  async ready(): Promise<void> {
    await this.#group.ready(this);
  }

  /** Says that it has asked for something: what it was given before, it has dealt with. */
  asked(): void {
    const took = this.#group.release(this);
    if (took !== undefined) this.worked[this.job] = (this.worked[this.job] ?? 0) + took;
  }

  /** Resolves when it may be given what it has asked for. */
  async turn(): Promise<void> {
    this.asked();
    await this.#group.turn(this);
  }
}

/** Contestants of which one works at a time. */
export class StepGroup {
  readonly #size: number;
  readonly #ready = new Set<Step>();
  readonly #allReady = Promise.withResolvers<void>();
  readonly #waiting: { readonly step: Step; readonly go: () => void }[] = [];
  /** The one that works, and since when. */
  #worker: { readonly step: Step; readonly since: number } | undefined;

  /** @param size How many there are. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Resolves when all are ready. */
  async ready(step: Step): Promise<void> {
    if (this.#ready.add(step).size === this.#size) this.#allReady.resolve();
    await this.#allReady.promise;
  }

  /** Ends a contestant's turn, and says how many milliseconds it took; undefined if it was not its turn. */
  release(step: Step): number | undefined {
    if (this.#worker?.step !== step) return undefined;
    const took = performance.now() - this.#worker.since;
    this.#worker = undefined;
    this.#next();
    return took;
  }

  /** Resolves when it is a contestant's turn. */
  async turn(step: Step): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    this.#waiting.push({ step, go });
    this.#next();
    await promise;
  }

  #next(): void {
    if (this.#worker !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#worker = { step: next.step, since: performance.now() };
    next.go();
  }
}
