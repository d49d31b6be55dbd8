/**
 * Whom a bot hears, who its admins are, and how much it takes from one user.
 *
 * Over 300 lines because it is one question: whether an event is handled.
 *
 * @module
 */

import { type Client, encryptionOf, ValueError } from "../../../mod.ts";
import type { EncryptionInfo, MatrixEvent, MemberEvent, RoomID, SenderInfo, UserID } from "../../../types.ts";
import { inMilliseconds, written } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent_map.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { type Glob, readGlob } from "../text/mod.ts";

/** Who is an admin of a bot: users, or who has a power level in the room that it is about. */
export type Admins = readonly UserID[] | {
  /** The power level, at least: 50 is a moderator's in most rooms, 100 an administrator's. */
  readonly powerLevel: number;
};

/** The users and rooms to which a bot listens. */
export interface AccessOptions {
  /**
   * Only these users are heard: user IDs, in which `*` stands for any text and `?` for any
   * character, like `@*:example.org`. Default: everybody.
   */
  allow?: readonly string[];
  /** These users are not heard, even if `allow` lists them. Default: none. */
  deny?: readonly string[];
  /** Only in these rooms does it hear. Default: in all. */
  rooms?: readonly RoomID[];
  /**
   * Who its admins are, for commands with `access: "admins"`. A power level is what the homeserver says it
   * is: against that, and for commands that reach beyond their room, list user IDs. Default: nobody.
   */
  admins?: Admins;
  /**
   * Whether it hears only what comes encrypted: messages, reactions, votes, in any room. What comes
   * in clear may be the homeserver's, or of somebody who has stolen a token, and is ignored; the
   * bot asks nothing where nothing is encrypted. What no client encrypts is heard as ever: state,
   * members, invitations, redactions. For some commands alone: {@linkcode
   * CommandOptions.encryptedOnly}. Default: false.
   */
  encryptedOnly?: boolean;
}

/** Whose invitations are accepted: `true`: of all who are heard; a list: of its users and patterns. */
export type AutoJoin = boolean | readonly string[] | ((invite: MemberEvent) => boolean | Promise<boolean>);

/** What user IDs can match: one as it is, or with `*` and `?`. */
const PATTERN = /^(?:@[^:*?]*:.+|@[^*?\n]*[*?].*|[*?].*)$/;

/** Says who may do what. */
export class Access {
  readonly #client: Client;
  readonly #options: AccessOptions;
  readonly #allow: readonly Glob[] | undefined;
  readonly #deny: readonly Glob[];
  readonly #autoJoin: boolean | readonly Glob[] | Extract<AutoJoin, (invite: MemberEvent) => unknown>;

  /**
   * @param client Knows the rooms.
   * @param options Whom it hears.
   * @throws {ValueError} If a pattern or the admins can't be used.
   */
  constructor(client: Client, options: AccessOptions & { readonly autoJoin?: AutoJoin }) {
    this.#client = client;
    this.#options = options;
    this.#allow = options.allow && globsOf("allow", options.allow);
    this.#deny = globsOf("deny", options.deny ?? []);
    const { autoJoin = true } = options;
    const isList = typeof autoJoin !== "boolean" && typeof autoJoin !== "function";
    this.#autoJoin = isList ? globsOf("autoJoin", autoJoin) : autoJoin;
    checkAdmins(options.admins ?? []);
    for (const room of options.rooms ?? []) {
      if (typeof room !== "string" || !room.startsWith("!")) {
        throw new ValueError(`Cannot make a bot: rooms has ${shown(room)}, which is no room ID like "!…"`);
      }
    }
  }

