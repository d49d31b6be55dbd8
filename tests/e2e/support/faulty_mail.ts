/**
 * Messages to a device that are held back on their way.
 *
 * @module
 */

import { type FaultyNetwork, inTime } from "./faulty_network.ts";

/** A message to a device, as it is on the wire. */
export interface Mail {
  readonly type: string;
  readonly sender: string;
  // deno-lint-ignore no-explicit-any -- what the wire may carry, which tests know
  content: any;
}

/** What a sync response says of the device's own keys; it stands in every one. */
interface OwnKeys {
  device_one_time_keys_count?: unknown;
  device_unused_fallback_key_types?: unknown;
}

const SYNC = /\/sync$/;

/** Takes the messages to a device out of sync responses, and keeps them until they are let through. */
export class HeldMail {
  /** What is held, in order. */
  readonly held: Mail[] = [];
  readonly #rule: Disposable;
  readonly #holds: (mail: Mail) => boolean;
  #ready: Mail[] = [];
  #delivered: PromiseWithResolvers<void> | undefined;
  #isTaken = false;
  #isHolding = true;
  #interrupt = new AbortController();
  #arrival = Promise.withResolvers<void>();
  #ownKeys: OwnKeys = {};

  /**
   * @param network Where the device's syncs pass.
   * @param holds Which messages are held. Default: all.
   */
  constructor(network: FaultyNetwork, holds: (mail: Mail) => boolean = () => true) {
    this.#holds = holds;
    this.#rule = network.on(SYNC, async (request, forward) => {
      const since = new URL(request.url).searchParams.get("since");
      if (this.#isTaken) this.#delivered?.resolve();
      if (since !== null && this.#ready.length > 0) return this.#deliver(since);
      const signal = AbortSignal.any([request.signal, this.#interrupt.signal]);
      try {
        const response = await forward(new Request(request, { signal }));
        return response.ok ? this.#sift(await response.json()) : response;
      } catch (error) {
        if (since === null || request.signal.aborted || this.#ready.length === 0) throw error;
        return this.#deliver(since);
      }
    });
  }

  /** Waits until so many messages are held. */
  async until(count: number): Promise<void> {
    while (this.held.length < count) {
      await inTime(this.#arrival.promise, `message ${this.held.length + 1} of ${count} to a device`);
    }
  }

  /**
   * Lets what is held through, in a sync response of its own and at once.
   *
   * @param options.arrange Puts it in another order, or changes it.
   * @param options.goOn Whether what comes later is held as well. Default: it is not.
   * @returns Resolves when the device asks for the next response, having taken in this one.
   */
  release(
    { arrange = (mails) => mails, goOn = false }: { arrange?: (mails: Mail[]) => Mail[]; goOn?: boolean } =
      {},
  ): Promise<void> {
    this.#ready.push(...arrange(this.held.splice(0)));
    this.#isHolding = goOn;
    this.#isTaken = this.#ready.length === 0;
    this.#delivered = Promise.withResolvers();
    this.#interrupt.abort();
    this.#interrupt = new AbortController();
    return inTime(this.#delivered.promise, "the sync after messages to a device");
  }

  /** Ends the rule; what is held is lost. */
  [Symbol.dispose](): void {
    this.#rule[Symbol.dispose]();
  }

  // deno-lint-ignore no-explicit-any -- a sync response
  #sift(answer: any): Response {
    const { device_one_time_keys_count, device_unused_fallback_key_types } = answer;
    this.#ownKeys = { device_one_time_keys_count, device_unused_fallback_key_types };
    const mails: Mail[] = answer.to_device?.events ?? [];
    const through = mails.filter((mail) => !this.#isHolding || !this.#holds(mail));
    this.held.push(...mails.filter((mail) => !through.includes(mail)));
    answer.to_device = { events: [...this.#take(), ...through] };
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
    return Response.json(answer);
  }

  #deliver(since: string): Response {
    return Response.json({ next_batch: since, to_device: { events: this.#take() }, ...this.#ownKeys });
  }

  #take(): Mail[] {
    this.#isTaken = true;
    return this.#ready.splice(0);
  }
}
