/**
 * A simulated world: a homeserver, users with devices, rooms, and the time.
 *
 * Over 300 lines because whoever reads an action looks up here what it can do.
 *
 * @module
 */

import { type Client, type StoreMutation, type SyncOnceOptions, UnknownTokenError } from "@greenroom/matrix";
import {
  AuthenticationNeededError,
  DeviceConflictError,
  OwnIdentityError,
  SecretStorageError,
  StoreError,
  StoreInUseError,
} from "@greenroom/matrix/errors";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { TestUser } from "@greenroom/matrix/testing";
import { describe } from "../../kill/answering.ts";
import { WorldService } from "../appservice/world_service.ts";
import { Chance } from "../core/chance.ts";
import { Timeline } from "../core/timeline.ts";
import { RestorableHomeserver } from "../setback/restorable_homeserver.ts";
import type { KeyPost, Setback } from "../setback/setback.ts";
import type { Trace } from "../core/trace.ts";
import { Account, type Ask } from "./account.ts";
import { layForDevices, layForService } from "./aim.ts";
import { Ambushes, WEATHERS } from "./ambushes.ts";
import { Device } from "./device.ts";
import { Disk } from "../disks/disk.ts";
import { Intruder } from "./intruder.ts";
import { learn, mustKnowEncrypted } from "./knowledge.ts";
import { Network, type Published, type Weather } from "./network.ts";
import { recoveryKeyOf, type WorldPlan } from "./plan.ts";
import { NosyMember } from "./nosy_member.ts";
import { type QuirkName, Quirks } from "../quirks/quirks.ts";
import { notePublished } from "./published.ts";
import { Memberships } from "../judge/memberships.ts";
import { WorldReader } from "../reader/world_reader.ts";
import type { Process } from "./process.ts";
import type { Saying } from "./saying.ts";
import { noteHistory, type SharedHistory } from "./history.ts";
import type { Bereavement } from "./inheritance.ts";
import type { Surroundings } from "./surroundings.ts";
import { syncOptionsOf } from "./sync_options.ts";
import { planFault, planWeather } from "./trust_faults.ts";
import { Wire } from "./wire.ts";
import { EVERYBODY } from "../../../tests/support/everybody.ts";
import { SPELLINGS } from "../../../tests/support/sliding.ts";

/** What a world is like, whatever is in it. */
type Traits = Omit<WorldPlan, "devices" | "people" | "rooms" | "aims">;

/** A room. */
export interface WorldRoom {
  readonly id: RoomID;
  /** When it was encrypted; infinity: never. */
  encryptedAt: number;
}

/** The most time that closing a client may take, in milliseconds. */
const CLOSING = 60_000;

/** Whether it failed since another device of the user was about to make an identity. */
function isOfAnother(cause: unknown): boolean {
  if (cause instanceof OwnIdentityError) return cause.problem === "mismatch";
  return cause instanceof SecretStorageError && ["changed", "other-keys"].includes(cause.problem);
}

/** A world. */
export class World implements Surroundings {
  readonly chance: Chance;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly homeserver: RestorableHomeserver;
  readonly network: Network;
  readonly wire: Wire;
  readonly accounts: Account[] = [];
  readonly rooms: WorldRoom[] = [];
  /** A member of all rooms who reads with another implementation, if the world has one. */
  reader: WorldReader | undefined;
  /** A member who came late and asks for keys, if there is one. */
  nosy: NosyMember | undefined;
  /** An application service, if there is one. */
  service: WorldService | undefined;
  /** Events that a hostile member has made: nobody is to take them for what they copy. */
  readonly forged = new Set<string>();
  /** Those of them that are another's ciphertext, by who has said that. */
  readonly copied = new Map<string, Device>();
  /** Events that the server has shown a device as edits of others, by the names of both. */
  readonly shownAsEdits = new Set<string>();
  /** Events of sessions that somebody has written into a backup: nobody is to take them for proven. */
  readonly planted = new Set<string>();
  /** Events of sessions that a member has announced in the name of others, by that member. */
  readonly hearsay = new Map<string, UserID>();
  /** By user, a device of a member without Greenroom, which is signed by the user's identity. */
  readonly traitors = new Map<UserID, Intruder>();
  /** By number, for which device a memo of another program is, and when it was sent. */
  readonly memos = new Map<number, { readonly device: Device; readonly at: number }>();
  /** What was sent to devices encrypted. */
  readonly posts: KeyPost[] = [];
  /** What was put into backups: when, and the rooms and IDs of the sessions. */
  readonly backedUp: { readonly at: number; readonly sessions: readonly string[] }[] = [];
  /** That the homeserver was set back, if it was. */
  setback: Setback | undefined;
  /** When all that a world begins with was there. */
  begunAt = Infinity;
  /** What is still to happen, whatever else does. */
  awaited = 0;
  /** What clients ask for. */
  readonly sync: SyncOnceOptions;
  readonly slides: WorldPlan["slides"];
  readonly isVouched: boolean;
  readonly dehydrates: boolean;
  readonly sharesHistory: boolean;
  readonly encryption: Surroundings["encryption"];
  /** What members were to share with whom they invite. */
  readonly shares: SharedHistory[] = [];
  /** When a message was last sent in whose place others come that a hostile server has held back. */
  placedAt = -Infinity;
  /** When everybody was last away for a day. */
  dayOffAt = -Infinity;
  /** Users who have lost all of their devices. */
  readonly bereavements: Bereavement[] = [];
  /** What must not be. */
  readonly violations: string[] = [];
  /** How often what was reached. */
  readonly reached = new Map<string, number>();
  /** What lies in wait for what devices seldom do. */
  readonly ambushes: Ambushes<Weather["kind"]>;
  /** By number, what was said where. */
  readonly sayings = new Map<number, { saying: Saying; device: Device; isSecret: boolean }>();

