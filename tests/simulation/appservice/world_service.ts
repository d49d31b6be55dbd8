/**
 * An application service of a simulated world: what outlives its processes, and those that run.
 *
 * @module
 */

import { type KvMutation, MemoryStore, StoreError, StoreInUseError } from "@greenroom/matrix";
import { type Appservice, createRegistration, type Registration } from "@greenroom/matrix/appservice";
import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { describe } from "../../../bench/kill/answering.ts";
import { ActorError } from "../../../src/actors/kernel/actor_error.ts";
import type { Chance } from "../core/chance.ts";
import { watchClosing } from "../world/closing.ts";
import { Process } from "../world/process.ts";
import type { World } from "../world/world.ts";
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
}

/** What people have said to it. */
export interface Request {
  readonly number: number;
  readonly room: RoomID;
  readonly eventId: EventID;
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
  readonly registration: Registration = {
    ...createRegistration({ id: "counting", url: "https://counting.example", serverName: "localhost" }),
    as_token: "the-token-of-the-appservice",
    hs_token: "the-token-of-the-homeserver",
  };
  readonly plan: ServicePlan;
  readonly rooms: RoomID[] = [];
  /** What people have said to it, by number from 1 on. */
  readonly requests: Request[] = [];
  /** The events of all transactions, in the order in which they became durable first. */
  readonly arrived = new Set<EventID>();
  readonly way: ServiceWay;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #store = new MemoryStore();
  readonly #runs: ServiceRun[] = [];
  #isWanted = true;

  constructor(world: World, plan: ServicePlan) {
    this.#world = world;
    this.plan = plan;
    this.#chance = world.chance.branch("service");
    this.way = new ServiceWay(world, { service: this, chance: this.#chance.branch("way") });
    world.homeserver.addAppservice(this.registration, this.way.deliver);
  }

  /** Its own user, then its ghosts. */
  get users(): UserID[] {
    const ghosts = Array.from({ length: this.plan.ghosts }, (_, index) => `_counting_ghost${index + 1}`);
    return [this.registration.sender_localpart, ...ghosts].map((name) => `@${name}:localhost` as UserID);
  }

  /** The processes that run. */
  get runs(): ServiceRun[] {
    return this.#runs.filter(({ process, isClosing }) => process.isAlive && !isClosing);
  }

  /** Makes its rooms: people are there, and its users are invited. */
  async populate(): Promise<void> {
    this.tend();
    const people = this.#world.accounts.filter(({ isBot }) => !isBot);
    const tokens = await Promise.all(people.map((person) => person.token()));
    for (let count = 0; count < this.plan.rooms; count++) {
      const { room_id } = await this.#world.ask(tokens[0] ?? "", "POST", "v3/createRoom", {
        preset: "public_chat",
        invite: this.users,
      });
      for (const token of tokens) await this.#world.ask(token, "POST", `v3/join/${room_id}`, {});
      this.rooms.push(room_id as RoomID);
      this.#world.note(`room ${count + 1} of the service is ${room_id}`);
    }
  }

  /** Has a person say something to it. */
  async say(who: number, where: number): Promise<void> {
    const people = this.#world.accounts.filter(({ isBot }) => !isBot);
    const [person, room] = [people[who % people.length], this.rooms[where % this.rooms.length]];
    if (person === undefined || room === undefined) return;
    const number = this.requests.length + 1;
    const path = `v3/rooms/${encodeURIComponent(room)}/send/m.room.message/service-${number}`;
    const { event_id } = await this.#world.ask(await person.token(), "PUT", path, {
      msgtype: "m.text",
      body: `for the service ${number}`,
    });
    this.requests.push({ number, room, eventId: event_id as EventID });
    this.#world.note(`${person.userId} says ${number} to the service: ${event_id}`);
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
      onOperation: (operation, subject, fault) => {
        if (fault === undefined) return;
        reach(`service: ${fault.kind} ${fault.takesEffect ? "after" : "before"} ${operation} ${subject}`);
      },
      onFault: ({ kind, takesEffect, operation }, what) => {
        note(`${name}: ${kind} ${takesEffect ? "after" : "before"} ${operation}: ${what}`);
        this.#restartLater();
      },
    });
    note(`${name} begins`);
    const appservice = serviceProgram({ world: this.#world, service: this, process, name, chance }, {
      store: process.store(this.#store, (mutations) => this.#committed(mutations)),
      fetch: process.fetch(this.way.ask),
    });
    const run = { name, process, appservice, requests: 0, isClosing: false, isLooking: false };
    this.#runs.push(run);
    appservice.done.catch((error) => this.#ended(run, error));
    if (this.plan.stays) appservice.start({ ping: false }).catch(() => {}); // `done` says why
    return run;
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
    run.isClosing = true;
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
    const { pending } = process;
    if (process.isAlive && pending.length > 0) {
      this.#world.violate(`${name} was closed and still waits for ${pending.join(", ")}`);
    }
    process.kill();
    this.#restartLater();
  }

  /** Has nothing go wrong any more. */
  recover(): void {
    this.way.clear();
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
    const isDone = await this.look(last);
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

  #committed(mutations: readonly KvMutation[]): void {
    for (const each of mutations) {
      if (each.type !== "set" || each.key[0] !== "appservice" || each.key.at(-2) !== INBOX) continue;
      for (const { event_id } of JSON.parse(String(each.value)).events) this.arrived.add(event_id);
    }
  }

  /** A process has ended by itself. */
  #ended(run: ServiceRun, error: unknown): void {
    const { name, process, appservice } = run;
    if (!process.isAlive) return;
    const cause = error instanceof ActorError ? error.cause : error;
    this.#world.note(`${name} failed: ${describe(cause)}`);
    const isExpected = cause instanceof StoreError && process.hasLostCommit ||
      cause instanceof StoreInUseError && process.hasStoodStill;
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
