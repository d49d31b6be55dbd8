/**
 * A bot that is restarted on the same store whenever its process crashes.
 *
 * @module
 */

import { type Client, type ClientOptions, MemoryStore, type StoreEntry } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "./crash.ts";
import type { ClientStage } from "./stage.ts";

/** How long the lease of a crashed process lasts, in milliseconds. */
export const LEASE = 1_000;

/** How long a client waits when the server has nothing new, in milliseconds. */
const IDLE_WAIT = 1_000;
/** After how many rounds time moves on. */
const ROUNDS_BEFORE_WAIT = 50;
/** After how many rounds a test fails. */
const MAX_ROUNDS = 4_000;

/** Options of {@link RestartingBot}. */
export interface RestartingBotOptions {
  /** The faults of its processes, in order; later processes have none. Default: no faults. */
  readonly plans?: readonly FaultPlan[];
  /** Adds its handlers, in each process. */
  readonly setUp: (client: Client, process: TestProcess) => void;
  /** More options of its client. */
  readonly client?: Partial<ClientOptions>;
  /** Its way to the server. Default: straight. */
  readonly fetch?: typeof fetch;
  /** How the next process syncs. Default: as by default. */
  readonly start?: () => Parameters<Client["start"]>[0];
}

/** A user `bot` that syncs. */
export class RestartingBot {
  /** The operations that its processes crashed at. */
  readonly crashes: string[] = [];
  readonly store = new MemoryStore();
  /** What its first process has done. */
  readonly log: OperationLog;
  readonly #stage: ClientStage;
  readonly #options: RestartingBotOptions;
  readonly #plans: FaultPlan[];
  #process: TestProcess;
  client: Client;

  constructor(stage: ClientStage, options: RestartingBotOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#plans = [...options.plans ?? []];
    this.#process = new TestProcess(this.#plans.shift() ?? NO_FAULT);
    this.log = this.#process.log;
    this.client = this.#begin();
  }

  /** Runs until a condition holds, and restarts the bot when it crashes. */
  async until(condition: () => boolean, { processes = 8 } = {}): Promise<void> {
    for (let count = 0; count < processes; count++) {
      for (let round = 1; this.#process.isRunning && !condition(); round++) {
        if (round === MAX_ROUNDS) {
          throw new Error(`It is stuck, ${condition}; it crashed ${this.crashes.join()}`);
        }
        await this.#stage.clock.tick(round % ROUNDS_BEFORE_WAIT === 0 ? IDLE_WAIT : 0);
      }
      if (this.#process.isRunning) return;
      await this.restart();
    }
    throw new Error(`It crashes again and again: ${this.crashes.join()}`);
  }

  /** Runs until it is idle. */
  async settle(): Promise<void> {
    do {
      await this.until(() => true);
      await this.#stage.settle();
    } while (!this.#process.isRunning);
  }

  /** Does something, and again after each crash until it is done. */
  async complete(work: (client: Client) => Promise<unknown>): Promise<void> {
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

  /** Kills its process, unless it has crashed, and starts the next. */
  async restart(): Promise<void> {
    this.#process.kill();
    this.crashes.push(this.#process.crash ?? "");
    this.client.close(); // what still runs of it reaches neither store nor server
    this.#process = new TestProcess(this.#plans.shift() ?? NO_FAULT);
    this.client = this.#begin();
    await this.#stage.clock.tick(LEASE); // a crashed process does not release its lease
  }

  /** The stored records whose keys have this part, in order. */
  async records(part: string): Promise<StoreEntry[]> {
    const found: StoreEntry[] = [];
    for await (const entry of this.store.list([])) if (entry.key.includes(part)) found.push(entry);
    return found;
  }

  #begin(): Client {
    const { homeserver } = this.#stage;
    const client = this.#stage.client("bot", {
      retry: false,
      lease: { duration: LEASE },
      ...this.#options.client,
      store: this.#process.store(this.store),
      fetch: this.#process.fetch(this.#options.fetch ?? homeserver.fetch),
    });
    this.#options.setUp(client, this.#process);
    client.start(this.#options.start?.()).catch(() => {}); // the end of the process
    return client;
  }
}
