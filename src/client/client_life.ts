/**
 * How a client starts, stops and closes, and what it waits for then.
 *
 * Over 300 lines because starts, stops, passes and ends change the same few fields.
 *
 * @module
 */

import { IS_TOKEN_DEAD } from "../api/http/mod.ts";
import { ActorStoppedError, isInside, reasonOf, type Supervisor, unwrapped } from "../actors/kernel/mod.ts";
import type { AllAPI } from "../api/api.ts";
import { checkStartOptions, checkSyncOnceOptions, type ClientBasics } from "./client_basics.ts";
import { ClientCore, FirstSync } from "./client_core.ts";
import type { Hold } from "./sessions_api.ts";
import type { QuarantineActors } from "./handlers_api.ts";
import type { TaskActors } from "./sessions_api.ts";
import type { HandlerSessions, SendIds } from "../actors/dispatcher/dispatcher.ts";
import type { OpenStore } from "../actors/store/mod.ts";
import { Passes } from "./passes.ts";
import type { SyncerAPI } from "./syncer_api.ts";
import type { StartOptions, SyncOnceOptions, SyncPass } from "../actors/syncer/syncer.ts";
import type { AccountAPI, SessionAPI } from "../api/account/account.ts";
import { alarm } from "../base/clock.ts";
import { ClientEndedError, ValueError } from "../errors/matrix_error.ts";
import { StoreInUseError } from "../errors/store_error.ts";

/** The operations that begin and stop; `client_operations.ts` makes the plain ones. */
type StartingAPI = Pick<SyncerAPI, "start" | "stop" | "syncOnce">;
/** Those that end the session; `src/api/account/` makes the plain ones. */
type EndingAPI = Pick<SessionAPI, "logout" | "logoutAll"> & Pick<AccountAPI, "deactivateAccount">;

/** How long what need not be stored waits for the device, in milliseconds. */
const PATIENCE = 5_000;
const IN_USE = "Cannot write to the store: this client was stopped, and another process has its device";

/** Begins, stops and ends. */
export class ClientLife implements QuarantineActors, TaskActors {
  /** The actors of now, since {@link ClientLife.begin}. */
  core!: ClientCore;
  /** Syncs for a while, and hands the device back. */
  readonly passes: Passes;
  /** Signals that the first sync has been handled. */
  readonly first: FirstSync;
  /** What `start()` has returned last; undefined: it was not called. */
  syncingTask: Promise<void> | undefined;
  readonly #client: ClientBasics;
  /** The operations that actors are made with. */
  #api!: AllAPI;
  readonly #done = Promise.withResolvers<void>();
  /** Whether there will be no other actors. */
  #isOver = false;
  /** Whether `start()` has thrown why the client can't go on. */
  #isTold = false;
  /** How many calls of `start()` have not ended. */
  #syncing = 0;
  /** The number of starts: only the latest one counts. */
  #starts = 0;
  /** Whether the latest start must not go on, even if a logout fails. */
  #isStopped = false;
  /** Whether the device is being handed back after a start: what comes now takes it again. */
  #isHandingBack = false;
  /** Resolves to whether a logout has ended the session; undefined: there was none since the last start. */
  #leaving: Promise<boolean> | undefined;

