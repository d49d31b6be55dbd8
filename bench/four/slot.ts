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
const PATIENCE_MS = 30_000;

/** A place. */
export class Slot {
  readonly #name: string;
  readonly #orders: (process: string) => WorkerOrders;
  #process: BotProcess;
  #number = 1;
  /** Whether something is done to it. */
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

  /** What the process is called. */
  get process(): string {
    return `${this.#name}-${this.#number}`;
  }

  /** Replaces the process if it has ended. Returns what that was called. */
  revive(): string | undefined {
    if (!this.#process.hasEnded) return undefined;
    const { process } = this;
    this.#replace();
    return process;
  }

  /** Stops the process where it is, for a time, and has it go on. */
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
   * Waits until the process has ended by itself, which it must have reason to. Says whether it has.
   */
  async ends(): Promise<boolean> {
    const late = new AbortController();
    const timeout = delay(PATIENCE_MS, { signal: late.signal }).catch(() => {});
    await Promise.race([this.#process.ended, timeout]);
    late.abort();
    return this.#process.hasEnded;
  }

  /** Has the process stop in good order. Returns what it wrote to standard error, if it did not. */
  async stop(): Promise<string | undefined> {
    const { bySelf, stderr } = await this.#process.stop();
    return bySelf ? `${this.process} did not stop in good order: ${stderr}` : undefined;
  }

  #replace(): void {
    this.#number++;
    this.#process = new BotProcess(WORKER, this.#orders(this.process));
  }
}
