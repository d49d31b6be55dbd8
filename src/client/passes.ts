/**
 * Passes: the client takes its device, syncs for a while, and hands the device back.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { SyncOnceOptions, SyncPass, SyncSettings } from "../actors/syncer/syncer.ts";
import { ActorStoppedError, reasonOf, unwrapped } from "../actors/kernel/mod.ts";
import { alarm, type Clock } from "../base/clock.ts";
import { RecentSet } from "../base/recent_map.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { Holding } from "../store/device/mod.ts";
import type { ClientBasics } from "./client_basics.ts";
import type { ClientCore } from "./client_core.ts";
import type { SendQueues } from "./queue/queue.ts";

/** Has the actors. */
interface PassingLife {
  /** Signals that a first response has been handled. */
  readonly first: { begin(): void };
  /** Takes the device; resolves to the actors that have it. */
  taken(signal?: AbortSignal): Promise<ClientCore>;
}

/** A pass under way. */
interface Pass {
  /** How many rounds it has begun. */
  begun: number;
  /** Whether it is to make one more round. */
  isAsked: boolean;
  /** Settles with its outcome. */
  done: Promise<SyncPass>;
}

/** Makes one pass at a time. */
export class Passes {
  /** The queues of sends. Set before anything is sent. */
  queues!: SendQueues;
  readonly #life: PassingLife;
  readonly #holding: Holding;
  readonly #clock: Clock;
  #current: Pass | undefined;
  /** The events that passes have handled lately. */
  readonly #handled = new RecentSet<string>(REMEMBERED);
  #wentWell = true;
  /** Ends the pass under way. */
  #ending = new AbortController();

