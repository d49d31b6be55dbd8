/**
 * One of the processes: it ends or is killed, and is replaced.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { BotProcess } from "../kill/bot_process.ts";
import type { WorkerOrders } from "./worker.ts";

const WORKER = new URL("./worker.ts", import.meta.url);
/** How long a process that has lost its device may take to end once it goes on, in milliseconds. */
const PATIENCE_MS = 120_000;

/** A slot for processes, one after the other. */
export class Slot {
  readonly #name: string;
  readonly #orders: (process: string) => WorkerOrders;
  #process: BotProcess;
  #number = 1;
  /** Whether a fault is under way. */
  isBusy = false;

  /**
   * @param name What its processes are called, before their number.
   * @param orders The orders of a process.
   */
  constructor(name: string, orders: (process: string) => WorkerOrders) {
    this.#name = name;
    this.#orders = orders;
    this.#process = new BotProcess(WORKER, orders(this.process));
  }

  /** The name of the process. */
  get process(): string {
    return `${this.#name}-${this.#number}`;
  }

  /** Replaces the process if it has ended. Returns its name. */
  revive(): string | undefined {
    if (!this.#process.hasEnded) return undefined;
    const { process } = this;
    this.#replace();
    return process;
  }

  /** Pauses the process for a time. */
  async pause(ms: number): Promise<void> {
    this.#process.signal("SIGSTOP");
    await delay(ms);
    this.#process.signal("SIGCONT");
  }

  /** Kills the process, and starts another. */
  async kill(): Promise<void> {
    await this.#process.killAt({ after: 0 });
    this.#replace();
  }

  /**
   * Waits until the process has ended by itself. Returns whether it has.
   */
  async ends(): Promise<boolean> {
    const late = new AbortController();
    const timeout = delay(PATIENCE_MS, { signal: late.signal }).catch(() => {});
    await Promise.race([this.#process.ended, timeout]);
    late.abort();
    return this.#process.hasEnded;
  }

  /** Stops the process cleanly. Returns what it wrote to standard error, if that failed. */
  async stop(): Promise<string | undefined> {
    const { bySelf, stderr } = await this.#process.stop();
    return bySelf ? `${this.process} did not stop cleanly: ${stderr}` : undefined;
  }

  #replace(): void {
    this.#number++;
    this.#process = new BotProcess(WORKER, this.#orders(this.process));
  }
}
