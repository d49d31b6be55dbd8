/**
 * A bot whose process is begun anew on the same store whenever it ends.
 *
 * @module
 */

import { type Client, type ClientOptions, type KvEntry, MemoryStore } from "@greenroom/matrix";
import { type CrashPlan, Life, NO_CRASH } from "./crash.ts";
import type { ClientStage } from "./stage.ts";

/** For how long the device is left alone when a process has ended, in milliseconds. */
export const LEASE = 1_000;

/** How long a client waits when the server tells nothing new, in milliseconds. */
const IDLE_WAIT = 1_000;
/** How many rounds something may take before time goes on, and at all. */
const [PATIENCE, MAX_ROUNDS] = [50, 4_000];

/** What a {@link MortalBot} is made of. */
export interface MortalBotOptions {
  /** When its processes end, one after the other; those that follow do not. Default: none does. */
  readonly plans?: readonly CrashPlan[];
  /** Adds its handlers, in each life. */
  readonly setUp: (client: Client, life: Life) => void;
  /** More of its client. */
  readonly client?: Partial<ClientOptions>;
}

/** A user `bot` that syncs. */
export class MortalBot {
  /** What its processes were doing when they ended. */
  readonly epitaphs: string[] = [];
  readonly store = new MemoryStore();
  readonly #stage: ClientStage;
  readonly #options: MortalBotOptions;
  readonly #plans: CrashPlan[];
  #life: Life;
  client: Client;

  constructor(stage: ClientStage, options: MortalBotOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#plans = [...options.plans ?? []];
    this.#life = new Life(this.#plans.shift() ?? NO_CRASH);
    this.client = this.#begin();
  }

  /** Lives, as often as that takes, until something has happened. */
  async until(condition: () => boolean, { lives = 8 } = {}): Promise<void> {
    for (let life = 0; life < lives; life++) {
      for (let round = 1; this.#life.epitaph === undefined && !condition(); round++) {
        if (round === MAX_ROUNDS) {
          throw new Error(`It is stuck, ${condition}; it ended ${this.epitaphs.join()}`);
        }
        await this.#stage.clock.tick(round % PATIENCE === 0 ? IDLE_WAIT : 0);
      }
      if (this.#life.epitaph === undefined) return;
      await this.rise();
    }
    throw new Error(`It dies again and again: ${this.epitaphs.join()}`);
  }

  /** Lives on until it has nothing to do any more. */
  async settle(): Promise<void> {
    do {
      await this.until(() => true);
      await this.#stage.settle();
    } while (this.#life.epitaph !== undefined);
  }

  /** Does something that may be done twice, in as many lives as that takes. */
  async survive(work: (client: Client) => Promise<unknown>): Promise<void> {
    let isDone = false;
    while (!isDone) {
      const { client } = this;
      let failure: unknown;
      let isOver = false;
      work(client).then(() => isDone = true, (error) => failure = error).finally(() => isOver = true);
      await this.until(() => isOver || client !== this.client);
      if (failure !== undefined && client === this.client) throw failure;
    }
  }

  /** Ends its process now, if it has not ended, and begins the next. */
  async rise(): Promise<void> {
    this.#life.end();
    this.epitaphs.push(this.#life.epitaph ?? "");
    this.client.close(); // what is left of it finds neither store nor server
    this.#life = new Life(this.#plans.shift() ?? NO_CRASH);
    this.client = this.#begin();
    await this.#stage.clock.tick(LEASE); // who has ended can't let go of the device
  }

  /** What is kept under keys with this part, in order. */
  async kept(part: string): Promise<KvEntry[]> {
    const found: KvEntry[] = [];
    for await (const entry of this.store.list([])) if (entry.key.includes(part)) found.push(entry);
    return found;
  }

  #begin(): Client {
    const { homeserver } = this.#stage;
    const client = this.#stage.client("bot", {
      retry: false,
      lease: { duration: LEASE },
      ...this.#options.client,
      store: this.#life.store(this.store),
      fetch: this.#life.fetch(homeserver.fetch),
    });
    this.#options.setUp(client, this.#life);
    client.start().catch(() => {}); // the end of the process
    return client;
  }
}
