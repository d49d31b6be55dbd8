/**
 * The bot of a scripted day, which is begun anew on the same store whenever its process has come to an end.
 *
 * @module
 */

import { Client, defineSession, type KvStore, UnknownTokenError } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { type CrashPlan, Life, NO_CRASH, type Tally } from "./crash.ts";
import type { Theatre } from "./theatre.ts";

/** For how long the device is left alone when a process has ended, in milliseconds: longer than a fault takes to heal. */
const LEASE = 120_000;
/** After how many turns nothing is on its way any more but what waits for the clock. */
const STUCK = 40;
/** How far the clock goes then, in milliseconds. */
const PATIENCE = 1_000;
/** After how many turns a test has failed. */
const NEVER = 4_000;
/** How often work is tried that an error has ended, or that a death has. */
const TRIES = 6;

/** What the bot remembers of a room. */
export interface Remembered {
  heard: number;
  texts: string[];
  bulk?: Uint8Array;
}

const session = defineSession<Remembered>({
  name: "counter",
  per: "room",
  initial: () => ({ heard: 0, texts: [] }),
});

/** What a bot is made of. */
export interface DayBotOptions {
  readonly theatre: Theatre;
  /** Its user's name. */
  readonly name: string;
  /** Opens its store, for one life. */
  readonly open: (life: Life) => Promise<KvStore>;
  /** What goes wrong. */
  readonly plan: CrashPlan;
  /** Whether it goes wrong once more, in the next life, when the same is done. */
  readonly again: boolean;
  /** How many bytes a session is made to have by the message "thick". */
  readonly bulk: number;
}

/** The bot, with what outlives its processes. */
export class DayBot {
  readonly mxid: UserID;
  /** What went wrong, in order. */
  readonly faults: string[] = [];
  /** What its processes still wanted to commit when a commit had failed. */
  readonly aftermath: string[] = [];
  /** Events that it has been told of, by ID or by what they are about. */
  readonly told = new Set<string>();
  readonly #clock = new TestClock();
  readonly #options: DayBotOptions;
  /** What its author keeps beside the store. */
  #token: string | undefined;
  #life: Life;
  #client: Client | undefined;
  /** Whether the client of the present life has given up. */
  #hasFailed = false;
  readonly #endings: Promise<void>[] = [];

  /** @param options What it is made of. */
  constructor(options: DayBotOptions) {
    this.#options = options;
    const { homeserver } = options.theatre.stage;
    this.mxid = homeserver.createUser(options.name).userId;
    this.#life = this.#newLife(options.plan);
  }

  /** What it has done, in all its lives. */
  get tally(): Tally {
    return this.#life.tally;
  }

  /** Waits until it listens. */
  async listen(): Promise<void> {
    await this.survive(() => Promise.resolve(), () => this.#listens);
  }

  /** Does something until it is done, in as many lives as that takes. */
  async survive(
    work: (client: Client) => Promise<unknown>,
    condition: () => boolean = () => true,
  ): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const client = await this.#alive();
      const outcome: { failure?: unknown; done: boolean } = { done: false };
      if (client !== undefined) {
        work(client).catch((failure) => outcome.failure = failure).finally(() => outcome.done = true);
      }
      await this.#until(() => this.#isOver || outcome.failure !== undefined || (outcome.done && condition()));
      if (this.#isOver) this.#bury();
      else if (outcome.failure === undefined) return this.#note();
      else if (this.#life.fault === undefined) throw outcome.failure;
      else await this.#clock.tick(PATIENCE);
    }
    throw new Error("It dies again and again");
  }

  /** Ends its process in good order, and begins another life. */
  async restart(): Promise<void> {
    await this.survive((client) => client.close());
    this.#bury();
    await this.listen();
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#life.spare();
    await this.survive((client) => client.close());
    this.#bury();
    let isOver = false;
    Promise.all(this.#endings).then(() => isOver = true);
    await this.#until(() => isOver);
  }

  get #isOver(): boolean {
    return this.#life.epitaph !== undefined || this.#hasFailed;
  }

  /** Lets time pass until something has happened. */
  async #until(condition: () => boolean): Promise<void> {
    for (let turns = 1; turns < NEVER; turns++) {
      if (condition()) return;
      await this.#options.theatre.turn();
      if (turns % STUCK !== 0) continue;
      await this.#clock.tick(PATIENCE);
      if (turns % (5 * STUCK) === 0) await this.#options.theatre.nudge(this.mxid);
    }
    throw new Error(`This did not happen: ${condition}`);
  }

