/**
 * An application service of a simulated world: what outlives its processes, and those that run.
 *
 * Over 300 lines because how processes begin, go on and end is read in one place.
 *
 * @module
 */

import { MemoryStore, type Store, type StoreMutation, UnknownTokenError } from "@greenroom/matrix";
import { ClientEndedError, StoreError, StoreInUseError } from "@greenroom/matrix/errors";
import {
  type Appservice,
  AppservicePingError,
  createRegistration,
  type Registration,
} from "@greenroom/matrix/appservice";
import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { encodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";
import { describe } from "../../kill/answering.ts";
import { ActorError } from "../../../src/actors/kernel/mod.ts";
import type { Chance } from "../core/chance.ts";
import { Ambushes } from "../world/ambushes.ts";
import { watchClosing } from "../world/closing.ts";
import { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { OUTGOING, SERVICE_ASKS, SERVICE_COMMIT } from "./service_operations.ts";
import { ServiceLedger } from "./service_ledger.ts";
import { SERVICE_DEVICE } from "./service_published.ts";
import { ServicePeople } from "./service_people.ts";
import { serviceProgram } from "./service_program.ts";
import { ServiceWay } from "./service_way.ts";

/** What an application service begins with. */
export interface ServicePlan {
  /** Whether its processes stay; otherwise a request begins one, and handles what it brings. */
  readonly stays: boolean;
  /** How many ghosts it has. */
  readonly ghosts: number;
  /** How many rooms it is in. */
  readonly rooms: number;
  /** Whether these are encrypted. */
  readonly isEncrypted: boolean;
  /** Whether one who was thrown out of them has to be invited. */
  readonly isPrivate: boolean;
  /** Whether a process that starts has the homeserver knock first. */
  readonly pings: boolean;
  /** Whether it has a recovery key, so that the devices of its users are signed, if these encrypt. */
  readonly hasIdentities: boolean;
}

/** A process of it. */
export interface ServiceRun {
  readonly name: string;
  readonly process: Process;
  readonly appservice: Appservice;
  /** How many requests of the homeserver it has not answered. */
  requests: number;
  /** Whether it is being closed, so that nothing is sent to it. */
  isClosing: boolean;
  /** Whether it was told to stop, with nothing wrong. */
  isStopped: boolean;
  /** Whether it is looking for what is left. */
  isLooking: boolean;
}

/** How soon a process that has ended by itself is followed by another, in milliseconds. */
const RESTART = 5_000;
/** How long closing may take, in milliseconds, and answers to requests that are open then. */
const CLOSING = 120_000;
/** Where the inbox is in the store. */
const INBOX = "in";

/** An application service. */
export class WorldService {
  readonly registration: Registration;
  readonly plan: ServicePlan;
  readonly people: ServicePeople;
  /** What its users have identities by; undefined: they have none. */
  readonly recoveryKey: string | undefined;
  /** What it has done. */
  readonly ledger = new ServiceLedger();
  /** The events of all transactions, in the order in which they became durable first. */
  readonly arrived = new Set<EventID>();
  readonly way: ServiceWay;
  /** What lies in wait for what its processes seldom do. */
  readonly ambushes: Ambushes<typeof OUTGOING[number]>;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #store = new MemoryStore();
  readonly #runs: ServiceRun[] = [];
  #isWanted = true;

  constructor(world: World, plan: ServicePlan) {
    this.#world = world;
    this.plan = plan;
    this.registration = {
      ...createRegistration({
        id: "counting",
        url: "https://counting.example",
        serverName: "localhost",
        encryption: plan.isEncrypted,
      }),
      as_token: "the-token-of-the-appservice",
      hs_token: "the-token-of-the-homeserver",
    };
    this.ambushes = new Ambushes({ weathers: OUTGOING, note: (line) => world.note(`the service: ${line}`) });
    this.people = new ServicePeople(world, this);
    this.#chance = world.chance.branch("service");
    this.recoveryKey = plan.isEncrypted && plan.hasIdentities
      ? encodeRecoveryKey(this.#chance.branch("recovery key").fill(new Uint8Array(32)))
      : undefined;
    this.way = new ServiceWay(world, { service: this, chance: this.#chance.branch("way") });
    world.homeserver.addAppservice(this.registration, this.way.deliver);
  }

  /** Its own user, then its ghosts. */
  get users(): UserID[] {
    const ghosts = Array.from({ length: this.plan.ghosts }, (_, index) => `_counting_ghost${index + 1}`);
    return ["counting", ...ghosts].map((name) => `@${name}:localhost` as UserID);
  }

  /** The rooms that it is in. */
  get rooms(): RoomID[] {
    return this.people.rooms.map(({ id }) => id);
  }

  /** The processes that run. */
  get runs(): ServiceRun[] {
    return this.#runs.filter(({ process, isClosing }) => process.isAlive && !isClosing);
  }

  /** Whether a process was told to stop, with nothing wrong. */
  isStopped(process: Process): boolean {
    return this.#runs.some((run) => run.process === process && run.isStopped);
  }

  /** Makes its rooms. */
  async populate(): Promise<void> {
    this.tend();
    await this.people.populate();
  }

  /** Begins a process; one that stays delivers what comes. */
  begin(): ServiceRun {
    const { timeline, note, reach } = this.#world;
    const name = `service#${this.#runs.length + 1}`;
    const chance = this.#chance.branch(name);
    const process = new Process({
      name,
      timeline,
      chance,
      skew: () => 0,
      onHurry: (what) => this.#world.violate(`${name} asks again and again: ${what}`),
      onOperation: (operation, subject, fault) => {
        const column = fault === undefined
          ? "done"
          : `${fault.kind} ${fault.takesEffect ? "after" : "before"}`;
        reach(`${operation === "commit" ? SERVICE_COMMIT : SERVICE_ASKS}${subject} | ${column}`);
      },
      ambush: (operation, subject) => {
        const { fault, weather: kind } = this.ambushes.meet(operation, subject);
        if (kind !== undefined) this.way.outgoing.unshift({ kind, times: 1, ms: 0, only: subject });
        return fault;
      },
      onFault: ({ kind, takesEffect, operation }, what) => {
        note(`${name}: ${kind} ${takesEffect ? "after" : "before"} ${operation}: ${what}`);
        this.#restartLater();
      },
    });
    note(`${name} begins`);
    const appservice = serviceProgram({ world: this.#world, service: this, process, name, chance }, {
      store: process.store(this.#watched(), (mutations) => this.#committed(name, mutations)),
      fetch: process.fetch(this.way.ask),
    });
    const run = {
      name,
      process,
      appservice,
      requests: 0,
      isClosing: false,
      isStopped: false,
      isLooking: false,
    };
    this.#runs.push(run);
    appservice.done.catch((error) => this.#ended(run, error));
    if (this.plan.stays) this.#start(run);
    return run;
  }

  #start(run: ServiceRun): void {
    const { failedPings, refusals } = this.way;
    run.appservice.start({ ping: this.plan.pings }).catch((error) => {
      // Otherwise `done` says why.
      const isRefused = error instanceof AppservicePingError || error instanceof UnknownTokenError;
      if (!isRefused || !run.process.isAlive) return;
      this.#world.note(`${run.name} is refused: ${describe(error)}`);
      this.#world.reach("service: a start is refused, since the homeserver does not get through");
      if (this.way.failedPings === failedPings && this.way.refusals === refusals) {
        this.#world.violate(`${run.name} says that the homeserver does not get through, which it did`);
      }
      run.process.kill();
      this.#restartLater();
    });
  }

  /** Begins a process that stays, if there is none, or has one look for what is left. */
  tend(): void {
    if (!this.#isWanted) return;
    if (this.runs.length === 0) this.begin();
    if (!this.plan.stays) { for (const run of this.runs) this.look(run); }
  }

  /** Has a process handle what is left, as a timer does where none stays. */
  async look(run: ServiceRun): Promise<boolean> {
    if (run.isLooking || run.isClosing) return false;
    run.isLooking = true;
    try {
      return await run.appservice.handlePending();
    } catch (error) {
      this.#world.note(`${run.name} can't handle what is left: ${describe(error)}`);
      return false;
    } finally {
      run.isLooking = false;
    }
  }

  /** Ends a process as `kill -9` does. */
  kill(run: ServiceRun): void {
    this.#world.note(`${run.name} is killed`);
    run.process.kill();
    this.#restartLater();
  }

  /** Ends a process in good order. */
  async stop(run: ServiceRun): Promise<void> {
    const { name, process, appservice } = run;
    this.#world.note(`${name} is stopped`);
    run.isClosing = run.isStopped = true;
    process.resume();
    const closing = appservice.close();
    watchClosing(this.#world, { name, process }, closing);
    await Promise.race([closing, process.ended]).catch((error) => {
      if (!process.hasLostCommit) this.#world.violate(`closing ${name} failed: ${describe(error)}`);
    });
    const isAnswered = await this.#within(
      CLOSING,
      () =>
        // A handler that takes longer than closing may is left behind.
        run.requests === 0 && !run.isLooking && process.handlers === 0 || !process.isAlive,
    );
    if (!isAnswered) this.#world.violate(`${name} was closed, and does not answer the homeserver`);
    const { storing } = process;
    if (process.isAlive && storing.length > 0) {
      this.#world.violate(`${name} was closed, and its store still has a ${storing.join(", ")}`);
    }
    process.kill();
    this.#restartLater();
  }

  /** Has the homeserver delete the device of a user, as it does with those that were not used for long. */
  async deleteDevice(userId: UserID): Promise<void> {
    const query = new URLSearchParams({ user_id: userId });
    await this.#world.ask(this.registration.as_token, "DELETE", `v3/devices/${SERVICE_DEVICE}?${query}`, {});
    this.ledger.deletedAt.set(userId, this.#world.timeline.now);
    this.ledger.signedAt.delete(userId);
    this.#world.note(`the device of ${userId} is deleted`);
  }

  /** Has nothing go wrong any more. */
  recover(): void {
    this.way.clear();
    this.ambushes.clear();
    for (const { process } of this.#runs) {
      process.clearFaults();
      process.resume();
    }
  }

  /** How many answers there are. */
  get answers(): number {
    return this.rooms.reduce((sum, id) => sum + this.#world.homeserver.room(id).events.length, 0);
  }

  /** Whether something is on its way. */
  get isBusy(): boolean {
    return this.way.isBusy || this.runs.length === 0 || this.runs.some(({ requests }) => requests > 0);
  }

  /** How many transactions are in the inbox. */
  async kept(): Promise<number> {
    return (await Array.fromAsync(this.#store.list(["appservice"]))).filter(({ key }) => key.at(-2) === INBOX)
      .length;
  }

  /** Stops all processes, and has a last one handle what is left; whether nothing is. */
  async end(): Promise<boolean> {
    this.#isWanted = false;
    for (const run of this.runs) await this.stop(run);
    const { stays } = this.plan;
    Object.assign(this.plan, { stays: false });
    const last = this.begin();
    Object.assign(this.plan, { stays });
    // Its device is new to the homeserver, which tells it so.
    const isDone = await this.look(last) && await this.#within(CLOSING, () => !this.way.isBusy) &&
      await this.look(last);
    await this.stop(last);
    return isDone;
  }

  /** Ends all at once. */
  abandon(): void {
    this.#isWanted = false;
    for (const { process } of this.#runs) process.kill();
  }

  #within(ms: number, condition: () => boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = this.#world.timeline.now + ms;
    const look = (): void => {
      const holds = condition();
      if (holds || this.#world.timeline.now >= end) resolve(holds);
      else this.#world.timeline.schedule(500, "", look);
    };
    look();
    return promise;
  }

  /** The store, which says when another process was faster. */
  #watched(): Store {
    const store = this.#store;
    return {
      getMany: (keys) => store.getMany(keys),
      list: (prefix, options) => store.list(prefix, options),
      close: () => {},
      commit: async (mutations, checks) => {
        const holds = await store.commit(mutations, checks);
        const isOfInbox = mutations.some(({ key }) => key[0] === "appservice");
        if (!holds && isOfInbox) this.#world.reach("service: inbox: another process was faster");
        return holds;
      },
    };
  }

  #committed(by: string, mutations: readonly StoreMutation[]): void {
    for (const each of mutations) {
      if (each.type === "set" && each.key.at(-1) === "sync" && each.key[0] === this.users[0]) {
        this.#world.reach(`service: feed: ${this.ledger.goesOn(by, this.#world.timeline.now)}`);
      }
      if (each.key[0] !== "appservice" || each.key.at(-2) !== INBOX) continue;
      this.#world.reach(`service: inbox: a transaction is ${each.type === "set" ? "kept" : "removed"}`);
      if (each.type !== "set") {
        this.ledger.settled(by);
        continue;
      }
      for (const { event_id } of JSON.parse(String(each.value)).events) {
        if (this.arrived.has(event_id) && !this.way.repeated.has(event_id)) {
          this.#world.violate(`the service keeps ${event_id} a second time`);
        }
        this.arrived.add(event_id);
      }
    }
  }

  /** A process has ended by itself. */
  #ended(run: ServiceRun, error: unknown): void {
    const { name, process, appservice } = run;
    if (!process.isAlive) return;
    const cause = error instanceof ActorError ? error.cause : error;
    this.#world.note(`${name} failed: ${describe(cause)}`);
    const isExpected = cause instanceof StoreError && process.hasLostCommit ||
      cause instanceof StoreInUseError && process.hasStoodStill ||
      (cause instanceof UnknownTokenError || cause instanceof ClientEndedError) && this.way.refusals > 0;
    if (!isExpected) this.#world.violate(`${name} failed: ${describe(cause)}`);
    run.isClosing = true;
    appservice.close().catch(() => {}).finally(() => {
      process.kill();
      this.#restartLater();
    });
  }

  #restartLater(): void {
    if (this.plan.stays) {
      this.#world.timeline.schedule(RESTART, "", () => {
        if (this.runs.length === 0) this.tend();
      });
    }
  }
}