  /** Returns whether a user is heard in a room. */
  hears(userId: string, room: RoomID): boolean {
    if (this.#options.rooms?.includes(room) === false) return false;
    if (this.#deny.some((pattern) => pattern.matches(userId))) return false;
    return this.#allow === undefined || this.#allow.some((pattern) => pattern.matches(userId));
  }

  /** Returns whether it hears an event as far as that depends on how it came: encrypted, or in clear. */
  hearsAsSent(type: string, event: MatrixEvent): boolean {
    if (this.#options.encryptedOnly !== true || "state_key" in event || type === "m.room.redaction") {
      return true;
    }
    return isSendersWord({ event, encryption: encryptionOf(event) });
  }

  /** Returns whether an invitation is accepted without a function of the bot. */
  async accepts(invite: MemberEvent): Promise<boolean> {
    const joins = this.#autoJoin;
    if (typeof joins === "function") return await joins(invite);
    return typeof joins === "boolean" ? joins : !this.leavesOut(invite.sender);
  }

  /** Returns whether `autoJoin` is a list that a user is not in. */
  leavesOut(userId: string): boolean {
    const joins = this.#autoJoin;
    return typeof joins === "object" && !joins.some((pattern) => pattern.matches(userId));
  }

  async isAdmin(userId: UserID, room: RoomID): Promise<boolean> {
    const { admins = [] } = this.#options;
    return "powerLevel" in admins
      ? await this.hasPowerLevel(userId, room, admins.powerLevel)
      : admins.includes(userId);
  }

  async hasPowerLevel(userId: UserID, room: RoomID, least: number): Promise<boolean> {
    if (least === -Infinity) return true;
    const { stateStore } = this.#client;
    // What an application service is sent begins when it comes into a room; the levels are older.
    if (await stateStore.getPowerLevels(room) === undefined) await this.#client.getState(room);
    return (await stateStore.getPowerLevel(room, userId) ?? -Infinity) >= least;
  }
}

function checkAdmins(admins: Admins): void {
  if (typeof admins === "object" && "powerLevel" in admins) {
    checkOptions(admins, { powerLevel: true }, "make a bot", "admins.");
    if (Number.isInteger(admins.powerLevel)) return;
    throw new ValueError("Cannot make a bot: admins.powerLevel must be a whole number");
  }
  if (!Array.isArray(admins)) {
    throw new ValueError(
      `Cannot make a bot: admins is ${shown(admins)}; give a list of user IDs, or a power level`,
    );
  }
  for (const each of admins) {
    if (typeof each === "string" && /^@[^:]*:./.test(each)) continue;
    throw new ValueError(
      `Cannot make a bot: admins has ${shown(each)}, which is no user ID like "@alice:example.org"`,
    );
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : `a value of type ${typeof value}`;
}

/** Patterns of user IDs. */
function globsOf(option: string, patterns: readonly string[]): readonly Glob[] {
  if (!Array.isArray(patterns)) {
    throw new ValueError(`Cannot make a bot: ${option} is ${shown(patterns)}; give a list of user IDs`);
  }
  return patterns.map((each) => {
    if (typeof each === "string" && each.length <= 255 && PATTERN.test(each)) return readGlob(each);
    throw new ValueError(
      `Cannot make a bot: ${option} has ${
        shown(each)
      }, which is no user ID, nor a pattern like "@*:example.org"`,
    );
  });
}

/** An event, and how it was encrypted; undefined: it was not. */
interface Received {
  readonly event: Pick<MatrixEvent, "type">;
  readonly encryption: SenderInfo & Partial<Pick<EncryptionInfo, "relation">> | undefined;
}

/**
 * Returns whether nobody but its sender's device can have written an event: it was encrypted. Of a reaction
 * that includes what it is to, and with what, which stands in the relation.
 */
export function isSendersWord({ event, encryption }: Received): boolean {
  if (encryption === undefined) return false;
  return event.type !== "m.reaction" || encryption.relation === "encrypted";
}

const UNREADABLE = "An encrypted message can't be read, and is not answered unless its key comes";
const UNTRUSTED = "An encrypted message is not answered unless the device that sent it comes to be trusted";
/**
 * How long a message may wait to be read, in milliseconds: its key, or the look-up of its sender, may
 * be on its way.
 */
const PATIENCE = 15_000;
const CLEAR = "A message in clear is not answered in an encrypted room";
const HEAR_CLEAR = 'have it sent encrypted; encryption.unencrypted "deliver" hears what is not';
/** How many senders and reasons are remembered, before they are said again; and how many messages wait. */
const MAX_SAID = 1_000;

/**
 * Has encrypted messages that can't be read logged, and those that should be encrypted, once for each sender
 * and reason.
 *
 * @param client The bot's client.
 * @param access Whom the bot hears: nobody misses an answer to others.
 * @param signal Signals that the bot ends: what is unread by then is said.
 */
export function reportUnread(client: Client, access: Access, signal: AbortSignal): void {
  const said = new Set<string>();
  let waiting = 0;
  const tell = (what: string, message: string, data: Readonly<Record<string, unknown>>): void => {
    if (said.has(what)) return;
    if (said.size >= MAX_SAID) said.clear();
    said.add(what);
    client.log.warn(message, data);
  };
  client.addEventHandler("UNENCRYPTED", ({ event: { sender, room_id: room } }) => {
    if (!access.hears(sender, room)) return;
    tell(`${sender} in clear`, CLEAR, { sender, room, mend: HEAR_CLEAR });
  }, { name: "bot-clear" });
  client.addEventHandler("UNDECRYPTABLE", ({ event, reason, code }) => {
    const { sender } = event;
    const { room_id: room } = event as typeof event & { room_id: RoomID };
    const what = `${sender} ${code}`;
    if (said.has(what) || !access.hears(sender, room)) return;
    const then = client.crypto; // another takes its place if another process has had the device
    const say = () => {
      const isRead = [then, client.crypto].some((each) => each?.wasRecovered(event) === true);
      if (!isRead) tell(what, code === "UNTRUSTED" ? UNTRUSTED : UNREADABLE, { sender, room, error: reason });
    };
    if (waiting >= MAX_SAID) return say();
    waiting++;
    // Not awaited: a handler that waits would hold up what comes after it.
    client.api.clock.delay(PATIENCE, { signal }).catch(() => {}).then(() => {
      waiting--;
      say();
    });
  }, { name: "bot-unread" });
}

/** How many updates of a user are handled that were sent in a time. */
export interface RateLimit {
  /** The most updates of a user that are handled in `window`. */
  count: number;
  /** The time in which they are counted: like `10s`, or in milliseconds. */
  window: number | string;
}

/** A limit whose time is in milliseconds. */
type Measured<Limit extends { window: number | string }> = Omit<Limit, "window"> & {
  readonly window: number;
};

/** How many users are remembered; the others begin anew. */
const MAX_USERS = 10_000;

/** What is remembered of a user. */
interface Taken {
  /** When the latest that were taken had been sent, in the order in which they came. */
  readonly times: readonly number[];
  /** How many more may be taken now, whenever they say that they were sent. */
  readonly left: number;
  /** When that was so. */
  readonly at: number;
  /** When the user was told last. */
  toldAt: number;
}

/** How many windows pass until the bot tells a user again. */
const PAUSE = 10;
/**
 * How many updates are taken at once beside those of a window. Times are what servers say: with one
 * that lies, a flood would look like what was said while the bot was away. A gap of a room is filled
 * with as many.
 */
const BACKLOG = 1_000;

/**
 * Counts updates, by user and by when they were sent: what was said slowly while the bot was away
 * comes at once, and is no flood. Rooms come one after the other, and what is decrypted late comes
 * later, so times may go back.
 */
export class RateLimiter {
  readonly #limit: Measured<RateLimit>;
  readonly #users = new RecentMap<string, Taken>(MAX_USERS);

  /** @throws {ValueError} If the limit lets nothing through. */
  constructor(limit: RateLimit) {
    const window = inMilliseconds(limit.window);
    if (!(Number.isSafeInteger(limit.count) && limit.count >= 1 && window >= 1)) {
      throw new ValueError(
        `Cannot make a bot: rateLimit needs a count, a whole number of at least 1, and is ${limit.count}; and a ` +
          `window like "10m", or in milliseconds, and is ${written(limit.window)}`,
      );
    }
    this.#limit = { ...limit, window };
  }

  /**
   * Counts an update of a user.
   *
   * @param sentAt When it was sent, as its server says; now, if that is in the future.
   * @returns Whether it is taken.
   */
  take(user: string, sentAt: number, now: number): boolean {
    const { count, window } = this.#limit;
    const most = count + BACKLOG;
    const { times, left, at, toldAt } = this.#users.get(user) ??
      { times: [], left: most, at: now, toldAt: -Infinity };
    const mayBeTaken = Math.min(most, left + Math.max(0, now - at) * count / window);
    const time = Math.min(Number.isFinite(sentAt) ? sentAt : now, now);
    const isTaken = mayBeTaken >= 1 && (times.length < count || this.#hasRoom(times, time));
    this.#users.set(user, {
      times: isTaken ? [...times.slice(1 - 2 * count), time] : times, // two rooms side by side
      left: isTaken ? mayBeTaken - 1 : mayBeTaken,
      at: now,
      toldAt,
    });
    return isTaken;
  }

  /** Returns whether to tell a user of it, who is not told again for a while. */
  tells(user: string, now: number): boolean {
    const known = this.#users.get(user);
    if (known === undefined || now - known.toldAt < this.#limit.window * PAUSE) return false;
    known.toldAt = now;
    return true;
  }

  /** Returns whether no window has more than may be once there is one more. */
  #hasRoom(times: readonly number[], time: number): boolean {
    const { count, window } = this.#limit;
    const sorted = Float64Array.of(...times, time).sort();
    return sorted.every((first, index) => (sorted[index + count] ?? Infinity) - first >= window);
  }
}

/** How many invitations are taken in a time. */
export interface InviteLimit {
  /** The most invitations from one user within the window. */
  count: number;
  /** How many of all users together. */
  total: number;
  /** The length of the window: like `1h`, or in milliseconds. */
  window: number | string;
}

const DEFAULT = { count: 50, total: 500, window: 3_600_000 };
/** How many windows an invitation may have to wait. */
const MAX_WINDOWS = 10;

/** How many have their turn in a window, by its number. */
type Turns = Map<number, number>;

/** Gives invitations their turn: those of one user in order, and no more in a window than may be. */
export class InviteLimiter {
  readonly #limit: Measured<InviteLimit>;
  readonly #all: Turns = new Map();
  readonly #users = new RecentMap<string, { readonly turns: Turns; toldIn?: number }>(MAX_USERS);

  /**
   * @param limit The most invitations that are taken. Default: 50 of one user in an hour, 500 of all.
   * @throws {ValueError} If it lets none through.
   */
  constructor(limit: Partial<InviteLimit> = {}) {
    const { count = DEFAULT.count, total = DEFAULT.total } = limit;
    const window = inMilliseconds(limit.window ?? DEFAULT.window);
    this.#limit = { count, total, window };
    if (![count, total].every((each) => Number.isSafeInteger(each) && each >= 1) || !(window >= 1)) {
      throw new ValueError(
        `Cannot make a bot: inviteLimit needs count and total, whole numbers of at least 1, and they are ${count} ` +
          `and ${total}; and a window like "10m", or in milliseconds, and is ${
            written(limit.window ?? DEFAULT.window)
          }`,
      );
    }
  }

  /**
   * Takes an invitation.
   *
   * @returns When it has its turn, in milliseconds since the epoch; undefined: never, too many wait.
   */
  take(user: string, now: number): number | undefined {
    const { count, total, window } = this.#limit;
    const current = Math.floor(now / window);
    const { turns } = this.#of(user);
    for (const each of [turns, this.#all]) forget(each, current);
    for (let at = current; at <= current + MAX_WINDOWS; at++) {
      const [own, all] = [turns.get(at) ?? 0, this.#all.get(at) ?? 0];
      if (own >= count || all >= total) continue;
      turns.set(at, own + 1);
      this.#all.set(at, all + 1);
      return at === current ? now : at * window;
    }
    return undefined;
  }

  /** Returns whether to say that invitations of a user are not taken: once in a window. */
  tells(user: string, now: number): boolean {
    const known = this.#of(user);
    const current = Math.floor(now / this.#limit.window);
    const tells = known.toldIn !== current;
    known.toldIn = current;
    return tells;
  }

  #of(user: string): { readonly turns: Turns; toldIn?: number } {
    const known = this.#users.get(user) ?? { turns: new Map() };
    this.#users.set(user, known);
    return known;
  }
}

function forget(turns: Turns, current: number): void {
  for (const at of turns.keys()) if (at < current || at > current + MAX_WINDOWS) turns.delete(at);
}