  #note(): void {
    const { fault } = this.#life;
    if (fault !== undefined && !this.faults.includes(fault)) this.faults.push(fault);
  }

  /** The client of the present life, which is begun if need be; undefined if it comes to nothing. */
  async #alive(): Promise<Client | undefined> {
    if (this.#client !== undefined) return this.#client;
    if (this.faults.length > 0) await this.#clock.tick(LEASE); // who has ended can't let go of the device
    try {
      return this.#client = this.#begin(this.#life, await this.#options.open(this.#life));
    } catch (error) {
      if (this.#life.fault === undefined) throw error;
      this.#hasFailed = true;
      return undefined;
    }
  }

  #begin(life: Life, store: KvStore): Client {
    const { theatre: { stage } } = this.#options;
    const client = new Client({
      baseUrl: stage.homeserver.baseUrl,
      fetch: life.fetch(stage.homeserver.fetch),
      store,
      encryption: true,
      lease: { duration: LEASE },
      clock: this.#clock,
      log: stage.log,
      ...(this.#token !== undefined && { token: this.#token }),
    });
    client.done.catch(({ cause }) => {
      const isOut = cause instanceof UnknownTokenError; // it has logged out, and need not do so again
      this.#hasFailed ||= life === this.#life && !isOut;
    });
    this.#handle(client, life);
    this.#run(client).catch(() => {}); // the end of the process
    return client;
  }

  /** What its author has written. */
  async #run(client: Client): Promise<void> {
    if (this.#token === undefined) {
      const who = { identifier: this.mxid, password: `password of ${this.#options.name}`, deviceId: "BOT" };
      const { access_token } = await client.login(who).catch(() => client.login(who));
      this.#token = access_token;
    }
    await client.start();
  }

  /** It answers what Bob says, and remembers it. */
  #handle(client: Client, life: Life): void {
    client.on("m.room.message", async ({ sender, room_id, content }, ctx) => {
      if (sender !== "@bob:localhost") return;
      const text = String(content.body);
      ctx.session.heard++;
      ctx.session.texts.push(text);
      if (text === "thick") ctx.session.bulk = new Uint8Array(this.#options.bulk).fill(7);
      else delete ctx.session.bulk;
      const answer = `${ctx.session.heard}: ${text}`;
      for (let tries = 0; tries < TRIES && life.epitaph === undefined; tries++) {
        const sent = await client.sendText(room_id, answer).catch(() => undefined);
        if (sent !== undefined) return void this.told.add(`answered ${text}`);
        await this.#clock.delay(PATIENCE);
      }
      throw new Error("The answer could not be sent");
    }, { session, sequential: true });
    client.on("m.reaction", ({ event_id }) => void this.told.add(event_id));
    client.on("UNDECRYPTABLE", ({ event }) => void this.told.add(event.event_id));
    client.on("JOIN", ({ state_key }) => void this.told.add(`join ${state_key}`));
    client.on("LEAVE", ({ state_key }) => void this.told.add(`leave ${state_key}`));
  }

  get #listens(): boolean {
    return this.#life.tally.count("sync") > this.#before;
  }

  /** How many syncs there were before the present life. */
  #before = 0;

  #bury(): void {
    this.#note();
    if (this.#client !== undefined) this.#endings.push(this.#client.close());
    this.#client = undefined;
    const { tally } = this.#life;
    const plan = this.#nextPlan(this.#life);
    this.#life.end(); // what is left of it finds neither store nor server
    this.#life = this.#newLife(plan, tally);
    this.#before = tally.count("sync");
    this.#hasFailed = false;
  }

  #newLife(plan: CrashPlan, tally?: Tally): Life {
    const life = new Life(plan, tally);
    life.onAftermath = (name) => this.aftermath.push(name);
    return life;
  }

  /** What happens to the next life: what was to happen and has not yet, or what has happened, once more. */
  #nextPlan({ faultSort: sort, tally }: Life): CrashPlan {
    const { plan, again } = this.#options;
    if (this.faults.length === 0) return plan;
    if (!again || this.faults.length > 1 || sort === undefined) return NO_CRASH;
    return { ...plan, sort, at: tally.count(plan.deed, sort) + 1 };
  }
}
