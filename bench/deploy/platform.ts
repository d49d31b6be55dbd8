/**
 * A platform where no process stays: it starts instances for requests, several at once, stops them
 * soon after the last byte of an answer, and evicts some in the middle of what they do.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { oneOf, type Random } from "../kill/random.ts";
import { Instance } from "./instance.ts";

/** How a platform treats its instances. */
export interface PlatformOptions {
  /** The environment of the app. */
  readonly env: Record<string, string>;
  /** Decides. */
  readonly random: Random;
  /** How many instances there are at once, at most. */
  readonly instances: number;
  /** How often an instance that has been given a request is evicted, from 0 to 1. */
  readonly evictions: number;
}

/** How long an instance stays after its last answer, in milliseconds. */
const IDLE_MS = 5_000;
/** When an instance is evicted, after it got a request, at the latest; in milliseconds. */
const EVICTION_MS = 800;
/** How often a request goes to another instance too, as a retry or a tick of cron would. */
const DOUBLES = 0.5;
/** How often a request is given to a new instance. */
const COLD = 0.35;
/** How often cron has a pass made that nobody asks for, in milliseconds: Deploy does that every minute. */
const TICK_MS = 20_000;
/** What a tick of cron names in place of an event: nothing that was handled. */
const TICK = "$tick";

/** The platform. */
export class Platform implements AsyncDisposable {
  /** What has happened. */
  readonly counts = { requests: 0, ticks: 0, starts: 0, evicted: 0, idled: 0, atOnce: 0, refused: 0 };
  /** How long starts took, in milliseconds. */
  readonly starts: number[] = [];
  /** What instances wrote to standard error. */
  readonly told: string[] = [];
  /** Whether it evicts nobody any more. */
  isCalm = false;
  readonly #options: PlatformOptions;
  readonly #instances = new Set<Instance>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #idle = new Map<Instance, ReturnType<typeof setTimeout>>();
  readonly #cron: ReturnType<typeof setInterval>;
  /** The latest notification, and where it goes. */
  #latest: { readonly pathname: string; readonly body: Uint8Array<ArrayBuffer> } | undefined;

  /** @param options How it treats instances. */
  constructor(options: PlatformOptions) {
    this.#options = options;
    this.#cron = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Answers a request by an instance. */
  async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    this.counts.requests++;
    this.#latest = { pathname, body };
    if (this.#options.random() < DOUBLES) this.#do(this.#forward(pathname, body));
    const response = await this.#forward(pathname, body);
    if (response.status !== 200) this.counts.refused++;
    return response;
  }

  /** Stops all instances. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#cron);
    for (const timer of this.#idle.values()) clearTimeout(timer);
    await Promise.all([...this.#instances].map((instance) => instance.kill()));
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    for (const timer of this.#idle.values()) clearTimeout(timer);
  }

  /**
   * Has a pass made as the app's cron does, for what nobody tells of: a homeserver takes what an instance
   * sends for a sign that the user has read all before it, and waits ever longer when instances are evicted.
   */
  #tick(): void {
    if (this.#latest === undefined) return;
    this.counts.ticks++;
    const { pathname, body } = this.#latest;
    const { notification } = JSON.parse(new TextDecoder().decode(body));
    const tick = JSON.stringify({ notification: { ...notification, event_id: TICK } });
    this.#do(this.#forward(pathname, new TextEncoder().encode(tick)));
  }

  async #forward(path: string, body: Uint8Array<ArrayBuffer>): Promise<Response> {
    const { random, evictions } = this.#options;
    const instance = this.#choose();
    clearTimeout(this.#idle.get(instance));
    if (!this.isCalm && random() < evictions) this.#do(this.#evict(instance, random() * EVICTION_MS));
    try {
      return await instance.answer(path, body);
    } catch {
      return new Response("evicted", { status: 502 });
    } finally {
      if (instance.busy === 0 && !instance.isOver) {
        clearTimeout(this.#idle.get(instance));
        this.#idle.set(instance, setTimeout(() => this.#do(this.#stop(instance)), IDLE_MS));
      }
    }
  }

  /** An instance for a request: any, or a new one. */
  #choose(): Instance {
    const { random, instances, env } = this.#options;
    const alive = [...this.#instances].filter(({ isOver }) => !isOver);
    if (alive.length > 0 && (alive.length >= instances || random() >= COLD)) {
      return oneOf(random, alive as [Instance, ...Instance[]]);
    }
    const instance = new Instance(env);
    this.#instances.add(instance);
    this.counts.starts++;
    this.counts.atOnce = Math.max(this.counts.atOnce, alive.length + 1);
    this.#do(instance.ready.then((ms) => this.starts.push(ms)).catch(() => {}));
    this.#do(
      instance.told().then((text) => {
        this.#instances.delete(instance);
        if (text !== "") this.told.push(text);
      }),
    );
    return instance;
  }

  async #evict(instance: Instance, after: number): Promise<void> {
    await instance.ready.catch(() => {});
    await delay(after);
    if (instance.isOver) return;
    this.counts.evicted++;
    await instance.kill();
  }

  async #stop(instance: Instance): Promise<void> {
    if (instance.busy > 0 || instance.isOver) return;
    this.counts.idled++;
    await instance.stop();
  }

  #do(task: Promise<unknown>): void {
    const done: Promise<unknown> = task.finally(() => this.#tasks.delete(done));
    this.#tasks.add(done);
  }
}
