/**
 * A device of a simulated world: what outlives its processes, and the process that runs.
 *
 * @module
 */

import { Client, type Logger, MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import type { DeviceID, EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { answerMessages, describe } from "../../../bench/kill/answering.ts";
import type { LedgerEntry } from "../../../bench/kill/ledger.ts";
import { ActorError } from "../../../src/actors/kernel/actor_error.ts";
import type { Account } from "./account.ts";
import type { Surroundings } from "./surroundings.ts";
import { Process } from "./process.ts";

/** A message that a device was asked to say. */
export interface Saying {
  readonly number: number;
  readonly room: RoomID;
  readonly text: string;
  /** Its event's ID, when the server has said so. */
  eventId?: EventID;
  /** Why it was given up: its user may not send there. */
  refused?: string;
}

/** A process and the client in it. */
export interface Run {
  readonly process: Process;
  readonly client: Client;
}

/** Options of {@link Device.begin}. */
interface BeginOptions {
  readonly store?: MemoryStore;
  readonly token?: string;
  readonly isExtra?: boolean;
}

/** How long the device is left alone after the last sign of run of a process, in milliseconds. */
const LEASE = 60_000;
/** How long the server may wait for something to happen, in milliseconds. */
const SYNC_TIMEOUT = 120_000;
/** How long a handler takes that is slow, in milliseconds. */
const SLOW_HANDLER = 20_000;
/** How soon a process that has ended by itself is followed by another, in milliseconds. */
const RESTART = 5_000;

/** A device. */
export class Device {
  readonly name: string;
  readonly account: Account;
  readonly deviceId: DeviceID;
  readonly store = new MemoryStore();
  readonly sayings: Saying[] = [];
  /** By event, what it has read. */
  readonly readings = new Map<EventID, string>();
  /** By event, who it was told has sent what it has read. */
  readonly senders = new Map<EventID, UserID>();
  /** By event, why it could not be read when it came. */
  readonly undecryptable = new Map<EventID, string>();
  /** Events that the server has shown it in another order. */
  readonly disordered = new Set<string>();
  /** Events that the server has shown it otherwise than they are. */
  readonly spoiled = new Set<string>();
  /** What it was told to have come in clear into a room that it knew to be encrypted. */
  readonly refused = new Set<EventID>();
  /** What its handlers were called with, and what they did. */
  readonly ledger: LedgerEntry[] = [];
  /** By text, up to which moment the device knew the server's state when it was asked to send that. */
  readonly knownAt = new Map<string, number>();
  token: string;
  /** How far its clock is from the true time, in milliseconds. */
  skew = 0;
  /** Up to which moment it has committed what the server has told. */
  seen = 0;
  /** When it had committed the first response; infinity: it never has. */
  firstAt = Infinity;
  /** When a sync of the present process was last answered. */
  answeredAt = 0;
  /** When its keys came to the server; infinity: they have not. */
  keysAt = Infinity;
  /** When it was logged out, or its user deleted it; infinity: it was not. */
  goneAt = Infinity;
  /** Whether the server has hidden its keys from others, which therefore may not send it any. */
  isHidden = false;
  /** Whether it is to be started again when its process ends by itself. */
  isWanted = false;
  process: Process | undefined;
  client: Client | undefined;
  readonly #world: Surroundings;
  #runs = 0;

  constructor(
    world: Surroundings,
    options: { name: string; account: Account; deviceId: DeviceID; token: string },
  ) {
    this.#world = world;
    this.name = options.name;
    this.account = options.account;
    this.deviceId = options.deviceId;
    this.token = options.token;
  }

  get userId(): UserID {
    return this.account.userId;
  }

  /** Whether a process runs, or stands still. */
  get isRunning(): boolean {
    return this.process?.isAlive === true;
  }

  /** Starts a process that syncs, unless there is one. */
  start(): void {
    if (this.isRunning || this.goneAt < Infinity) return;
    this.isWanted = true;
    const { client } = this.begin();
    client.start({ timeout: SYNC_TIMEOUT, filterData: this.#world.filter }).catch(() => {}); // `done` says why
    this.sayAgain();
  }

  /**
   * Starts a process that does nothing by itself.
   *
   * @param options.store Another store than the device's own.
   * @param options.token Another token.
   * @param options.isExtra Whether the process that runs goes on.
   */
  begin({ store = this.store, token = this.token, isExtra = false }: BeginOptions = {}): Run {
    const { timeline, chance, note } = this.#world;
    const name = `${this.name}#${++this.#runs}`;
    const process = new Process({
      name,
      timeline,
      chance: chance.branch(name),
      skew: () => this.skew,
      onOperation: (operation, subject, fault) => {
        const column = fault && `${fault.kind} ${fault.takesEffect ? "after" : "before"}`;
        this.#world.reach(`${operation === "commit" ? "commit " : ""}${subject} | ${column ?? "done"}`);
      },
      onFault: ({ kind, takesEffect, operation }, what) => {
        note(`${name}: ${kind} ${takesEffect ? "after" : "before"} ${operation}: ${what}`);
        if (kind === "crash") this.#restartLater();
      },
    });
    if (!isExtra) this.answeredAt = 0;
    note(`${name} begins`);
    const client = new Client({
      baseUrl: this.#world.homeserver.baseUrl,
      token,
      encryption: true,
      lease: { duration: LEASE, owner: name },
      clock: process.clock,
      log: this.#logger(name),
      store: process.store(store, (mutations) => this.#world.committed(this, mutations)),
      fetch: process.fetch(async (request) => {
        const response = await this.#world.network.send(this, request);
        const isSync = response.ok && request.url.pathname.endsWith("/sync");
        if (isSync && this.process === process) this.answeredAt = timeline.now;
        return response;
      }),
    });
    this.#teach(client, process);
    const run = { process, client };
    if (!isExtra) Object.assign(this, run);
    client.done.then(() => note(`${name} has ended`), (error) => this.#ended(run, error));
    return run;
  }

  /** Ends the process in good order; resolves when it has ended. */
  async stop(): Promise<void> {
    const { client, process } = this;
    this.isWanted = false;
    if (client === undefined || process?.isAlive !== true) return;
    process.resume();
    await Promise.race([client.close(), process.ended]);
    if (!process.isAlive) return;
    process.kill();
    this.#world.closed(this, process);
  }

  /** Ends the process as `kill -9` does. */
  kill(): void {
    this.isWanted = false;
    this.process?.kill();
  }

  /** Says something in a room, until it has arrived or is refused. */
  say(saying: Saying): void {
    this.sayings.push(saying);
    if (this.isRunning) this.#send(saying);
  }

  /** Sends again what may not have arrived. */
  sayAgain(): void {
    for (const each of this.unsaid) this.#send(each);
  }

  /** What may not have arrived. */
  get unsaid(): Saying[] {
    return this.sayings.filter(({ eventId, refused }) => eventId === undefined && refused === undefined);
  }

  #send(saying: Saying): void {
    const { number, room, text } = saying;
    this.client?.sendText(room, text, { txnId: `say-${number}` }).then(
      (eventId) => {
        saying.eventId = eventId;
        this.#world.note(`${this.name} has sent ${number}: ${eventId}`);
      },
      (error) => {
        this.#world.note(`${this.name} can't send ${number}: ${describe(error)}`);
        if (/M_FORBIDDEN|not a member|BadState|UnsupportedAlgorithm/.test(describe(error))) {
          saying.refused = describe(error);
        }
      },
    );
  }

  #teach(client: Client, process: Process): void {
    const { userId } = this;
    const sendText = client.sendText.bind(client);
    client.sendText = (room, text, options) => {
      this.knownAt.getOrInsert(String(text), this.seen);
      return sendText(room, text, options);
    };
    if (this.account.isBot) {
      const received = new Set<string>();
      const note = (entry: LedgerEntry): void => {
        if (entry.kind === "received" && received.size === received.add(entry.eventId).size) {
          this.#world.violate(`${this.name} has handled ${entry.eventId} twice in one process`);
        }
        this.#note(entry);
      };
      answerMessages(client, { userId, note, tell: () => {} });
    } else {
      client.on("UNDECRYPTABLE", ({ event: { event_id: eventId }, code, reason }) => {
        this.#note({ kind: "undecryptable", eventId, code, reason: reason.message });
      });
    }
    // An author's mistake, and an author's patience.
    client.on("m.room.message", async ({ content: { body } }) => {
      const number = Number(body.split(" ").at(-1));
      if (number % 7 === 3) throw new TypeError("a handler of the application failed");
      if (number % 5 === 2) await process.clock.delay(SLOW_HANDLER);
    }, { name: "slow_or_failing" });
    for (const type of ["GAP", "DEVICE_ALARM", "MALFORMED", "EVENT_QUARANTINED", "UNENCRYPTED"] as const) {
      client.on(type, () => this.#world.reach(`state: ${type}`));
    }
    client.on("UNENCRYPTED", ({ event }) => void this.refused.add(event.event_id));
    client.on("INVITE", async ({ room_id }) => void await client.joinRoom(room_id));
    client.on("m.room.message", ({ event_id, sender, content }) => {
      this.senders.set(event_id, sender);
      if (this.undecryptable.has(event_id)) this.#world.reach("state: read when its key had come");
      this.readings.set(event_id, String(content.body));
      this.#world.note(`${this.name} reads ${event_id}: ${content.body}`);
    }, { history: true });
  }

  #note(entry: LedgerEntry): void {
    this.ledger.push(entry);
    if (entry.kind === "undecryptable") this.#world.reach(`state: UNDECRYPTABLE ${entry.code}`);
    if (entry.kind === "undecryptable") this.undecryptable.set(entry.eventId as EventID, entry.code);
    this.#world.note(`${this.name} ${JSON.stringify(entry)}`);
  }

  /** Its process has ended by itself. */
  #ended({ process, client }: Run, error: unknown): void {
    if (!process.isAlive) return;
    const cause = error instanceof ActorError ? error.cause : error;
    this.#world.note(`${this.name} failed: ${describe(cause)}`);
    this.#world.reach(`state: ended by ${cause instanceof Error ? cause.name : "something else"}`);
    this.#world.failed(this, process, cause);
    client.close().finally(() => {
      process.kill();
      if (process !== this.process) return;
      if (cause instanceof UnknownTokenError && cause.softLogout) {
        this.account.logIn(this).then(() => this.#restartLater());
      } else if (cause instanceof UnknownTokenError) {
        this.goneAt = Math.min(this.goneAt, this.#world.timeline.now);
      } else this.#restartLater();
    });
  }

  #restartLater(): void {
    this.#world.timeline.schedule(RESTART, "", () => {
      if (this.isWanted) this.start();
    });
  }

  #logger(name: string): Logger {
    const print = (level: string) => (message: string, data?: Record<string, unknown>) => {
      this.#world.note(`${name} ${level}: ${message} ${JSON.stringify(data ?? {})}`);
    };
    return { debug() {}, info() {}, warn: print("warns"), error: print("error") };
  }
}
