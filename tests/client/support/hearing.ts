/**
 * A bot that records messages, and handlers that run for as long as a test wants.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { RestartingBot, type RestartingBotOptions } from "./restarting_bot.ts";
import { type ClientStage, clientStage } from "./stage.ts";

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
  const processes: string[][] = [];
  const setUp = (client: Client): void => {
    const texts: string[] = [];
    processes.push(texts);
    for (const name of names) {
      client.on("m.room.message", async ({ content: { body } }) => {
        texts.push(body);
        if (body.startsWith("slow")) await gates.at(body);
      }, { name });
    }
  };
  return { texts: processes, setUp };
}

/** Alice, and a bot that has joined her room. */
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

/** A bot that records texts, in a room with Alice. */
export async function recordingBot(
  { names, client }: {
    readonly names?: readonly string[];
    readonly client?: RestartingBotOptions["client"];
  } = {},
) {
  const disposal = new AsyncDisposableStack();
  const here = disposal.use(clientStage());
  const gates = disposal.use(new Gates());
  const { texts, setUp } = hearing(gates, names);
  const bot = new RestartingBot(here, { setUp, client });
  const { alice, id } = await roomWith(here, bot);
  return { here, gates, texts, bot, alice, id, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}
