/**
 * How a client starts, stops and closes, and what it waits for then.
 *
 * @module
 */

import type { EngineCrypto } from "../actors/crypto/engine_crypto.ts";
import type { Actor, ActorRef, Lifecycle } from "../actors/kernel/actor.ts";
import { ActorStoppedError } from "../actors/kernel/actor_error.ts";
import type { DispatcherProtocol } from "../actors/dispatcher/dispatcher_protocol.ts";
import type { StoreProtocol } from "../actors/store/store_protocol.ts";
import { supervise, type Supervisor } from "../actors/kernel/supervisor.ts";
import type { SyncerAPI } from "./syncer_api.ts";
import type { StartOptions, SyncOnceOptions } from "../actors/syncer/start_options.ts";
import { isInside } from "../actors/kernel/turn_scope.ts";
import type { AccountAPI } from "../api/account/account.ts";
import type { SessionAPI } from "../api/account/session_api.ts";
import type { Clock } from "../base/clock.ts";
import { ClientEndedError } from "../errors/client_ended_error.ts";
import type { Logger } from "../base/log.ts";
import type { SyncResponse } from "../types/events/sync_response.ts";

/** One start's signal after the other. */
export class FirstSync {
  #signal = Promise.withResolvers<void>();
  #isSettled = false;

  constructor() {
    this.#own();
  }

  /**
   * Resolves when it has been handled; rejects if there won't be one. Unread, it causes no
   * unhandled rejection.
   */
  get handled(): Promise<void> {
    return this.#signal.promise;
  }

  /** Begins the next signal. */
  begin(): void {
    if (!this.#isSettled) return;
    this.#signal = Promise.withResolvers();
    this.#isSettled = false;
    this.#own();
  }

  /** It has been handled. */
  resolve(): void {
    this.#isSettled = true;
    this.#signal.resolve();
  }

  /** There won't be any. Without effect if it has been handled. */
  reject(reason: unknown): void {
    this.#isSettled = true;
    this.#signal.reject(reason);
  }

  #own(): void {
    this.#signal.promise.catch(() => {});
  }
}

/** How long each part may take to stop by default, in milliseconds. */
const DEADLINE = 5_000;

/** What of a client its life is made of. */
export interface ClientLifeParts {
  /** The actors, in the order in which data flows. */
  readonly actors: readonly Lifecycle[];
  /** Delivers events to handlers. */
  readonly dispatcher: Actor<DispatcherProtocol>;
  /** Stores the device's records. */
  readonly store: ActorRef<StoreProtocol>;
  /** Encryption, which makes requests of its own; absent: there is none. */
  readonly own: { readonly crypto: Pick<EngineCrypto, "quiet" | "pause" | "resume"> } | undefined;
  /** Prunes records. */
  readonly housekeeping: { tidied(): Promise<void> };
  /** Measures the deadline. */
  readonly clock: Clock;
  /** How long each part may take to stop, in milliseconds. Default: 5,000. */
  readonly deadline?: number;
  /** Logs what takes longer. */
  readonly log: Logger;
}

/** The operations that begin or end something. */
export type LifeAPI =
  & Pick<SyncerAPI, "start" | "stop" | "syncOnce">
  & Pick<SessionAPI, "logout" | "logoutAll">
  & Pick<AccountAPI, "deactivateAccount">;

/** Begins, stops and ends. */
export class ClientLife {
  /** Supervises the actors. */
  readonly supervisor: Supervisor;
  /** Signals that the first sync has been handled. */
  readonly first: FirstSync = new FirstSync();
  readonly #parts: ClientLifeParts;
  readonly #deadline: number;
  /** The number of starts: only the latest one counts. */
  #starts = 0;
  /** Whether the latest start must not go on, even if a logout fails. */
  #isStopped = false;
  /**
   * Resolves to whether a logout has ended the session; undefined: there was none since the last
   * start.
   */
  #leaving: Promise<boolean> | undefined;

