/**
 * Whom a bot hears, and who its admins are (`access.ts`); and invitations that a bot accepts: each is tried
 * until the bot has joined, it was refused for good, or the invitation was withdrawn.
 *
 * @module
 */

import { BadStateError } from "../../../errors.ts";
import {
  type Client,
  defineSession,
  type HandlerContext,
  MatrixRequestError,
  type RequestOptions,
} from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import { type Accepted, isPassing, type Timers } from "../timers/timers.ts";
import { type InviteLimit, InviteLimiter } from "./access.ts";

export {
  Access,
  type AccessOptions,
  type Admins,
  type AutoJoin,
  type InviteLimit,
  InviteLimiter,
  isSendersWord,
  type RateLimit,
  RateLimiter,
  reportUnread,
} from "./access.ts";

/** An invitation into a room. */
export type Invitation = Accepted["event"];

/** Accepts invitations. */
export class Invitations {
  readonly inviters: Inviters;
  readonly #client: Client;
  readonly #timers: Timers;
  readonly #limiter: InviteLimiter | undefined;
  readonly #joins = new JoinQueue();
  /** Those of which it is being decided whether to accept them. */
  readonly #open = new Set<{ readonly room: RoomID; isWithdrawn: boolean }>();
  /** What ends the joins under way. */
  readonly #joining = new Map<RoomID, AbortController>();

  /**
   * @param client Joins.
   * @param timers Try again.
   * @param limit How many are taken; `false`: all.
   * @throws {ValueError} If the limit lets none through.
   */
  constructor(client: Client, timers: Timers, limit: Partial<InviteLimit> | false | undefined) {
    this.#client = client;
    this.#timers = timers;
    this.#limiter = limit === false ? undefined : new InviteLimiter(limit);
    this.inviters = new Inviters(client);
  }

  /** Returns the turn of a user's next invitation; undefined: never, and the log says so. */
  turnOf(user: UserID): number | undefined {
    const [client, limiter] = [this.#client, this.#limiter];
    const now = client.api.clock.now();
    if (limiter === undefined) return now;
    const turn = limiter.take(user, now);
    if (turn === undefined && limiter.tells(user, now)) {
      client.log.warn("Ignores invitations of a user: more wait than inviteLimit lets in", { user });
    }
    return turn;
  }

  /**
   * Waits until it is decided whether to accept an invitation.
   *
   * @returns Undefined if it is to be accepted, and was withdrawn in that time.
   */
  async decided(room: RoomID, accepts: Promise<boolean>): Promise<boolean | undefined> {
    const open = { room, isWithdrawn: false };
    this.#open.add(open);
    try {
      const isWanted = await accepts;
      return isWanted && open.isWithdrawn ? undefined : isWanted;
    } finally {
      this.#open.delete(open);
    }
  }

  /**
   * Accepts an invitation. If that is not possible yet, it is tried again later.
   *
   * @param turn When it has its turn, in milliseconds since the epoch.
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async accept(event: Invitation, turn: number, context: HandlerContext): Promise<boolean> {
    const at = this.#client.api.clock.now();
    const noted = this.inviters.note(event.room_id, { by: event.sender, at });
    if (turn > at) {
      await noted;
      this.#later({ event, at }, turn, context);
    } else if (await this.#join({ event, at }, context, { noted })) return true;
    await context.settle();
    this.#timers.wake();
    return false;
  }

  /**
   * Accepts an invitation that was to be tried again.
   *
   * @returns Whether the bot has joined.
   * @throws {MatrixRequestError} If it is refused for good.
   */
  async again(accepted: Accepted, context: HandlerContext): Promise<boolean> {
    const inviter = await this.inviters.of(accepted.event.room_id);
    if (inviter?.at !== accepted.at) return false; // it was withdrawn, or another came
    return await this.#join(accepted, context, { maxRetries: 0 });
  }

  /** Accepts an invitation in its turn, and waits for it. */
  async acceptNow(room: RoomID, inviter: UserID, signal: AbortSignal): Promise<void> {
    await this.#joins.run(inviter, () => joinLate(this.#client, room, { signal }));
  }

  /** The bot is not in a room any more, nor invited into it; an invitation that comes after that counts. */
  async left(room: RoomID): Promise<void> {
    for (const open of this.#open) open.isWithdrawn ||= open.room === room;
    this.#joining.get(room)?.abort();
    await this.inviters.forget(room);
  }

  async #join(
    { event, at }: Accepted,
    context: HandlerContext,
    { noted, ...options }: { readonly noted?: Promise<void>; readonly maxRetries?: number } = {},
  ): Promise<boolean> {
    const client = this.#client;
    const { room_id: room, sender } = event;
    const ending = new AbortController();
    this.#joining.get(room)?.abort(); // what an older one has begun
    this.#joining.set(room, ending);
    try {
      await noted; // what withdraws the invitation in that time ends its join, too
      await this.#joins.run(sender, () => client.joinRoom(room, { ...options, signal: ending.signal }));
      return true;
    } catch (error) {
      if (ending.signal.aborted) return false;
      const now = client.api.clock.now();
      const wait = nextJoin(error, now - at);
      if (wait === undefined) throw error;
      client.log.info("An invitation can't be accepted yet, and is tried again", { room, wait, error });
      this.#later({ event, at }, now + wait, context);
      return false;
    } finally {
      if (this.#joining.get(room) === ending) this.#joining.delete(room);
    }
  }

  #later({ event, at }: Accepted, due: number, context: HandlerContext): void {
    const kept = { ...event, unsigned: undefined };
    const timer = { kind: "join", invitation: { event: kept, at } } as const;
    this.#timers.add(context, due, timer, `join ${event.room_id}`);
  }
}

/** Who has invited a bot, and when. */
export interface Inviter {
  /** The user who invited. */
  readonly by: UserID;
  /** When the invitation was handled, in milliseconds since the epoch. */
  readonly at: number;
}

const INVITERS = defineSession<{ inviter: Inviter | undefined }>({
  name: "bot.inviters",
  per: "room",
  initial: () => ({ inviter: undefined }),
});

/**
 * Remembers who has invited. Each change has a commit of its own, which is begun at once: what handlers
 * change is committed when they end, and that of a leaving may end after that of the next invitation.
 */
class Inviters {
  readonly #client: Client;

