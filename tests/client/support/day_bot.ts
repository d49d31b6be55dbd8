/**
 * The bot of a scripted day, which is restarted on the same store whenever its process has ended.
 *
 * @module
 */

import { Client, defineSession, type Store, UnknownTokenError } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "./crash.ts";
import type { DaySetup } from "./day_setup.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** How long the lease of a crashed process lasts, in milliseconds: longer than any retry. */
const LEASE = 120_000;
/** After how many turns only the clock can move the bot on. */
const TURNS_BEFORE_WAIT = 40;
/** How far the clock then moves, in milliseconds. */
const WAIT = 1_000;
/** After how many turns a test fails. */
const MAX_TURNS = 4_000;
/** How often something is tried that an error or a crash has interrupted. */
const TRIES = 6;

/** The bot's session of a room. */
export interface RoomSession {
  count: number;
  texts: string[];
  bulk?: Uint8Array;
}

const session = defineSession<RoomSession>({
  name: "counter",
  per: "room",
  initial: () => ({ count: 0, texts: [] }),
});

/** Options of {@link DayBot}. */
export interface DayBotOptions {
  readonly setup: DaySetup;
  /** Its user's name. */
  readonly name: string;
  /** Opens its store, for one process. */
  readonly open: (process: TestProcess) => Promise<Store>;
  /** The fault. */
  readonly plan: FaultPlan;
  /** Whether the fault hits the next process too, at an operation with the same subject. */
  readonly again: boolean;
  /** How many bytes the message "thick" adds to the session. */
  readonly bulk: number;
}

/** The bot, with what outlives its processes. */
export class DayBot {
  readonly mxid: UserID;
  /** The operations that a fault hit, in order. */
  readonly faults: string[] = [];
  /** The commits that its processes began after one of their commits had failed. */
  readonly commitsAfterFault: string[] = [];
  /** The events that its handlers have received, by ID or by what they are about. */
  readonly handled = new Set<string>();
  readonly #clock = new TestClock();
  readonly #options: DayBotOptions;
  /** The token, which its author keeps beside the store. */
  #token: string | undefined;
  #process: TestProcess;
  #client: Client | undefined;
  /** Whether the client of the present process has failed. */
  #hasFailed = false;
  /** How many sync requests earlier processes made. */
  #earlierSyncs = 0;
  readonly #endings: Promise<void>[] = [];

  /** @param options Its options. */
  constructor(options: DayBotOptions) {
    this.#options = options;
    const { homeserver } = options.setup.stage;
    this.mxid = homeserver.createUser(options.name).userId;
    this.#process = this.#newProcess(options.plan);
  }

  /** The operations of all its processes. */
  get log(): OperationLog {
    return this.#process.log;
  }

  /** Waits until it syncs. */
  async sync(): Promise<void> {
    await this.complete(() => Promise.resolve(), () => this.log.count("sync") > this.#earlierSyncs);
  }

  /** Does something, and again after each fault, until it is done and a condition holds. */
  async complete(
    work: (client: Client) => Promise<unknown>,
    condition: () => boolean = () => true,
  ): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const client = await this.#running();
      const outcome: { failure?: unknown; done: boolean } = { done: false };
      if (client !== undefined) {
        work(client).catch((failure) => outcome.failure = failure).finally(() => outcome.done = true);
      }
      await this.#until(() => this.#isOver || outcome.failure !== undefined || (outcome.done && condition()));
      if (this.#isOver) this.#replaceProcess();
      else if (outcome.failure === undefined) return this.#recordFault();
      else if (this.#process.fault === undefined) throw outcome.failure;
      else await this.#clock.tick(WAIT);
    }
    throw new Error("It crashes again and again");
  }

  /** Closes its client, and starts another process. */
  async restart(): Promise<void> {
    await this.complete((client) => client.close());
    this.#replaceProcess();
    await this.sync();
  }

  /** Closes its client, and waits until all of its processes have ended. */
  async end(): Promise<void> {
    this.#process.cancelFault();
    await this.complete((client) => client.close());
    this.#replaceProcess();
    let isOver = false;
    Promise.all(this.#endings).then(() => isOver = true);
    await this.#until(() => isOver);
  }

  get #isOver(): boolean {
    return !this.#process.isRunning || this.#hasFailed;
  }

  /** Lets time pass until a condition holds. */
  async #until(condition: () => boolean): Promise<void> {
    for (let turns = 1; turns < MAX_TURNS; turns++) {
      if (condition()) return;
      await this.#options.setup.turn();
      if (turns % TURNS_BEFORE_WAIT !== 0) continue;
      await this.#clock.tick(WAIT);
      if (turns % (5 * TURNS_BEFORE_WAIT) === 0) await this.#options.setup.nudge(this.mxid);
    }
    throw new Error(`This did not happen: ${condition}`);
  }