  /**
   * @param life Has the actors.
   * @param client How it holds the device, and what measures time.
   */
  constructor(life: PassingLife, { holding, clock }: Pick<ClientBasics, "holding" | "clock">) {
    [this.#life, this.#holding, this.#clock] = [life, holding, clock];
  }

  /** Makes a pass, or waits for one more round of the one under way. */
  async run({ passTimeout: deadline, signal, ...settings }: SyncOnceOptions = {}): Promise<SyncPass> {
    if (deadline !== undefined && !(deadline > 0)) {
      throw new ValueError(`Cannot sync once: passTimeout must be a number of milliseconds, not ${deadline}`);
    }
    const time = new PassTime(this.#clock, { deadline, signal, holding: this.#holding });
    try {
      for (;;) {
        const current = this.#current;
        if (current === undefined) return await this.#begin(settings, time);
        const { begun } = current;
        current.isAsked = true;
        const outcome = await abortable(current.done.catch(() => undefined), time.signal);
        if (outcome !== undefined && outcome.left === undefined && current.begun > begun) return outcome;
      }
    } catch (error) {
      if (time.isOver && error === time.signal.reason) return { events: 0, rounds: 0, left: "device" };
      throw error;
    } finally {
      time.end();
    }
  }

  /** Returns whether a pass of this process has handled an event, lately. */
  hasHandled(eventId: string): boolean {
    return this.#handled.has(eventId);
  }

  /** Whether the last pass has reached the store and the homeserver, or there was none. */
  get wentWell(): boolean {
    return this.#wentWell;
  }

  /** Ends the pass under way, and resolves when it has ended. */
  async end(): Promise<void> {
    this.#ending.abort();
    this.#ending = new AbortController();
    await this.#current?.done.catch(() => {}); // its caller gets that
  }

  /** Hands the device back when what has been begun has ended; until then the lease runs out. */
  async leave({ dispatcher, own, store }: ClientCore): Promise<void> {
    const holding = this.#holding;
    if (holding.mode === "kept") return;
    holding.mode = "late";
    try {
      await dispatcher.noted();
      await own?.quiet();
      if (holding.mode === "late") await store.handBack({ hears: false });
    } catch {
      // The store has failed, or is about to: then new actors take the device.
    }
    if (holding.mode === "late") holding.mode = "between";
  }

  async #begin(settings: SyncSettings, time: PassTime): Promise<SyncPass> {
    const pass: Pass = { begun: 0, isAsked: false, done: Promise.resolve(NOTHING) };
    this.#current = pass;
    pass.done = this.#pass(pass, settings, time).finally(() => this.#current = undefined);
    pass.done.then(({ left }) => this.#wentWell = left !== "server", () => this.#wentWell = false);
    return await pass.done;
  }

  async #pass(pass: Pass, settings: SyncSettings, time: PassTime): Promise<SyncPass> {
    const [life, holding] = [this.#life, this.#holding];
    const signal = AbortSignal.any([time.signal, this.#ending.signal]);
    let { events, rounds } = NOTHING;
    const handled: string[] = [];
    let core: ClientCore | undefined;
    holding.mode = "pass";
    life.first.begin();
    try {
      core = await life.taken(signal);
      const resumed = this.queues.resume().catch(() => {}); // what is queued stays in the store
      for (;;) {
        [pass.isAsked, pass.begun] = [false, pass.begun + 1];
        const round = await unwrapped(core.syncer.once({ ...settings, isPass: true }, { signal }));
        [events, rounds] = [events + round.events, rounds + 1];
        for (const id of round.ids) handled.push(id);
        if (!round.isSettled) {
          void this.leave(core);
          if (!time.isOver) signal.throwIfAborted();
          return { events, rounds, left: "handlers" };
        }
        // A homeserver may take what handlers send for a sign that the user has read all before it,
        // and wake nobody for an event that came by then.
        if (pass.isAsked || round.isCut || (round.isNews && time.isBounded)) continue;
        // The next pass sends it.
        await abortable(resumed.then(() => this.queues.rested()), signal).catch(() => {});
        const isBack = await this.#handBack(core, { hears: !time.isOver });
        if (isBack) this.#note(handled.splice(0)); // until then nothing of it is recorded
        if (isBack && !pass.isAsked) {
          return { events, rounds, left: undefined };
        }
      }
    } catch (error) {
      if (core === undefined) this.#free();
      else await abortable(this.leave(core), signal).catch(() => {}); // it goes on by itself
      if (!time.isOver || error !== time.signal.reason) {
        const failure = core?.supervisor.failure;
        throw reasonOf(error instanceof ActorStoppedError && failure !== undefined ? failure : error);
      }
      return { events, rounds, left: core === undefined && time.wasWaiting ? "device" : "server" };
    }
  }

  async #handBack(core: ClientCore, by: { readonly hears: boolean }): Promise<boolean> {
    if (this.#holding.mode === "kept") return true; // start() goes on with it
    if (!await core.store.handBack(by)) return false;
    this.#free();
    return true;
  }

  #note(ids: readonly string[]): void {
    for (const id of ids) this.#handled.add(id);
  }

  #free(): void {
    if (this.#holding.mode !== "kept") this.#holding.mode = "between";
  }
}

/** How many events are remembered, so that wakes for them need no pass. */
const REMEMBERED = 10_000;
const NOTHING: SyncPass = { events: 0, rounds: 0, left: undefined };

/** The time that a pass has. */
class PassTime {
  /** Ends the pass. */
  readonly signal: AbortSignal;
  /** Whether there is a limit. */
  readonly isBounded: boolean;
  /** Whether another process held the device when the time was over. */
  wasWaiting = false;
  readonly #over = new AbortController();
  readonly #cancel: () => void;

  constructor(
    clock: Clock,
    { deadline, signal, holding }: {
      readonly deadline: number | undefined;
      readonly signal: AbortSignal | undefined;
      readonly holding: Holding;
    },
  ) {
    this.isBounded = deadline !== undefined && deadline !== Infinity;
    this.signal = signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
    this.#cancel = deadline === undefined || deadline === Infinity ? () => {} : alarm(clock, deadline, () => {
      this.wasWaiting = holding.isWaiting;
      this.#over.abort();
    });
  }

  /** Whether the limit has been reached. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Stops measuring. */
  end(): void {
    this.#cancel();
  }
}