  /** @param parts What it is made of. */
  constructor(parts: ClientLifeParts) {
    const { actors, clock, deadline = DEADLINE, log } = parts;
    this.#parts = parts;
    this.#deadline = deadline;
    this.supervisor = supervise(actors, { clock, deadline, log });
    const { done } = this.supervisor;
    const reject = () => this.first.reject(this.#ended("wait for the first sync"));
    done.then(reject, reject);
  }

  /** The operations of a client, made of the plain ones. */
  api(plain: LifeAPI): LifeAPI {
    const leave = <Result>(work: () => Promise<Result>) => this.#leave(plain, work);
    return {
      start: (options) => this.#start(plain, options),
      stop: () => this.#stop(plain),
      syncOnce: (options) => this.#syncOnce(plain, options),
      logout: (options) => leave(() => plain.logout(options)),
      logoutAll: (options) => leave(() => plain.logoutAll(options)),
      deactivateAccount: (options) => leave(() => plain.deactivateAccount(options)),
    };
  }

  async #start(plain: LifeAPI, options: StartOptions = {}): Promise<void> {
    if (this.supervisor.isStopping) throw this.#ended("start");
    const start = ++this.#starts;
    this.#isStopped = false;
    this.first.begin();
    try {
      await this.#sync(plain, options, start);
      await this.#rest(start);
    } catch (error) {
      await this.supervisor.stop(); // nothing else ends a sync
      if (!(error instanceof ActorStoppedError)) this.#fail(error);
    }
    if (this.supervisor.failure !== undefined) this.#fail(this.supervisor.failure);
    if (start === this.#starts) this.first.reject(this.#ended("wait for the first sync"));
  }

  /** Syncs until it is stopped; a logout that the server refuses stops nothing. */
  async #sync(plain: LifeAPI, options: StartOptions, start: number): Promise<void> {
    let hasLeft: boolean | undefined;
    do {
      this.#leaving = undefined;
      await plain.start(options).catch((error) => {
        if (!options.signal?.aborted || error !== options.signal.reason) throw error;
      });
      hasLeft = await this.#leaving;
    } while (hasLeft === false && !this.#isStopped && start === this.#starts);
  }

  /** Waits for what the sync has begun, and lets the store rest from then on. */
  async #rest(start: number): Promise<void> {
    const { dispatcher, store, own, housekeeping } = this.#parts;
    if (start !== this.#starts || isInside([dispatcher])) return; // the handler that started is one of those to wait for
    const handled = dispatcher.ask("noted", undefined);
    await this.#inTime(handled.then(() => Promise.all([own?.crypto.quiet(), housekeeping.tidied()])));
    if (start === this.#starts) await store.ask("rest", undefined);
  }

  async #inTime(work: Promise<unknown>): Promise<void> {
    const { clock, log } = this.#parts;
    const deadline = this.#deadline;
    const isDone = new AbortController();
    const late = clock.delay(deadline, { signal: isDone.signal }).then(() => true, () => false);
    try {
      if (!await Promise.race([work.then(() => false), late])) return;
      log.warn("The sync has stopped, but handlers or requests are still at work, and may use the store", {
        deadline,
      });
    } finally {
      isDone.abort();
    }
  }

  async #stop(plain: LifeAPI): Promise<void> {
    this.#isStopped = true;
    try {
      await plain.stop();
    } catch (error) {
      if (!(error instanceof ActorStoppedError)) throw error;
      await this.supervisor.stop(); // it has ended, or is about to
    }
  }

  async #syncOnce(plain: LifeAPI, options?: SyncOnceOptions): Promise<SyncResponse> {
    if (this.supervisor.isStopping) throw this.#ended("sync");
    this.first.begin();
    return await plain.syncOnce(options);
  }

  /**
   * Ends the session. No requests are sent meanwhile, since the token is about to be void; if it
   * fails, all goes on.
   */
  async #leave<Result>(plain: LifeAPI, work: () => Promise<Result>): Promise<Result> {
    const crypto = this.#parts.own?.crypto;
    const outcome = Promise.withResolvers<boolean>();
    this.#leaving = outcome.promise;
    let hasLeft = false;
    try {
      await plain.stop().catch(() => {}); // it has ended
      await crypto?.pause();
      const result = await work();
      hasLeft = true;
      return result;
    } finally {
      if (!hasLeft) crypto?.resume();
      outcome.resolve(hasLeft);
    }
  }

  #fail(error: unknown): never {
    this.first.reject(error);
    throw error;
  }

  #ended(action: string): ClientEndedError {
    const { failure, isStopping } = this.supervisor;
    if (failure !== undefined) {
      return new ClientEndedError(`Cannot ${action}: ${failure.message}`, { cause: failure });
    }
    const state = isStopping ? "closed; make a new one" : "stopped before it was handled; start() it";
    return new ClientEndedError(`Cannot ${action}: the client was ${state}`);
  }
}