  readonly #plan: Traits;
  #stranger: TestUser | undefined;
  #intruder: Promise<Intruder> | undefined;
  /** When those came who are in no room at first: the intruder, and the nosy member. */
  #outsidersAt = { intruder: Infinity, nosy: Infinity };

  constructor(plan: Traits, { trace }: { readonly trace: Trace }) {
    this.trace = trace;
    this.#plan = plan;
    this.sync = syncOptionsOf(plan);
    this.slides = plan.slides;
    this.isVouched = plan.trust === "all";
    this.dehydrates = plan.dehydrates === true;
    this.sharesHistory = plan.sharesHistory === true;
    this.encryption = {
      ...this.isVouched ? {} : EVERYBODY,
      answerKeyRequests: plan.answersRequests ?? false,
    };
    this.chance = new Chance(`world ${plan.seed}`);
    this.timeline = new Timeline(trace);
    this.homeserver = new RestorableHomeserver(
      this.timeline,
      {
        onError: (error) => this.violate(`the homeserver failed inside: ${describe(error)}`),
        unstableFeatures: SPELLINGS[plan.isMerged === true ? "merged" : "synapse"],
      },
    );
    this.wire = new Wire({
      isSecret: (number, sender) => mustKnowEncrypted(this, this.sayings.get(number), sender),
      onViolation: (what) => this.violate(what),
      now: () => this.timeline.now,
      keepsBodies: plan.trust !== undefined,
    });
    this.ambushes = new Ambushes({ weathers: WEATHERS, note: this.note });
    const { homeserver, timeline, wire, reach } = this;
    const published: Published = (...of) => notePublished(this, ...of);
    const reused = (key: readonly [string, string], at: number) => this.#reused(key, at);
    const upToDate = (device: Device) => this.setback?.caughtUp(device, this.timeline.now);
    const { seed, quirks: names = [] } = plan;
    const quirks = (tokens: Map<string, number>) =>
      new Quirks({ seed, names, reach, place: { timeline, homeserver, tokens } });
    this.network = new Network({ homeserver, timeline, wire, quirks, reach, published, reused, upToDate });
  }

  /** Whether the homeserver has a quirk. */
  hasQuirk(name: QuirkName): boolean {
    return this.#plan.quirks?.includes(name) === true;
  }

