/**
 * A process of a simulated device: what it does to the outside, when that happens, and how it ends.
 *
 * Over 300 lines because all that can become of what a process does is told in one place.
 *
 * @module
 */

import type { Clock, Store, StoreMutation } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import { concat } from "@std/bytes/concat";
import type { Operation } from "../../../tests/client/support/crash.ts";
import { kindsOf } from "../../../tests/client/support/operation_names.ts";
import type { Chance } from "../core/chance.ts";
import type { Timeline } from "../core/timeline.ts";
import { commitName, pathName } from "./operations.ts";

/** Something that goes wrong with what a process does. */
export interface Fault {
  readonly operation: Operation;
  /** Only operations of this name count; undefined: all do. */
  readonly subject?: string;
  /** Operations of these names do not count. Default: all do. */
  readonly spares?: ReadonlySet<string>;
  /** How many operations of the kind come before. */
  readonly after: number;
  /** Whether what it was about to do takes effect: then only the answer is lost. */
  readonly takesEffect: boolean;
  /** Whether the process ends, or is given an error. */
  readonly kind: "crash" | "error";
}

/** What a process is made of. */
export interface ProcessOptions {
  /** Names it in the trace. */
  readonly name: string;
  readonly timeline: Timeline;
  readonly chance: Chance;
  /** How far its clock is from the true time, in milliseconds. */
  readonly skew: () => number;
  /** Takes what is done, and what goes wrong with it. */
  readonly onOperation: (operation: Operation, subject: string, fault: Fault | undefined) => void;
  /** Says what has lain in wait for an operation, if anything has. */
  readonly ambush: (operation: Operation, subject: string) => Pick<Fault, "kind" | "takesEffect"> | undefined;
  /** Takes what goes wrong, and with what. */
  readonly onFault: (fault: Fault, what: string) => void;
  /** Takes what it asks the server for when it asks more often than any client has to. */
  readonly onHurry: (name: string) => void;
}

/** How operations of the store are named. */
const STORING: ReadonlySet<string> = new Set(["read", "commit"]);
/** Of so many operations of the store, one takes time. */
const SLOW_STORE = 3;
/** How long that takes at most, one way, in milliseconds; of so many, one takes twenty times as long. */
const [STORE_TIME, BUSY_STORE] = [4, 32];
/**
 * How long a request is on its way at most, one way, in milliseconds;
 * of so many, one takes ten times as long.
 */
const [NETWORK_TIME, SLOW_NETWORK] = [30, 16];

/** How many requests a process may make within a minute: in 300 worlds none made more than 131. */
const [MOST_ASKED, MINUTE] = [500, 60_000];

/** A process. When it has ended, nothing of it goes on: what it waited for never comes. */
export class Process {
  /** Its clock. */
  readonly clock: Clock;
  /** When it began. */
  readonly begunAt: number;
  readonly #options: ProcessOptions;
  readonly #pending = new Map<object, string>();
  /** What has come for a process that is paused; undefined if it runs. */
  #held: (() => void)[] | undefined;
  readonly #ended = Promise.withResolvers<void>();
  /** Since when its requests are counted, and how many there were. */
  #asked = { since: -Infinity, count: 0 };
  #faults: (Fault & { left: number })[] = [];
  /** Whether it has not ended. */
  isAlive = true;
  /** With what it has to fail, which an action has made unavoidable. */
  // deno-lint-ignore no-explicit-any -- any class of errors
  excuse: readonly (new (...args: any[]) => Error)[] | undefined;
  /** Whether it has stood still, at least by its clock, so that another may have taken its place. */
  hasStoodStill = false;
  /** How many handlers of its application are at work. */
  handlers = 0;
  /** Whether one of its commits was made to fail. */
  hasLostCommit = false;
  /** When it first asked the server what is new; infinity: it has not. */
  askedAt = Infinity;
  /** Whether the server has said so. */
  isTold = false;