  /** @param client What lasts. */
  constructor(client: ClientBasics) {
    this.#client = client;
    this.first = new FirstSync(client.http, client.log);
    this.passes = new Passes(this, client);
    this.done.catch(() => {}).then(() => this.first.reject(this.#ended("wait for the first sync")));
  }

  /**
   * Makes the actors; others, when they have to take their place.
   *
   * @param api The operations.
   */
  begin(api: AllAPI): void {
    this.#api = api;
    this.#make();
  }

  #make(): void {
    this.core = new ClientCore(this.#client, this.#api, this.first);
    this.#follow(this.core);
  }

  /** The Store of now. */
  get store(): ClientCore["store"] {
    return this.core.store;
  }

  /** The Dispatcher of now. */
  get dispatcher(): ClientCore["dispatcher"] {
    return this.core.dispatcher;
  }

  /** The sessions of now. */
  get sessions(): HandlerSessions {
    return this.core.sessions;
  }

  /** What makes transaction IDs now. */
  get sendIds(): SendIds {
    return this.core.sendIds;
  }

  /** Resolves when the client has been closed; rejects when it can't go on. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Whether the client is ending, or has ended. */
  get isStopping(): boolean {
    return this.#isOver || (this.#supervisor.isStopping && !this.#isRenewable);
  }

  /** Ends everything. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.passes.queues.close(); // handlers that wait for a server that is away don't hold it up
    await this.#supervisor.stop();
  }

  /**
   * The actors, when they have the device: new ones if another process has had it since.
   *
   * @param signal Ends the wait for another process.
   */
  async taken(signal?: AbortSignal): Promise<ClientCore> {
    for (;;) {
      await this.#replaced();
      if (this.isStopping) throw this.#ended("sync");
      const { core } = this;
      await core.ready(signal);
      if (await core.store.take(undefined, { signal })) return core;
      this.#renew(core);
    }
  }

  /**
   * Does work that commits to the store. Between passes it takes the device first, for a third of the lease.
   */
  readonly hold: Hold = (work) => this.#isHeld ? work() : this.taken().then(work);

  /** The same, but fails if another process does not let go of the device soon. */
  readonly holdSoon: Hold = async (work) => {
    if (this.#isHeld) return await work();
    const late = new AbortController();
    const inTime = alarm(this.#client.clock, PATIENCE, () => late.abort(new StoreInUseError(IN_USE)));
    await this.taken(late.signal).finally(inTime);
    return await work();
  };

  get #isHeld(): boolean {
    return !this.#isHandingBack && this.#client.holding.mode !== "between" && !this.#isReplacing;
  }

  get #supervisor(): Supervisor {
    return this.core.supervisor;
  }

  /** Whether new actors can take the place of those that have failed. */
  get #isRenewable(): boolean {
    return !this.#isOver && this.#client.holding.mode !== "kept" && !this.#client.http[IS_TOKEN_DEAD];
  }

  /** Opens the store of the actors of now, or of those that are about to take their place. */
  readonly ready: OpenStore = (signal) =>
    this.#isReplacing ? this.#replaced().then(() => this.core.ready(signal)) : this.core.ready(signal);

  async #replaced(): Promise<void> {
    while (this.#isReplacing) await this.#supervisor.done.catch(() => {});
  }

  /** Whether new actors are about to come; what a handler of the old ones does is waited for before. */
  get #isReplacing(): boolean {
    if (this.#client.holding.mode === "kept") return false; // as mostly: then none take their place
    return this.#supervisor.isStopping && this.#isRenewable && !isInside([this.core.dispatcher]);
  }

  #follow(core: ClientCore): void {
    core.supervisor.done.then(() => this.#ending(core, this.#done.resolve), (error) => {
      const { log } = this.#client;
      const isSaid = this.#isTold || this.#syncing > 0;
      if (this.#isRenewable) {
        if (!isSaid) log.warn("The client goes on with new parts: the old ones have failed", { error });
        return this.#renew(core);
      }
      if (!isSaid) log.error("The client has failed", { error });
      this.#ending(core, () => this.#done.reject(error));
    });
  }

  #ending(core: ClientCore, settle: () => void): void {
    if (core !== this.core) return;
    this.#isOver = true;
    settle();
  }

  /** Replaces actors that are of no use any more. */
  #renew(core: ClientCore): void {
    if (core !== this.core) return;
    this.#make();
    void core.supervisor.stop();
  }

  /** The operations of a client, made of the plain ones. */
  api(plain: StartingAPI, ending: EndingAPI): StartingAPI & EndingAPI {
    const leave = <Result>(work: () => Promise<Result>) => this.#leave(plain, work);
    return {
      start: (options) => this.syncingTask = this.#start(plain, options),
      stop: () => this.#stop(plain),
      syncOnce: async (options) => {
        checkSyncOnceOptions(options);
        return await this.pass(options);
      },
      logout: (options) => leave(() => ending.logout(options)),
      logoutAll: (options) => leave(() => ending.logoutAll(options)),
      deactivateAccount: (options) => leave(() => ending.deactivateAccount(options)),
    };
  }

  async #start(plain: StartingAPI, options: StartOptions = {}): Promise<void> {
    checkStartOptions(options);
    if (this.isStopping) throw this.#ended("start");
    const start = ++this.#starts;
    this.#isStopped = false;
    this.#client.log.info(
      "Syncs, until it is stopped: start() resolves then, and client.ready with the first sync",
    );
    this.first.begin();
    this.passes.queues.begin();
    const resumed = () => this.isSyncing ? this.passes.queues.resume() : undefined;
    this.first.handled.then(resumed).catch(() => {}); // the client has ended
    this.#syncing++;
    try {
      const isKept = this.#client.holding.mode === "kept" && !this.#isHandingBack;
      const keeping = isKept ? Promise.resolve() : this.#keep(options.signal);
      await keeping.then(() => this.#sync(plain, options, start)).catch((error) => {
        if (!options.signal?.aborted || error !== options.signal.reason) throw error;
      });
      await this.#rest(start);
    } catch (error) {
      await this.#supervisor.fail("syncer", error); // nothing else ends a sync
      if (!(error instanceof ActorStoppedError)) this.#fail(error);
    } finally {
      this.#syncing--;
    }
    if (this.#supervisor.failure !== undefined) this.#fail(this.#supervisor.failure);
    if (start === this.#starts) this.first.reject(this.#ended("wait for the first sync"));
  }

  /** Takes the device for good, after a start or passes that have handed it back. */
  async #keep(signal: AbortSignal | undefined): Promise<void> {
    this.#client.holding.mode = "kept";
    await this.passes.end();
    await this.taken(signal);
  }

  /** Syncs until it is stopped; a logout that the server refuses stops nothing. */
  async #sync(plain: StartingAPI, options: StartOptions, start: number): Promise<void> {
    if (this.#isStopped) return;
    let hasLeft: boolean | undefined;
    do {
      this.#leaving = undefined;
      await plain.start(options);
      hasLeft = await this.#leaving;
    } while (hasLeft === false && !this.#isStopped && start === this.#starts);
  }

  /** Waits for what the sync has begun, and hands the device back, so that nothing of the client goes on. */
  async #rest(start: number): Promise<void> {
    const { core } = this;
    const { dispatcher, own, housekeeping } = core;
    if (start !== this.#starts) return;
    // A handler that has started the client is one of those to wait for: nothing waits inside it.
    const isEnded = !isInside([dispatcher]) && await this.#inTime(
      dispatcher.noted().then(() => Promise.all([own?.quiet(), housekeeping.tidied()])),
    );
    const { holding } = this.#client;
    if (start !== this.#starts || holding.mode !== "kept") return;
    if (isEnded) return await this.#handBack(core);
    if (core.supervisor.isStopping) return;
    holding.mode = "late";
    void this.passes.leave(core);
  }

  async #handBack({ store, supervisor }: ClientCore): Promise<void> {
    const start = this.#starts;
    const { holding } = this.#client;
    this.#isHandingBack = true;
    try {
      await store.handBack({ hears: false });
    } finally {
      this.#isHandingBack = false;
    }
    // What has failed while it was kept has failed for good.
    if (start === this.#starts && holding.mode === "kept" && !supervisor.isStopping) holding.mode = "between";
  }

  /** Resolves to whether work has ended, within the time that the end of a client has. */
  async #inTime(work: Promise<unknown>): Promise<boolean> {
    const { clock, log, deadline } = this.#client;
    const late = Promise.withResolvers<"late">();
    const inTime = alarm(clock, deadline, () => {
      log.warn("The sync has stopped, but handlers or requests are still at work, and may use the store", {
        deadline,
      });
      late.resolve("late");
    });
    return await Promise.race([work, late.promise]).finally(inTime) !== "late";
  }

  async #stop(plain: StartingAPI): Promise<void> {
    this.#isStopped = true;
    try {
      await plain.stop();
    } catch (error) {
      if (!(error instanceof ActorStoppedError)) throw error;
      await this.#supervisor.stop(); // it has ended, or is about to
    }
  }

  /** Whether the client syncs until it is stopped. */
  get isSyncing(): boolean {
    return this.#syncing > 0 && !this.#isStopped;
  }

  /** The client is in a place where no process stays: it does not keep the device, unless it is started. */
  letGo(): void {
    const { holding } = this.#client;
    if (!this.isSyncing && holding.mode === "kept") holding.mode = "between";
  }

  /** Makes a pass. */
  async pass(options?: SyncOnceOptions): Promise<SyncPass> {
    if (this.isStopping) throw this.#ended("sync");
    if (this.isSyncing) {
      throw new ValueError("Cannot sync once: the client is syncing already; stop() it first");
    }
    return await unwrapped(this.passes.run(options));
  }

  /**
   * Ends the session. Nothing else is sent while it does: the token is about to be void.
   * If it fails, all goes on.
   */
  async #leave<Result>(plain: StartingAPI, work: () => Promise<Result>): Promise<Result> {
    const crypto = this.core.own;
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

  #fail(failure: unknown): never {
    const error = reasonOf(failure);
    this.#isTold = true;
    this.first.reject(error);
    throw error;
  }

  #ended(action: string): ClientEndedError {
    const { isStopping, core: { supervisor: { failure } } } = this;
    if (failure) return new ClientEndedError(`Cannot ${action}: ${failure.message}`, { cause: failure });
    const state = isStopping ? "closed; make a new one" : "stopped before it was handled; start() it";
    return new ClientEndedError(`Cannot ${action}: the client was ${state}`);
  }
}
