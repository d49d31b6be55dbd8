/**
 * One client of the stub homeserver: what it has been given, and what it may be given.
 *
 * A sync request of a client that has done all that it was told to waits, so that a job ends when
 * the client asks for more.
 *
 * @module
 */

import { tokenAfter } from "../inputs/inputs.ts";
import type { Job } from "../inputs/plan.ts";

/** What the stub saw of a job. */
export interface Seen {
  /** How many responses the client was given; more than there are if it asked for one twice. */
  readonly syncs: number;
}

/** The responses for a client. */
export type Bodies = readonly Uint8Array<ArrayBuffer>[];

/** A client's session. */
export class StubSession {
  readonly #ends: readonly number[];
  #bodies: Bodies | (() => Bodies);
  /** The first response that it may not be given yet. */
  #end: number;
  #given = 0;
  /** The response that it waits for; undefined while it is at work. */
  #waitsFor: number | undefined;
  #released = Promise.withResolvers<void>();
  #arrived = Promise.withResolvers<void>();

  /**
   * @param bodies What it is given, or what makes that when the client waits for the first.
   * @param end How many responses it may be given at once.
   */
  constructor(bodies: Bodies | (() => Bodies), jobs: readonly Job[], end = 0) {
    this.#bodies = bodies;
    this.#end = end;
    let sum = 0;
    this.#ends = jobs.map(({ syncs }) => sum += syncs);
  }

  /** The response to a sync request, when there is to be one. */
  async sync(since: string | null): Promise<Uint8Array<ArrayBuffer>> {
    const index = since === null || since === "" ? 0 : Number.parseInt(since.slice(1));
    if (index !== 0 && since !== tokenAfter(index)) throw new Error(`Cannot sync: ${since} is no token`);
    while (index >= this.#end) {
      this.#waitsFor = index;
      this.#arrived.resolve();
      await this.#released.promise;
    }
    this.#waitsFor = undefined;
    this.#given++;
    const body = this.#made()[index];
    if (body === undefined) throw new Error(`Cannot sync: there is no response after ${since}`);
    return body;
  }

  /** Resolves when the client, having done all it was given, asks for more, and there is more. */
  async idle(): Promise<void> {
    while (this.#waitsFor !== this.#end) {
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
    this.#made();
  }

  /** Lets a job begin, and resolves when the client asks for more with the job's last token. */
  async play(job: number): Promise<Seen> {
    const before = this.#given;
    this.#end = this.#ends[job] ?? this.#end;
    this.#released.resolve();
    this.#released = Promise.withResolvers();
    await this.idle();
    return { syncs: this.#given - before };
  }

  #made(): Bodies {
    return this.#bodies = typeof this.#bodies === "function" ? this.#bodies() : this.#bodies;
  }
}