  /** @param options What it is made of. */
  constructor(options: ProcessOptions) {
    this.#options = options;
    this.begunAt = options.timeline.now;
    this.clock = {
      now: () => options.timeline.now + options.skew(),
      delay: (ms, how) => this.#delay(ms, how),
    };
  }

  /** What it does with its store. */
  get storing(): string[] {
    return this.#pending.values().filter((what) => STORING.has(what)).toArray();
  }

  /** Whether it stands still. */
  get isPaused(): boolean {
    return this.#held !== undefined;
  }

  /** Resolves when it has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Ends it as `kill -9` does. */
  kill(): void {
    this.isAlive = false;
    this.#ended.resolve();
    this.#pending.clear();
  }

  /** Has it stand still. */
  pause(): void {
    this.hasStoodStill = true;
    this.#held ??= [];
  }

  /** Has it go on, with what has come meanwhile. */
  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const each of held) if (this.isAlive) each();
  }

  /** Has something go wrong with one of the next operations. */
  plan(fault: Fault): void {
    this.#faults.push({ ...fault, left: fault.after });
  }

  /** Has nothing go wrong any more. */
  clearFaults(): void {
    this.#faults = [];
  }

  /** A store, as this process has it. */
  store(inner: Store, onCommit: (mutations: readonly StoreMutation[]) => void): Store {
    const read = <T>(work: () => T | Promise<T>): Promise<T> =>
      this.#operate("read", () => Promise.resolve(work()));
    return {
      getMany: (keys) => read(() => inner.getMany(keys)),
      list: (prefix, options) => this.#listed(() => read(() => Array.fromAsync(inner.list(prefix, options)))),
      commit: (mutations, checks) =>
        this.#does("commit", kindsOf(mutations), async () => {
          const held = await inner.commit(mutations, checks);
          if (held) onCommit(mutations);
          return held;
        }, (effect) => this.#operate("commit", effect)),
      close: () => {},
    };
  }

  /** The way to the server, as this process has it. */
  fetch(send: (request: SentRequest) => Promise<Response>): typeof fetch {
    const ask = (
      url: URL,
      init: RequestInit,
      body: Pick<SentRequest, "body" | "bytes">,
    ): Promise<Response> => {
      const { method = "GET", signal, headers } = init;
      const name = `${method} ${pathName(url.pathname)}`;
      this.#count(name);
      const operation = url.pathname.endsWith("/sync") ? "sync" : "request";
      if (operation === "sync") this.askedAt = Math.min(this.askedAt, this.#options.timeline.now);
      const request = {
        url,
        method,
        headers: headers ?? {},
        ...body,
        isSpared: this.excuse !== undefined,
      };
      return this.#does(
        operation,
        name,
        () => send(request),
        (effect) => this.#ask(name, effect, signal ?? undefined),
      );
    };
    return (input, init = {}) => {
      const { body } = init;
      const url = new URL(String(input));
      if (!(body instanceof Blob)) {
        return ask(url, init, { body: typeof body === "string" ? body : undefined });
      }
      return Array.fromAsync(body.stream()).then((parts) =>
        ask(url, init, { body: undefined, bytes: concat(parts) })
      );
    };
  }

  #count(name: string): void {
    const { timeline: { now }, onHurry } = this.#options;
    if (now - this.#asked.since >= MINUTE) this.#asked = { since: now, count: 0 };
    if (++this.#asked.count === MOST_ASKED && this.isAlive) onHurry(name);
  }

  /** Does something, or has it go wrong. */
  #does<T>(
    operation: Operation,
    what: string,
    work: () => Promise<T>,
    carryOut: (effect: () => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const { onFault } = this.#options;
    const subject = operation === "commit" ? commitName(what) : what;
    const fault = this.isAlive
      ? this.#strike(operation, subject) ?? this.#ambush(operation, subject)
      : undefined;
    this.#options.onOperation(operation, subject, fault);
    if (fault === undefined) return carryOut(work);
    onFault(fault, what);
    const { kind, takesEffect } = fault;
    if (kind === "crash") {
      if (takesEffect) work().catch(() => {});
      this.kill();
      return new Promise(() => {});
    }
    if (operation === "commit") this.hasLostCommit = true;
    const failure = () => {
      // As stores say it, and as `fetch` does.
      const Failure = operation === "commit" ? StoreError : TypeError;
      return new Failure(`the answer to a ${operation} got lost`);
    };
    return carryOut(async () => {
      if (takesEffect) await work();
      throw failure();
    });
  }

  #strike(operation: Operation, subject: string): Fault | undefined {
    const fault = this.#faults.find((each) =>
      each.operation === operation && (each.subject ?? subject) === subject && !each.spares?.has(subject)
    );
    if (fault === undefined || fault.left-- > 0) return undefined;
    this.#faults.splice(this.#faults.indexOf(fault), 1);
    return fault;
  }

  #ambush(operation: Operation, subject: string): Fault | undefined {
    const fault = this.#options.ambush(operation, subject);
    return fault && { ...fault, operation, subject, after: 0 };
  }

  /** An operation of the store: most take no time. */
  async #operate<T>(what: string, effect: () => Promise<T>): Promise<T> {
    if (!this.isAlive) return await new Promise<never>(() => {});
    const { timeline, chance } = this.#options;
    if (this.#held === undefined && chance.below(SLOW_STORE) > 0) {
      const result = await effect();
      return this.isAlive && !this.isPaused ? result : await this.#answer(what, Promise.resolve(result));
    }
    const busy = chance.below(BUSY_STORE) === 0 ? 20 : 1;
    const [there, back] = [chance.below(STORE_TIME) * busy, chance.below(STORE_TIME) * busy];
    const { promise, resolve } = Promise.withResolvers<Promise<T>>();
    timeline.schedule(there, "", () => {
      const result = effect();
      result.catch(() => {});
      timeline.schedule(back, "", () => resolve(result));
    });
    return await this.#answer(what, promise);
  }

  /** A request, which arrives whatever becomes of the process. */
  #ask<T>(name: string, effect: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!this.isAlive) return new Promise(() => {});
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { timeline, chance, name: who } = this.#options;
    const [there, back] = [this.#travel(chance), this.#travel(chance)];
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    timeline.schedule(there, `${who}: ${name}`, () => {
      timeline.instant();
      effect().then(
        (value) => timeline.schedule(back, `${who}: answer to ${name}`, () => resolve(value)),
        (error) => timeline.schedule(back, `${who}: no answer to ${name}`, () => reject(error)),
      );
    });
    return this.#answer(name, promise.finally(() => signal?.removeEventListener("abort", abort)));
  }

  #travel(chance: Chance): number {
    return chance.below(NETWORK_TIME) * (chance.below(SLOW_NETWORK) === 0 ? 10 : 1);
  }

  #delay(ms: number, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(ms > 0)) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = this.#options.timeline.schedule(ms, "", resolve);
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    const over = promise.finally(() => signal?.removeEventListener("abort", abort));
    return this.#answer(`a wait of ${ms} ms`, over);
  }

  /** Gives the process what came of something, if it is still there, and when it is not paused. */
  #answer<T>(what: string, outcome: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const token = {};
    this.#pending.set(token, what);
    const deliver = (give: () => void): void => {
      if (!this.isAlive) return;
      if (this.#held !== undefined) return void this.#held.push(() => deliver(give));
      this.#pending.delete(token);
      give();
    };
    outcome.then((value) => deliver(() => resolve(value)), (error) => deliver(() => reject(error)));
    return promise;
  }

  async *#listed<T>(read: () => Promise<T[]>): AsyncGenerator<T> {
    yield* await read();
  }
}

/** A request as a process sends it. */
export interface SentRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: HeadersInit;
  /** Its body, if that is text. */
  readonly body: string | undefined;
  /** Its body, if that is a file. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Whether a hostile server answers it as it should: it can't be refused by one that hides why. */
  readonly isSpared: boolean;
}
