/**
 * What a handler finds out once: kept in a session of its own, so that it is the same when a crash makes the
 * handler run again.
 *
 * @module
 */

import { type Client, defineSession } from "../../../mod.ts";
import type { Run } from "./run.ts";
import type { Scene } from "./run_record.ts";

/** By step, what the handler of an event found out; the record goes when the handler has settled. */
const ONCE = defineSession<{ values: Readonly<Record<string, unknown>> }>({
  name: "bot.once",
  per: () => undefined,
  initial: () => ({ values: {} }),
});

/** The place of the scene among what a run found out. */
const SCENE = "scene";

/** Keeps what runs found out. */
export class Once {
  readonly #client: Client;
  readonly #known = new WeakMap<Run, Promise<Readonly<Record<string, unknown>>>>();
  /** By delivery, what room and sender were called for a run that has changed it, until that has ended. */
  readonly #scenes = new Map<string, Scene>();

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
    const comesAgain = deliveryId !== undefined && run.end === undefined;
    if (!comesAgain) return await work();
    let known = this.#known.get(run);
    if (known === undefined) this.#known.set(run, known = this.#begin(run, deliveryId));
    const values = await known;
    if (at in values) return structuredClone(values[at]) as Result;
    run.time.check();
    const value = await work();
    if (run.time.isOver) return value; // nobody would remove it
    await this.#client.sessions.update(
      ONCE,
      deliveryId,
      (state) => ({ values: { ...state.values, [at]: value } }),
    );
    return value;
  }

  /** Reads what runs have left that a crash has cut off. */
  async restore(): Promise<void> {
    for await (const { key, state: { values: { [SCENE]: scene } } } of this.#client.sessions.list(ONCE)) {
      if (scene !== undefined) this.#scenes.set(String(key), scene as Scene);
    }
  }

  /** What room and sender were called when a run began that was cut off, and is called again. */
  sceneOf({ context }: Run): Scene | undefined {
    if (this.#scenes.size === 0) return undefined; // mostly: then the delivery needs no name
    const scene = this.#scenes.get(context.deliveryId ?? "");
    return scene && { ...scene };
  }

  /** Commits what room and sender are called, before a run changes it. */
  async keepScene(run: Run, scene: Scene | undefined): Promise<void> {
    const { deliveryId } = run.context;
    if (scene === undefined || deliveryId === undefined || this.#scenes.has(deliveryId)) return;
    const kept = await this.value(run, SCENE, () => Promise.resolve({ ...scene }));
    if (run.end === undefined) this.#scenes.set(deliveryId, kept); // else nobody would forget it
  }

  /** Forgets a run that has ended, and been committed. */
  ended({ context: { deliveryId = "" } }: Run): void {
    this.#scenes.delete(deliveryId);
  }

  /** Undoes what a run has begun that has failed, and forgets what it found out: nobody runs it again. */
  async failed(run: Run): Promise<void> {
    this.ended(run);
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