  /** @param client Keeps it. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns who has invited into a room; undefined: nobody, as far as is known. */
  async of(room: RoomID): Promise<Inviter | undefined> {
    return (await this.#client.sessions.read(INVITERS, room))?.inviter;
  }

  /** Notes who has invited. */
  async note(room: RoomID, inviter: Inviter): Promise<void> {
    await this.#client.sessions.update(INVITERS, room, () => ({ inviter }));
  }

  /** Forgets who has invited into a room that the bot has left. */
  async forget(room: RoomID): Promise<void> {
    await this.#client.sessions.end(INVITERS, room);
  }
}

/**
 * How long a refusal may come from a server that has not heard yet of the invitation, or of the room: over
 * federation it takes seconds, at times minutes.
 */
const HEARS_LATE = 300_000;
/** How long it is tried while the homeserver is away, or has too much to do, in milliseconds. */
const AWAY = 30 * 86_400_000;
/** The longest time between two tries, in milliseconds. */
const LONGEST = 3_600_000;

/**
 * Returns the time of the next try to join a room.
 *
 * @param error Why it failed.
 * @param tried For how long it has been tried, in milliseconds.
 * @returns After how long, in milliseconds; undefined: it is refused for good.
 */
export function nextJoin(error: unknown, tried: number): number | undefined {
  const refused = error instanceof MatrixRequestError ? error : undefined;
  if (isPassing(error) && tried < AWAY) {
    return Math.min(Math.max(refused?.retryAfter ?? tried / 2, 5_000), LONGEST);
  }
  const mayHearLate = (refused?.status === 403 || refused?.status === 404) &&
    !(refused instanceof BadStateError) && tried < HEARS_LATE;
  return mayHearLate ? Math.max(1_000, tried / 2) : undefined;
}

/** Joins a room, also where its server hears of that late. */
export async function joinLate(
  client: Pick<Client, "joinRoom" | "api">,
  room: RoomID,
  options: RequestOptions & { readonly servers?: readonly string[] },
): Promise<void> {
  const { clock } = client.api;
  const began = clock.now();
  for (;;) {
    try {
      await client.joinRoom(room, options);
      return;
    } catch (error) {
      // What passes was waited for already.
      const wait = isPassing(error) ? undefined : nextJoin(error, clock.now() - began);
      if (wait === undefined) throw error;
      await clock.delay(wait, { signal: options.signal });
    }
  }
}

/** How many go on at a time: a join over federation may take minutes, as its server likes. */
const AT_ONCE = 50;
/** How many of them for one inviter, so that nobody's slow server has the others wait. */
const OF_ONE = 2;

/** A join that waits. */
interface Waiting {
  readonly inviter: string;
  readonly begin: () => void;
}

/** Has joins wait for each other: those of one inviter begin in their order. */
export class JoinQueue {
  readonly #waiting: Waiting[] = [];
  /** The inviters of those that go on. */
  readonly #running: string[] = [];

  /** Joins, when it is its turn. */
  async run<Result>(inviter: string, join: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ inviter, begin });
      this.#next();
    });
    try {
      return await join();
    } finally {
      this.#running.splice(this.#running.indexOf(inviter), 1);
      this.#next();
    }
  }

  #next(): void {
    for (let at = 0; at < this.#waiting.length && this.#running.length < AT_ONCE;) {
      const { inviter, begin } = this.#waiting[at] as Waiting; // there is one
      if (this.#running.filter((each) => each === inviter).length >= OF_ONE) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      this.#running.push(inviter);
      begin();
    }
  }
}
