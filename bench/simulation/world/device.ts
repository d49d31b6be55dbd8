/**
 * A device of a simulated world: what outlives its processes, and the process that runs.
 *
 * Over 300 lines because a third of them say what is known of a device: judges read that in one place.
 *
 * @module
 */

import { Client, UnknownTokenError } from "@greenroom/matrix";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import type { DeviceID, EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { describe } from "../../kill/answering.ts";
import type { LedgerEntry } from "../../kill/ledger.ts";
import { ActorError } from "../../../src/actors/kernel/mod.ts";
import { type Account, type Login, tokensOf } from "./account.ts";
import { teach } from "./application.ts";
import type { Disk } from "../disks/disk.ts";
import type { Fork } from "../disks/fork.ts";
import { type Backup, Loss } from "../disks/loss.ts";
import { watchClosing } from "./closing.ts";
import { isUnsaid, type Saying, sendSaying } from "./saying.ts";
import { loggerOf, type Surroundings } from "./surroundings.ts";
import type { Bot } from "@greenroom/matrix/bot";
import { kitBot } from "../kit/kit_bot.ts";
import { KitLedger } from "../kit/kit_ledger.ts";
import { type Fault, Process } from "./process.ts";
import type { BeginOptions, Run } from "./run.ts";

/** What instances that the homeserver wakes have in common. */
export const WAKE = { secret: "the same in all instances", passTimeout: 30_000 };
/** How long the device is left alone after the last sign of run of a process, in milliseconds. */
const LEASE = 60_000;
/** How long the server may wait for something to happen, in milliseconds. */
const SYNC_TIMEOUT = 120_000;
const DAY = 86_400_000;
/** How late what lies in wait has a request be, in milliseconds. */
const AMBUSHED = 2_000;
/** How soon a process that has ended by itself is followed by another, in milliseconds. */
const RESTART = 5_000;

/** A device. */
export class Device {
  readonly name: string;
  readonly account: Account;
  readonly deviceId: DeviceID;
  readonly disk: Disk;
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
  /** Rooms that the server has shown it as joined when its user had left. */
  readonly shownJoined = new Set<RoomID>();
  /** What it was told to have come in clear into a room that it knew to be encrypted. */
  readonly refused = new Set<EventID>();
  /** The numbers of what other programs have sent it, as far as its handlers have got them. */
  readonly memos = new Set<number>();
  /** What its handlers were called with, and what they did. */
  readonly ledger: LedgerEntry[] = [];
  /** By room, which process has counted last in a session there, and how far. */
  readonly tallies = new Map<RoomID, { readonly by: Process; readonly seen: number }>();
  /** By text, up to which moment the device knew the server's state when it was asked to send that. */
  readonly knownAt = new Map<string, number>();
  /** By device of others, when this one knew it first. */
  readonly metAt = new Map<DeviceID, number>();
  /** Copies of others' words that it took for their sender's, since nothing showed whose they are. */
  readonly mistaken = new Set<string>();
  /** By device that is gone, when this one knew that. */
  readonly goneBy = new Map<DeviceID, number>();
  /** What its processes act with. */
  login: Login;
  /** By room, the session that it encrypts with. */
  readonly sessions = new Map<RoomID, string>();
  /** Up to which moment it has committed what the server has told. */
  seen = 0;
  /** Up to which moment its handlers have settled, as far as that is stored: a restart begins there. */
  settled = 0;
  /** When it had committed the first response; infinity: it never has. */
  firstAt = Infinity;
  /** The events of rooms in that response. */
  firstShown: ReadonlySet<string> = new Set();
  /** When a process of it last left an event out, which a later sync tries again. */
  leftOutAt = -Infinity;
  /** When a sync of the present process was last answered. */
  answeredAt = 0;
  /** Whether the present process has taken a response. */
  hasTaken = false;
  /** When its keys came to the server; infinity: they have not. */
  publishedAt = Infinity;
  /** When the server first had a signature of its user's identity for it; infinity: it never had. */
  signedAt = Infinity;
  /** When it was logged out, or its user deleted it; infinity: it was not. */
  goneAt = Infinity;
  /** Whether the server has hidden its keys from others, which therefore may not send it any. */
  isHidden = false;
  /** What its requests met with, and when: what goes by with another try, and what does not. */
  readonly troubles: { readonly at: number; readonly kind: "passing" | "final" }[] = [];
  /** When the server last answered a sync of it as if nothing had happened for a while. */
  laggedAt = -Infinity;
  /** When its clock was last a day off, or more, or came back from there. */
  wrongAt = -Infinity;
  /** Whether it has found its user's identity shown again that another one had replaced. */
  hasDoubts = false;
  /** Whether a verification ended that only the other may have completed: it believes no own device yet. */
  isUnsure = false;
  /** Whether it is to be started again when its process ends by itself. */
  isWanted = false;
  /** What it has lost. */
  readonly loss = new Loss();
  /** That a copy of its disk is in use, too, or was. */
  fork: Fork | undefined;
  process: Process | undefined;
  client: Client | undefined;
  /** The bot of the kit in that process, if it is one. */
  bot: Bot | undefined;
  /** What that bot, and those before, have done; undefined: it is no bot of the kit. */
  readonly kit: KitLedger | undefined;
  /** Whether its processes are given the recovery key of its user, if there is one. */
  hasKey: boolean;
  /** What goes wrong with its next process. */
  readonly due: Fault[] = [];
  /** Whether its client has failed to use or make a backup, and has said so. */
  isWarned = false;
  /** Whether it reads only what a device that its user vouches for has proven to have said. */
  isStrict = false;
  readonly #world: Surroundings;
  readonly #runs: Process[] = [];
  #skew = 0;

  constructor(
    world: Surroundings,
    options: { name: string; account: Account; login: Login; disk: Disk; hasKey: boolean },
  ) {
    this.#world = world;
    this.name = options.name;
    this.account = options.account;
    this.deviceId = options.login.deviceId;
    this.login = options.login;
    this.disk = options.disk;
    this.hasKey = options.hasKey;
    this.kit = options.account.hasKit ? new KitLedger() : undefined;
  }

  /** How far its clock is from the true time, in milliseconds. */
  get skew(): number {
    return this.#skew;
  }

  set skew(skew: number) {
    // To others, processes seem to have stood still.
    if (skew !== 0 && this.kit !== undefined) this.kit.isSkewed = true;
    if (skew > this.#skew) { for (const process of this.#runs) process.hasStoodStill = true; }
    if (Math.max(Math.abs(skew), Math.abs(this.#skew)) >= DAY) this.wrongAt = this.#world.timeline.now;
    this.#skew = skew;
  }

  /** Since when others may give it keys: where users vouch for devices, since its user did. */
  get keysAt(): number {
    return this.#world.isVouched ? Math.max(this.publishedAt, this.signedAt) : this.publishedAt;
  }

  get userId(): UserID {
    return this.account.userId;
  }

  /** The recovery key that its processes are given; undefined: none. */
  get recoveryKey(): string | undefined {
    return this.hasKey ? this.account.recoveryKey : undefined;
  }

  /** Whether its user has an identity, or this device is the one to make it. */
  get mayBegin(): boolean {
    const { recoveryKey, master, isForgotten, beginsAtOnce, devices } = this.account;
    // Where it was forgotten, the other need not begin again.
    if (recoveryKey === undefined || master !== undefined || isForgotten || beginsAtOnce) return true;
    return this === devices.find(({ goneAt, hasKey }) => goneAt === Infinity && hasKey);
  }

  /** Whether a process runs, or stands still. */
  get isRunning(): boolean {
    return this.process?.isAlive === true;
  }

  /** Notes that a request has failed. */
  noteTrouble(kind: "passing" | "final"): void {
    this.troubles.push({ at: this.#world.timeline.now, kind });
  }

  /** Starts a process that syncs, unless there is one. */
  start(): void {
    if (this.isRunning || this.goneAt < Infinity) return;
    this.isWanted = true;
    if (!this.mayBegin) return this.#restartLater();
    const { client } = this.begin();
    this.#accept(client).then(() => client.start({ timeout: SYNC_TIMEOUT, ...this.#world.sync }))
      .catch(() => {}); // `done` says why
    this.sayAgain();
  }

  /** Has its user compare the identity that the server had hidden behind another one, and accept it. */
  async #accept(client: Client): Promise<void> {
    const { userId, account: { master } } = this;
    if (!this.hasDoubts || master === undefined) return;
    this.hasDoubts = false;
    // If the server still hides it, the start, or what is sent next, says what is wrong.
    await client.crypto?.acknowledgeIdentity({ userId, master }).catch(() => {});
  }

  /** Starts a process that does nothing by itself. */
  begin(
    {
      store = this.disk.store,
      login = this.login,
      recoveryKey = this.recoveryKey,
      isExtra = false,
      held,
      mxid,
    }: BeginOptions = {},
  ): Run {
    const { timeline, chance, note, slides } = this.#world;
    const violate = (what: string): void => this.#world.violate(what);
    // One that has begun while another was being stopped would never be told to end.
    if (!isExtra && this.isRunning) this.process?.kill();
    const name = `${this.name}#${this.#runs.length + 1}`;
    const process = new Process({
      name,
      timeline,
      chance: chance.branch(name),
      skew: () => this.skew,
      onHurry: (what) => violate(`${name} asks again and again: ${what}`),
      onOperation: (operation, subject, fault) => {
        const column = fault && `${fault.kind} ${fault.takesEffect ? "after" : "before"}`;
        this.#world.reach(`${operation === "commit" ? "commit " : ""}${subject} | ${column ?? "done"}`);
      },
      ambush: (operation, subject) => {
        const { fault, weather: kind } = isExtra ? {} : this.#world.ambushes.meet(operation, subject);
        if (kind !== undefined) {
          this.#world.network.weather.getOrInsertComputed(this, () => [])
            .unshift({ kind, path: "", only: subject, times: 1, ms: AMBUSHED });
        }
        return fault;
      },
      onFault: ({ kind, takesEffect, operation }, what) => {
        note(`${name}: ${kind} ${takesEffect ? "after" : "before"} ${operation}: ${what}`);
        if (kind === "crash") this.#restartLater();
        else if (operation !== "sync") this.noteTrouble(operation === "commit" ? "final" : "passing");
      },
    });
    this.#runs.push(process);
    const slidesNow = slides === "all" || (slides === "some" && chance.branch(`sync of ${name}`).odds(0.5));
    const sync = slidesNow ? "sliding" : "classic";
    for (const fault of isExtra ? [] : this.due.splice(0)) process.plan(fault);
    if (!isExtra) [this.answeredAt, this.hasTaken] = [0, false];
    note(`${name} begins`);
    const client = new Client({
      baseUrl: this.#world.homeserver.baseUrl,
      mxid,
      ...tokensOf(login, process.clock, (token) => {
        this.#world.reach("state: token refreshed");
        run.token = token;
      }),
      encryption: this.account.encrypts && {
        ...this.#world.encryption,
        ...this.isStrict ? { accept: "cross-signed" } : {},
        recoveryKey,
        ...this.#world.sharesHistory ? { shareHistory: true } : {},
        ...this.#world.dehydrates && recoveryKey !== undefined ? { dehydratedDevice: true } : {},
      },
      lease: { duration: LEASE, owner: name, held },
      sync,
      wake: WAKE,
      clock: process.clock,
      log: loggerOf(name, (line) => {
        note(line);
        if (/Left an event out|quarantined event ended/.test(line)) this.leftOutAt = timeline.now;
        this.isWarned ||= line.includes('Room keys are not backed up {"problem":"failed"');
        if (!line.includes("The store was set back")) return;
        this.loss.noticedAt = this.#world.timeline.now;
        this.fork?.notices(process);
      }, (line, about) => this.#world.historyNoted(this, line, about)),
      store: process.store(store, (mutations) => {
        if (store === this.disk.store && login === this.login) this.disk.written(name, mutations, violate);
        if (store !== this.fork?.disk.store) this.#world.committed(this, mutations);
      }),
      fetch: process.fetch(async (request) => {
        const { url: { pathname }, body } = request;
        if (body !== undefined && pathname.includes("/send/m.room.encrypted/")) {
          this.fork?.sends(process, body);
        }
        const response = await this.#world.network.send({ device: this, process }, request);
        const isSync = response.ok && pathname.endsWith("/sync");
        if (isSync) process.isTold = true;
        if (isSync) this.fork?.shows(process, await response.clone().text());
        if (isSync && this.process === process) this.answeredAt = timeline.now;
        return response;
      }),
    });
    this.#watch(client);
    const [isFirst, pace] = [this.#runs.length === 1, chance.branch(`pace of ${name}`)];
    teach(client, { device: this, process, world: this.#world, isFirst, pace, sync });
    const place = { device: this, process, world: this.#world, pace: chance.branch(`kit of ${name}`) };
    const { bot, client: acting } = this.kit === undefined
      ? { bot: undefined, client }
      : kitBot(client, place);
    const run = { process, client: acting, token: login.token };
    if (!isExtra) Object.assign(this, { process, client: acting, bot });
    client.done.then(() => note(`${name} has ended`), (error) => this.#ended(run, error));
    return run;
  }

  /** Ends the process in good order; resolves when it has ended. */
  async stop(): Promise<void> {
    const { client, process } = this;
    this.isWanted = false;
    if (client === undefined || process?.isAlive !== true) return;
    process.resume();
    const closing = client.close();
    watchClosing(this.#world, { name: this.name, process }, closing);
    await Promise.race([closing, process.ended]);
    if (!process.isAlive) return;
    this.#world.closed(this, process);
    process.kill();
  }

  /** Ends the process as `kill -9` does. */
  kill(): void {
    this.isWanted = false;
    this.process?.kill();
  }

  /** Ends all its processes, the one that runs as said, and the others as `kill -9` does. */
  async stopAll({ how }: { readonly how: "kill" | "stop" }): Promise<void> {
    for (const process of this.#runs) if (process !== this.process || how === "kill") process.kill();
    this.isWanted = false;
    await this.stop();
  }

  /** Puts a copy of its disk in place of what is there. */
  async putBack(backup: Backup): Promise<void> {
    const noted = this.ledger.slice(backup.noted).flatMap((entry) =>
      "eventId" in entry ? [entry.eventId] : []
    );
    await this.loss.suffer(this.disk, { backup, noted, at: this.#world.timeline.now });
    this.seen = backup.seen;
    this.settled = Math.min(this.settled, backup.seen);
  }

  /** Says something in a room, until it has arrived or is refused; with another client too. */
  say(saying: Saying, also?: Client): void {
    this.sayings.push(saying);
    if (this.isRunning) this.#send(saying);
    if (also !== undefined) this.#send(saying, also);
  }

  /** Sends again what may not have arrived. */
  sayAgain(): void {
    for (const each of this.unsaid) this.#send(each);
  }

  /** What may not have arrived. */
  get unsaid(): Saying[] {
    return this.sayings.filter(isUnsaid);
  }

  #send(saying: Saying, client = this.client): void {
    if (client !== undefined) {
      if (saying.isQueued) this.knownAt.getOrInsert(saying.text, this.seen); // sendText() is not called
      sendSaying(client, saying, {
        note: (line) => this.#world.note(`${this.name} ${line}`),
        onFailure: (txnId, error) => {
          this.#world.wire.gaveUp(this.name, txnId);
          if (this.account.isMisshown && isOfIdentity(error, this.userId)) {
            this.hasDoubts = true;
            this.#accept(client);
          }
        },
      });
    }
  }

  /** Has the client remember what the device knew when it was asked to send something. */
  #watch(client: Client): void {
    const sendText = client.sendText.bind(client);
    client.sendText = (room, text, options) => {
      this.knownAt.getOrInsert(String(text), this.seen);
      return sendText(room, text, options);
    };
  }

  /** Records what one of its handlers was called with, or did. */
  record(entry: LedgerEntry): void {
    this.ledger.push(entry);
    if (entry.kind === "undecryptable") {
      this.#world.reach(`state: UNDECRYPTABLE ${entry.code}`);
      this.undecryptable.set(entry.eventId as EventID, entry.code);
    }
    this.#world.note(`${this.name} ${JSON.stringify(entry)}`);
  }

  /** Its process has ended by itself. */
  #ended({ process, client, token }: Run, error: unknown): void {
    if (!process.isAlive) return;
    const cause = error instanceof ActorError ? error.cause : error;
    this.#world.note(`${this.name} failed: ${describe(cause)}`);
    this.#world.reach(`state: ended by ${cause instanceof Error ? cause.name : "something else"}`);
    this.#world.failed(this, process, cause);
    client.close().finally(() => {
      process.kill();
      if (process !== this.process) return;
      if (cause instanceof UnknownTokenError && cause.isSoftLogout) {
        this.account.logIn(this).then(() => this.#restartLater());
      } else if (cause instanceof UnknownTokenError && token === this.login.token) {
        this.goneAt = Math.min(this.goneAt, this.#world.timeline.now);
      } else this.#restartLater();
    });
  }

  #restartLater(): void {
    this.#world.timeline.schedule(RESTART, "", () => {
      if (this.isWanted) this.start();
    });
  }
}

/** Whether it is refused to encrypt because of the identity of a user. */
function isOfIdentity(error: unknown, userId: UserID): boolean {
  return error instanceof IdentityChangedError && error.users.includes(userId);
}
