/**
 * Contestants that do their jobs in step: each is given a response, or the answer to a message, only while
 * none of the others works on one. So whatever else the machine does meets all of them within milliseconds.
 *
 * @module
 */

/** Contestants that are given their responses in turns. */
export class InStep {
  readonly #size: number;
  readonly #ready = new Set<string>();
  readonly #allReady = Promise.withResolvers<void>();
  readonly #waiting: { readonly name: string; readonly go: () => void }[] = [];
  readonly #jobs = new Map<string, number>();
  readonly #worked = new Map<string, number[]>();
  /** The one that works, and since when. */
  #worker: { readonly name: string; readonly since: number } | undefined;

  /** @param size How many there are. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Resolves when all have started. */
  async ready(name: string): Promise<void> {
    if (this.#ready.add(name).size === this.#size) this.#allReady.resolve();
    await this.#allReady.promise;
  }

  /** Says that a contestant begins a job. */
  begin(name: string, job: number): void {
    this.#jobs.set(name, job);
  }

  /** Says that a contestant has asked for something: what it was given before, it has dealt with. */
  asked(name: string): void {
    if (this.#worker?.name !== name) return;
    const worked = this.#worked.get(name) ?? [];
    const job = this.#jobs.get(name) ?? 0;
    worked[job] = (worked[job] ?? 0) + performance.now() - this.#worker.since;
    this.#worked.set(name, worked);
    this.#worker = undefined;
    this.#next();
  }

  /** Resolves when a contestant may be given something. */
  async turn(name: string): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    this.#waiting.push({ name, go });
    this.#next();
    await promise;
  }

  /** Milliseconds that a contestant has worked, by jobs. */
  worked(name: string): readonly number[] {
    return this.#worked.get(name) ?? [];
  }

  #next(): void {
    if (this.#worker !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#worker = { name: next.name, since: performance.now() };
    next.go();
  }
}
