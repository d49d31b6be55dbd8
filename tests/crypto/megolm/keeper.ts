/** A receiver that keeps what it can't read yet. */

import { assert } from "@std/assert";
import { type RecoveredEvent, UndecryptableEvents } from "../../../src/crypto/megolm/mod.ts";
import type { MessageEvent } from "@greenroom/matrix/types";
import type { TestContextOptions } from "../support/context.ts";
import { ALICE, newDevice, Receiver, ROOM, Sender, told } from "./support.ts";

/** A receiver that keeps what it can't read. */
export class Keeper extends Receiver {
  readonly #bounds: { limit?: number; maxAgeMs?: number };
  undecryptable: UndecryptableEvents;

  constructor(options: TestContextOptions & { limit?: number; maxAgeMs?: number } = {}) {
    super(options);
    this.#bounds = {
      ...(options.limit && { limit: options.limit }),
      ...(options.maxAgeMs && { maxAgeMs: options.maxAgeMs }),
    };
    this.undecryptable = this.#make();
  }

  /** Receives events like those of a sync; returns for each whether it is delivered. */
  sync(...events: MessageEvent[]): Promise<string[]> {
    return this.step(async (tx) => {
      const decrypted = await this.inbound.decryption.decryptAll(tx, events);
      return events.map((event, index) => {
        const result = decrypted[index];
        assert(result);
        if ("event" in result) return this.undecryptable.delivered(tx, event) ? told(result) : "not again";
        return this.undecryptable.add(tx, event, result) ? "kept" : "not kept";
      });
    });
  }

  retry(what: readonly Sender[] | "all"): Promise<RecoveredEvent[]> {
    const sessions = what === "all" ? what : what.map(({ sessionId }) => ({ roomId: ROOM, sessionId }));
    return this.step((tx) => this.undecryptable.retry(tx, sessions));
  }

  settle(recovered: readonly RecoveredEvent[]): Promise<void> {
    return this.step((tx) => this.undecryptable.settle(tx, recovered.map(({ ref }) => ref)));
  }

  async records(): Promise<number> {
    return (await this.vault.list(["crypto", "parked"])).length;
  }

  async reopen(): Promise<void> {
    this.restart();
    this.undecryptable = this.#make();
    await this.step((tx) => this.undecryptable.load(tx));
  }

  #make(): UndecryptableEvents {
    return new UndecryptableEvents(
      this.context,
      { decryptAll: (tx, events) => this.inbound.decryption.decryptAll(tx, events) },
      this.#bounds,
    );
  }
}

export const texts = (recovered: readonly RecoveredEvent[]) =>
  recovered.map(({ event }) => event.content.body);

let strangers = 0;

/** A device of Alice whose key has not come. */
export function stranger(keeper: Receiver): Sender {
  return new Sender(
    keeper,
    keeper.devices.put(newDevice(keeper, ALICE, { deviceId: `DEVICE${++strangers}` })),
  );
}