  #recordFault(): void {
    const { fault } = this.#process;
    if (fault !== undefined && !this.faults.includes(fault)) this.faults.push(fault);
  }

  /** The client of the present process, started if need be; undefined if the fault prevents that. */
  async #running(): Promise<Client | undefined> {
    if (this.#client !== undefined) return this.#client;
    if (this.faults.length > 0) await this.#clock.tick(LEASE); // a crashed process does not release it
    try {
      return this.#client = this.#begin(this.#process, await this.#options.open(this.#process));
    } catch (error) {
      if (this.#process.fault === undefined) throw error;
      this.#hasFailed = true;
      return undefined;
    }
  }

  #begin(process: TestProcess, store: Store): Client {
    const { setup: { stage } } = this.#options;
    const client = new Client({
      baseUrl: stage.homeserver.baseUrl,
      fetch: process.fetch(stage.homeserver.fetch),
      store,
      encryption: EVERYBODY,
      lease: { duration: LEASE },
      clock: this.#clock,
      log: stage.log,
      ...(this.#token !== undefined && { accessToken: this.#token }),
    });
    client.done.catch(({ cause }) => {
      const hasLoggedOut = cause instanceof UnknownTokenError; // which it need not do again
      this.#hasFailed ||= process === this.#process && !hasLoggedOut;
    });
    this.#addHandlers(client, process);
    this.#run(client).catch(() => {}); // the end of the process
    return client;
  }

  /** The bot's program. */
  async #run(client: Client): Promise<void> {
    if (this.#token === undefined) {
      const login = { identifier: this.mxid, password: `password of ${this.#options.name}`, deviceId: "BOT" };
      const { access_token } = await client.login(login).catch(() => client.login(login));
      this.#token = access_token;
    }
    await client.start();
  }

  /** Answers Bob's messages, and keeps them in the session. */
  #addHandlers(client: Client, process: TestProcess): void {
    client.on("m.room.message", async ({ sender, room_id, content }, ctx) => {
      if (sender !== "@bob:localhost") return;
      const text = String(content.body);
      ctx.session.count++;
      ctx.session.texts.push(text);
      if (text === "thick") ctx.session.bulk = new Uint8Array(this.#options.bulk).fill(7);
      else delete ctx.session.bulk;
      const answer = `${ctx.session.count}: ${text}`;
      for (let tries = 0; tries < TRIES && process.isRunning; tries++) {
        const sent = await client.sendText(room_id, answer).catch(() => undefined);
        if (sent !== undefined) return void this.handled.add(`answered ${text}`);
        await this.#clock.delay(WAIT);
      }
      throw new Error("The answer could not be sent");
    }, { session, sequential: true });
    client.on("m.reaction", ({ event_id }) => void this.handled.add(event_id));
    client.on("UNDECRYPTABLE", ({ event }) => void this.handled.add(event.event_id));
    client.on("JOIN", ({ state_key }) => void this.handled.add(`join ${state_key}`));
    client.on("LEAVE", ({ state_key }) => void this.handled.add(`leave ${state_key}`));
  }

  /** Ends the present process, if it has not ended, and makes the next. */
  #replaceProcess(): void {
    this.#recordFault();
    if (this.#client !== undefined) this.#endings.push(this.#client.close());
    this.#client = undefined;
    const { log } = this;
    const plan = this.#nextPlan(this.#process);
    this.#process.kill(); // what still runs of it reaches neither store nor server
    this.#process = this.#newProcess(plan, log);
    this.#earlierSyncs = log.count("sync");
    this.#hasFailed = false;
  }

  #newProcess(plan: FaultPlan, log?: OperationLog): TestProcess {
    const process = new TestProcess(plan, log);
    process.onCommitAfterFault = (name) => this.commitsAfterFault.push(name);
    return process;
  }

  /** The next process's plan: the same if its fault has not happened, or the same fault once more. */
  #nextPlan({ faultSubject: subject, log }: TestProcess): FaultPlan {
    const { plan, again } = this.#options;
    if (this.faults.length === 0) return plan;
    if (!again || this.faults.length > 1 || subject === undefined) return NO_FAULT;
    return { ...plan, subject, at: log.count(plan.operation, subject) + 1 };
  }
}
