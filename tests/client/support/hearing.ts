/**
 * A bot that records messages, and handlers that run for as long as a test wants.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import type { RestartingBot } from "./restarting_bot.ts";
import type { ClientStage } from "./stage.ts";

/**
 * Handlers that are at work until the test says so, at the latest at its end: a client that is
 * closed waits for them.
 */
export class Gates implements Disposable {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves when it is opened. */
  at(name: string): Promise<void> {
    return this.#gate(name).promise;
  }

  open(name: string): void {
    this.#gate(name).resolve();
  }

  [Symbol.dispose](): void {
    for (const { resolve } of this.#gates.values()) resolve();
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

/**
 * Has a bot hear, in each life; texts that begin with `slow` are at work until their gate is
 * opened.
 */
export function hearing(gates: Gates, names: readonly (string | undefined)[] = [undefined]) {
  const lives: string[][] = [];
  const setUp = (client: Client): void => {
    const texts: string[] = [];
    lives.push(texts);
    for (const name of names) {
      client.on("m.room.message", async ({ content: { body } }) => {
        texts.push(body);
        if (body.startsWith("slow")) await gates.at(body);
      }, { name });
    }
  };
  return { texts: lives, setUp };
}

/** Alice, and a bot in a room of hers, which has handled that it came. */
export async function roomWith(
  stage: ClientStage,
  bot: RestartingBot,
): Promise<{ alice: Client; id: RoomID }> {
  const alice = stage.client("alice");
  const id = await alice.createRoom({ preset: "public_chat" });
  await bot.client.joinRoom(id);
  await bot.settle();
  return { alice, id };
}
