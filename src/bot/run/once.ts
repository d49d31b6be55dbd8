/**
 * What was found out once, kept at once: the same when a crash makes the handler run again.
 *
 * @module
 */

import { type Client, defineSession } from "../../../mod.ts";
import type { Run } from "./run.ts";

/** By step, what the handler of an event found out; the record goes when the handler has settled. */
const ONCE = defineSession<{ values: Readonly<Record<string, unknown>> }>({
  name: "bot.once",
  per: () => undefined,
  initial: () => ({ values: {} }),
});

/** Keeps what runs found out. */
export class Once {
  readonly #client: Client;
  readonly #known = new WeakMap<Run, Promise<Readonly<Record<string, unknown>>>>();

  /** @param client Stores it. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Finds something out, and commits it before it is used; after a crash it is read.
   *
   * @param run The run.
   * @param at The place of the step in it.
   * @param work Finds it out; what it returns has to be plain data.
   */
  async value<Result>(run: Run, at: string, work: () => Promise<Result>): Promise<Result> {
    const { deliveryId } = run.context;
    const comesAgain = deliveryId !== undefined && run.after.end === undefined;
    if (!comesAgain) return await work();
    let known = this.#known.get(run);
    if (known === undefined) this.#known.set(run, known = this.#begin(run, deliveryId));
    const values = await known;
    if (at in values) return structuredClone(values[at]) as Result;
    const value = await work();
    await this.#client.sessions.update(
      ONCE,
      deliveryId,
      (state) => ({ values: { ...state.values, [at]: value } }),
    );
    return value;
  }

  /** Undoes what a run has begun that has failed, and forgets what it found out: nobody runs it again. */
  async failed(run: Run): Promise<void> {
    for (const undo of run.atFailure) await undo();
    const { deliveryId } = run.context;
    if (deliveryId === undefined || !this.#known.has(run)) return;
    await this.#client.sessions.end(ONCE, deliveryId);
  }

  async #begin(run: Run, deliveryId: string): Promise<Readonly<Record<string, unknown>>> {
    const kept = await this.#client.sessions.read(ONCE, deliveryId);
    run.context.updateSession(ONCE, deliveryId, () => null);
    return kept?.values ?? {};
  }
}