  /** A server that was set back gives keys once more that it had given. */
  #reused([userId, deviceId]: readonly [string, string], at: number): void {
    if (this.setback === undefined) return;
    this.reach("excused, since the server was set back: a one-time key was given twice");
    for (const device of this.devices) {
      if (device.userId === userId && device.deviceId === deviceId) device.loss.hurt(at);
    }
  }

  /** A user who is in no room. */
  get stranger(): TestUser {
    return this.#stranger ??= this.homeserver.createUser("stranger");
  }

  /** A device of that user which has keys of its own. */
  async intruder(): Promise<Intruder> {
    if (this.#intruder === undefined) this.#outsidersAt.intruder = this.timeline.now;
    return await (this.#intruder ??= Intruder.publish(this.stranger, this.ask));
  }

  /** All devices. */
  get devices(): Device[] {
    return this.accounts.flatMap(({ devices }) => devices);
  }

  /** All rooms, those of the application service, too. */
  get roomIds(): RoomID[] {
    return [...this.rooms.map(({ id }) => id), ...this.service?.rooms ?? []];
  }

  readonly note = (line: string): void => this.trace.note(this.timeline.now, line);

  readonly reach = (what: string): void => {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  };

  /** Notes what must not be. */
  violate(what: string): void {
    this.note(`VIOLATION: ${what}`);
    this.violations.push(what);
  }

  /** Sends a request without a client, as another program of the user does. */
  readonly ask: Ask = async (token, method, path, body) => {
    this.timeline.instant();
    const response = await this.homeserver.fetch(`${this.homeserver.baseUrl}/_matrix/client/${path}`, {
      method,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = await response.json();
    if (path.endsWith("keys/claim")) this.network.noteClaim(answer.one_time_keys ?? {});
    return answer;
  };

  /** Adds a member to all rooms that are made from now on, who reads with another implementation. */
  async addReader(): Promise<void> {
    const fetching: typeof fetch = (input, init) => {
      this.timeline.instant();
      return this.homeserver.fetch(input, init);
    };
    this.reader = await WorldReader.register(this.homeserver, this.ask, fetching);
  }

  /** Has the nosy member be in a room. */
  async admitNosy(room: WorldRoom): Promise<void> {
    const [creator] = this.accounts;
    if (creator === undefined) return;
    if (this.nosy === undefined) this.#outsidersAt.nosy = this.timeline.now;
    this.nosy ??= await NosyMember.register(this.homeserver, this.ask);
    const path = `v3/rooms/${encodeURIComponent(room.id)}/invite`;
    await this.ask(await creator.token(), "POST", path, { user_id: this.nosy.userId });
    await this.nosy.join(room.id);
  }

  /** Forgets outsiders of whom the server does not know any more. */
  forgetOutsiders(since: number): void {
    if (this.#outsidersAt.intruder > since) this.#intruder = undefined;
    if (this.#outsidersAt.nosy > since) this.nosy = undefined;
  }

  /** Makes users, devices and rooms. */
  async populate({ devices, people, rooms, service, aims = [] }: WorldPlan): Promise<void> {
    layForDevices(this, aims);
    this.#stranger = this.homeserver.createUser("stranger");
    for (const [index, count] of devices.entries()) {
      const account = this.addAccount({ isBot: index >= people });
      for (let each = 0; each < count; each++) (await this.addDevice(account)).start();
    }
    const chance = new Chance(`first faults ${this.#plan.seed}`);
    for (const device of this.devices) {
      if (device.recoveryKey === undefined || chance.odds(0.4)) continue;
      for (let count = 0; count < 3; count++) planFault(device, chance.below(64), chance.below(256));
      planWeather(this.network, device, chance.branch(device.name));
    }
    for (const { encrypted, rotation } of rooms) {
      await this.addRoom({ rotation: encrypted ? rotation : undefined });
    }
    for (const { kit } of this.devices) if (kit !== undefined) kit.room = this.rooms[0]?.id;
    this.begunAt = this.timeline.instant();
    if (service === undefined) return;
    this.service = new WorldService(this, service);
    layForService(this.service, aims);
    await this.service.populate();
  }

  /** Adds a user. */
  addAccount({ isBot }: { readonly isBot: boolean }): Account {
    const { userId, password } = this.homeserver.createUser(
      `${isBot ? "bot" : "person"}${this.accounts.length}`,
    );
    const account = new Account({
      userId,
      password,
      isBot,
      hasKit: isBot && this.#plan.hasKit === true,
      encrypts: !isBot || !this.#plan.plainBots,
      recoveryKey: recoveryKeyOf(this.#plan, this.accounts.length),
      refreshes: this.#plan.refreshes,
      ask: this.ask,
    });
    this.accounts.push(account);
    return account;
  }

  /**
   * Adds a device to an account.
   *
   * @param options.hasKey Whether it is given the recovery key of its user.
   */
  async addDevice(account: Account, { hasKey = true }: { readonly hasKey?: boolean } = {}): Promise<Device> {
    const login = await account.login();
    const disk = await Disk.open(this.#plan.isSealed ? this.chance.fill(new Uint8Array(32)) : undefined);
    const name = `${account.userId.slice(1).replace(/:.*/, "")}.${account.devices.length + 1}`;
    const device = new Device(this, { name, account, login, disk, hasKey });
    account.devices.push(device);
    return device;
  }

  /**
   * Has the first user make a room.
   *
   * @param options.rotation How many messages a key encrypts; undefined: it is in clear.
   * @param options.guests Who is invited. Default: all others.
   */
  async addRoom(
    { rotation, guests = this.accounts.slice(1) }: {
      readonly rotation: number | undefined;
      readonly guests?: readonly Account[];
    },
  ): Promise<WorldRoom | undefined> {
    const [creator] = this.accounts;
    if (creator === undefined) return undefined;
    const encryption = {
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: rotation },
    };
    const { room_id } = await this.ask(await creator.token(), "POST", "v3/createRoom", {
      preset: "private_chat",
      invite: [...guests, ...this.reader === undefined ? [] : [WorldReader]].map(({ userId }) => userId),
      initial_state: rotation === undefined ? [] : [encryption],
    });
    if (room_id === undefined) return undefined; // its token has expired, for one
    const id = room_id as RoomID;
    await this.reader?.join(id);
    const room = { id, encryptedAt: rotation === undefined ? Infinity : this.timeline.now };
    this.rooms.push(room);
    if (rotation !== undefined) this.wire.rotations.set(id, rotation);
    this.note(`room ${this.rooms.length} is ${id}${rotation === undefined ? "" : ", encrypted"}`);
    return room;
  }

  /**
   * Has a device say something.
   *
   * @returns What it says; undefined if nobody would be given the key.
   * @param options.also A client of another of its processes, which says it too.
   * @param options.isQueued Whether it is sent by the queue of the room. Default: no.
   * @param options.words What it says, with its number. Default: what a bot answers.
   */
  say(
    device: Device,
    room: WorldRoom,
    { also, words = (number) => `peer ${device.name} ${number}`, isQueued = false }: {
      readonly also?: Client;
      readonly isQueued?: boolean;
      readonly words?: (number: number) => string;
    } = {},
  ): Saying | undefined {
    // What it says reaches nobody who waits for its user to vouch for it.
    if (this.isVouched && !device.hasKey && device.signedAt === Infinity) return undefined;
    const number = this.sayings.size + 1;
    const saying: Saying = { number, room: room.id, text: words(number), isQueued };
    const since = room.encryptedAt;
    const isSecret = since <= device.seen &&
      new Memberships(this.homeserver, room.id).joined(device.userId, since, this.timeline.now);
    this.sayings.set(number, { saying, device, isSecret });
    this.note(`${device.name} says ${number} in room ${this.rooms.indexOf(room) + 1}: ${saying.text}`);
    device.say(saying, also);
    return saying;
  }

  reply(device: Device, roomId: RoomID, words: (number: number) => string): void {
    const room = this.rooms.find(({ id }) => id === roomId);
    if (room !== undefined && device.goneAt === Infinity) this.say(device, room, { words });
  }

  committed(device: Device, mutations: readonly StoreMutation[]): void {
    learn(this, { device, mutations });
  }

  failed(device: Device, process: Process, cause: unknown): void {
    if (cause instanceof UnknownTokenError) return;
    if (cause instanceof StoreError && (process.hasLostCommit || process !== device.process)) return;
    if (cause instanceof StoreInUseError && process.hasStoodStill) return;
    if (cause instanceof DeviceConflictError && device.isHidden) return;
    if (cause instanceof OwnIdentityError && cause.problem === "replaced") device.hasDoubts = true;
    const isOfIdentity = [AuthenticationNeededError, OwnIdentityError, SecretStorageError]
      .some((kind) => cause instanceof kind);
    if (isOfIdentity && device.account.isMisshown) return; // it found none, or another
    // It finds what that has stored when it begins again.
    if (isOfAnother(cause) && device.account.mayBeginAgain()) return;
    if (process.excuse?.some((kind) => cause instanceof kind) === true) return;
    this.violate(`${device.name} failed: ${describe(cause)}`);
  }

  historyNoted(device: Device, line: string, about: Readonly<Record<string, unknown>>): void {
    noteHistory(this, device, { line, about });
  }

  closed(device: Device, process: Process): void {
    const left = process.storing;
    if (left.length > 0) {
      this.violate(`${device.name} was closed, and its store still has a ${left.join(", ")}`);
    }
  }

  /** Waits in virtual time until something has happened; false if it has not. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    await this.timeline.pass(ms, condition);
    return condition();
  }

  /** Closes all clients in good order. */
  async close(): Promise<void> {
    for (const device of this.devices) {
      let isClosed = false;
      device.stop().then(() => isClosed = true, (error) => {
        isClosed = true;
        this.violate(`closing ${device.name} failed: ${describe(error)}`);
      });
      if (!await this.until(() => isClosed, CLOSING)) this.violate(`closing ${device.name} never ended`);
    }
    this.service?.abandon();
    await this.homeserver[Symbol.asyncDispose]();
  }
}
