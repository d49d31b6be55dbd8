/**
 * The order of what is sent into a room.
 *
 * @module
 */

/** Has what is done in a room done one after the other, in the order in which it was asked for. */
export class RoomOrder {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Does something when all that came before in the room has ended, well or not.
   *
   * @param room The room.
   * @param signal Ends the wait.
   * @param work Does it.
   * @throws What the work throws, or the signal's reason.
   */
  async take<Result>(
    room: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last.get(room);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const mine = before === undefined ? done : before.then(() => done);
    this.#last.set(room, mine);
    try {
      if (before !== undefined) await until(before, signal);
      return await work();
    } finally {
      resolve();
      void mine.then(() => {
        if (this.#last.get(room) === mine) this.#last.delete(room);
      });
    }
  }
}

/** Waits, but no longer than the signal lets it. */
async function until(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await done;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort);
  await Promise.race([done, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
