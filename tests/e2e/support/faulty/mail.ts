/**
 * Messages to a device that are held back on their way.
 *
 * @module
 */

import { within } from "../deadline.ts";
import type { FaultyNetwork } from "./network.ts";

/** A message to a device, as it is on the wire. */
export interface Mail {
  readonly type: string;
  readonly sender: string;
  // deno-lint-ignore no-explicit-any -- what the wire may carry, which tests know
  content: any;
}

const SYNC = /\/sync$/;

/**
 * Takes the messages to a device out of sync responses, and keeps them until they are let through.
 */
export class HeldMail {
  /** What is held, in order. */
  readonly held: Mail[] = [];
  readonly #network: FaultyNetwork;
  readonly #rule: Disposable;
  readonly #ready: Mail[] = [];
  #isHolding = true;
  #arrival = Promise.withResolvers<void>();
  #delivery = Promise.withResolvers<void>();

  /**
   * @param network Where the device's syncs pass.
   * @param holds Which messages are held. Default: all.
   */
  constructor(network: FaultyNetwork, holds: (mail: Mail) => boolean = () => true) {
    this.#network = network;
    this.#rule = network.changing(SYNC, (answer) => {
      const mails: Mail[] = answer.to_device?.events ?? [];
      const through = mails.filter((mail) => !this.#isHolding || !holds(mail));
      this.held.push(...mails.filter((mail) => !through.includes(mail)));
      const released = this.#ready.splice(0);
      answer.to_device = { events: [...released, ...through] };
      if (released.length > 0) {
        // Nothing else may be new, and with the token it would be taken for the response that it
        // has.
        answer.next_batch += "~";
        void this.#confirm();
      }
      this.#arrival.resolve();
      this.#arrival = Promise.withResolvers();
    });
  }

  /** Waits until so many messages are held. */
  async until(count: number): Promise<void> {
    while (this.held.length < count) {
      await within(this.#arrival.promise, `message ${this.held.length + 1} of ${count} to a device`);
    }
  }

  /**
   * Lets what is held through, at once.
   *
   * @param options.arrange Puts it in another order, or changes it.
   * @param options.goOn Whether what comes later is held as well. Default: it is not.
   * @returns Resolves when the device asks for the next response, having taken in this one.
   */
  async release(
    { arrange = (mails) => mails, goOn = false }: { arrange?: (mails: Mail[]) => Mail[]; goOn?: boolean } =
      {},
  ): Promise<void> {
    this.#ready.push(...arrange(this.held.splice(0)));
    this.#isHolding = goOn;
    this.#delivery = Promise.withResolvers();
    this.#network.interruptSync();
    await this.#delivery.promise;
  }

  /** Ends the rule; what is held is lost. */
  [Symbol.dispose](): void {
    this.#rule[Symbol.dispose]();
  }

  async #confirm(): Promise<void> {
    const { resolve, reject } = this.#delivery;
    await this.#network.next(({ path }) => path.includes("/sync?")).then(() => resolve(), reject);
  }
}
