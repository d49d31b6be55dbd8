/**
 * The door for the homeserver: the application-service API. Transactions are kept in order, as far as the
 * homeserver lets it: what comes in place of another is refused, so that it is sent again after that one.
 *
 * @see {@link https://spec.matrix.org/v1.19/application-service-api/ | Application service API}
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import { RecentSet } from "../base/recent_map.ts";
import { BoundedBodies, isSameSecret, Refusal } from "../base/bounded_body.ts";
import type { RoomAlias, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import type { Inbox } from "./inbox.ts";
import type { Delivery } from "./transaction_feed.ts";
import type { Intents } from "./intent.ts";
import type { ServiceKit } from "./service_kit.ts";
import { readTransaction } from "./transaction.ts";

/**
 * A transaction has at most 100 events, as many messages to devices and as many others, of 65,536
 * bytes each.
 */
const BOUNDS = { body: 32 * 2 ** 20, reading: 64 * 2 ** 20, time: 60_000 };
/** The longest transaction ID and token, in characters. */
const MAX_TEXT = 1_000;
/** How many pings are remembered. */
const MAX_PINGS = 100;
/** The length of their IDs, which this library has made. */
const MAX_PING_ID = 36;
/** When to come back, in seconds. */
const SOON = { "retry-after": "5" };

/** The paths, below any prefix: also those from before the API had one of its own. */
const PATHS = [
  /(?:\/_matrix\/app\/v1)?\/(transactions|users|rooms)\/([^/]+)$/,
  /\/_matrix\/app\/(?:v1|unstable)\/thirdparty\/(protocol|user|location)\/([^/]+)$/,
  /\/_matrix\/app\/(?:v1|unstable)\/thirdparty\/(user|location)$/,
  /\/_matrix\/app\/v1\/(ping)$/,
];
const METHODS: Readonly<Record<string, string>> = { transactions: "PUT", ping: "POST" };

type Answer = unknown[] | JsonObject | undefined;

/** Answers the homeserver. */
export class HomeserverDoor {
  readonly #kit: ServiceKit;
  readonly #delivery: Delivery;
  readonly #intents: Intents;
  readonly #bodies: BoundedBodies;
  readonly #order: ArrivalOrder;
  /** The IDs of the latest pings that came. */
  readonly #pings = new RecentSet<string>(MAX_PINGS);

  /**
   * @param kit Of the application service.
   * @param delivery Handles transactions that are durable.
   * @param intents Make users.
   */
  constructor(kit: ServiceKit, delivery: Delivery, intents: Intents) {
    [this.#kit, this.#delivery, this.#intents] = [kit, delivery, intents];
    this.#bodies = new BoundedBodies(kit.clock, BOUNDS);
    this.#order = new ArrivalOrder(kit.clock, kit.inbox);
  }

  /** Returns whether the homeserver has pinged with this ID. */
  hasPinged(id: string): boolean {
    return this.#pings.has(id);
  }

  /**
   * Answers a request; undefined if the path is none of this API.
   *
   * @throws {Refusal} If it is refused.
   */
  async answer(request: Request): Promise<Response | undefined> {
    const { pathname, searchParams } = new URL(request.url);
    let found: RegExpExecArray | null = null;
    for (const path of PATHS) if ((found = path.exec(pathname)) !== null) break;
    if (found === null) return undefined;
    const [path, kind = "", name] = found;
    const allow = METHODS[kind] ?? "GET";
    if (request.method !== allow) {
      throw new Refusal(405, "M_UNRECOGNIZED", `The method must be ${allow}`, { allow });
    }
    await this.#authenticate(request, searchParams);
    const isThirdParty = path.includes("/thirdparty/");
    const answer = isThirdParty
      ? await this.#thirdParty(kind, name === undefined ? undefined : decoded(name), searchParams)
      : await this.#own(kind, decoded(name ?? ""), request);
    if (answer === undefined) throw new Refusal(404, "M_NOT_FOUND", "There is no such thing");
    return Response.json(answer);
  }

  async #authenticate({ headers }: Request, query: URLSearchParams): Promise<void> {
    const header = headers.get("authorization");
    // Homeservers of before version 1.4 of the specification show it in the query.
    const token = header === null ? query.get("access_token") : /^Bearer (\S+)$/i.exec(header)?.[1];
    if (token === undefined || token === null || token === "") {
      throw new Refusal(401, "M_MISSING_TOKEN", "The homeserver's token is missing");
    }
    if (token.length > MAX_TEXT || !await isSameSecret(token, this.#kit.registration.hs_token)) {
      throw new Refusal(403, "M_FORBIDDEN", "That is not the homeserver's token");
    }
  }

  async #own(kind: string, name: string, request: Request): Promise<Answer> {
    switch (kind) {
      case "transactions":
        return await this.#transaction(name, request);
      case "users":
        return await this.#user(name as UserID);
      case "rooms":
        return await this.#kit.queries.room?.(name as RoomAlias) === true ? {} : undefined;
      default: {
        const { transaction_id: id } = await this.#bodies.json(request);
        if (typeof id === "string" && id.length <= MAX_PING_ID) this.#pings.add(id);
        return {};
      }
    }
  }

  async #transaction(id: string, request: Request): Promise<Answer> {
    const { inbox, log } = this.#kit;
    if (this.#delivery.hasFailed) {
      throw new Refusal(503, "M_UNKNOWN", "This process has failed; send it again", SOON);
    }
    if (id.length > MAX_TEXT) throw new Refusal(400, "M_INVALID_PARAM", "The transaction ID is too long");
    const transaction = readTransaction(await this.#bodies.json(request));
    if (transaction === undefined) throw new Refusal(400, "M_BAD_JSON", "A transaction must have events");
    const arrival = await this.#order.check(id).then(() => inbox.add(id, transaction)).catch((error) => {
      if (error instanceof Refusal) throw error;
      log.error("A transaction could not be kept, and comes again", { error: String(error) });
      this.#order.refused(id);
      throw new Refusal(503, "M_UNKNOWN", "Not kept; send it again", SOON);
    });
    if (arrival === "full") {
      log.warn("A transaction was refused, since too many wait to be handled; it comes again");
      this.#order.refused(id);
      throw new Refusal(503, "M_LIMIT_EXCEEDED", "Too many transactions wait", SOON);
    }
    await this.#delivery.arrived(); // one that comes again may have been kept, and not handled
    return {};
  }

  async #user(userId: UserID): Promise<Answer> {
    const { users, queries } = this.#kit;
    const profile = users.isOwn(userId) ? await queries.user?.(userId) : undefined;
    if (profile === undefined) return undefined;
    await this.#intents.of(userId).ensureProfile(profile);
    return {};
  }

  async #thirdParty(kind: string, protocol: string | undefined, query: URLSearchParams): Promise<Answer> {
    const { thirdParty } = this.#kit;
    const { access_token: _, ...fields } = Object.fromEntries(query);
    if (kind === "protocol") return await thirdParty.protocol?.(protocol ?? "");
    if (protocol !== undefined) {
      const ask = kind === "user" ? thirdParty.usersOf : thirdParty.locationsOf;
      return await ask?.(protocol, fields) ?? [];
    }
    if (kind === "user") return await thirdParty.user?.(fields.userid ?? "") ?? [];
    return await thirdParty.location?.(fields.alias ?? "") ?? [];
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, "M_INVALID_PARAM", "The path can't be decoded");
  }
}

/** How soon another transaction follows one that was refused, in milliseconds, before that comes again. */
const OVERTAKING = 2_000;
/** How many numbers may be left out; more are numbers that mean something else. */
const MAX_LEFT_OUT = 50;
/**
 * After how long what is left out is looked at again where nothing was missing, in milliseconds:
 * twice as long each time.
 */
const [FIRST_PAUSE, LONGEST_PAUSE] = [10_000, 3_600_000];
/**
 * Which transaction may come next.
 *
 * Synapse sends a transaction that has failed again, with all that were made meanwhile. One that it makes
 * in the moment in which all are sent stays there until another fails. It numbers them, on SQLite from
 * the first again when it is restarted, so the next one shows that one is missing, unless another process
 * has kept it: it is refused, and both come. The numbers of all application services of a Synapse are one
 * sequence: where none was missing, it is not looked at again for a while, since that takes two seconds,
 * and may itself be such a moment.
 */
class ArrivalOrder {
  readonly #clock: Clock;
  readonly #inbox: Pick<Inbox, "hasAll" | "latest">;
  /** The transaction that was refused last, until it comes again, and when. */
  #refused: { readonly id: string; readonly at: number } | undefined;
  /** The number of the transaction that was taken last; NaN: none was, or it has no number. */
  #last = NaN;
  /** Up to where the inbox has IDs that may be from before the homeserver numbered anew. */
  #anew = 0;
  /** The numbers that were left out since that was looked at: the latest. */
  #leftOut: readonly string[] = [];
  /** The transaction that was refused since one before it may be missing, and whether one was. */
  #question: { readonly id: string; wasGood: boolean } | undefined;
  /** When the last of those was refused, and how long nothing is looked at after that. */
  #pause = { since: 0, ms: 0 };

  /**
   * @param clock Measures the time.
   * @param inbox Has what any process has kept.
   */
  constructor(clock: Clock, inbox: Pick<Inbox, "hasAll" | "latest">) {
    this.#clock = clock;
    this.#inbox = inbox;
  }

  /**
   * Looks whether a transaction may be taken.
   *
   * @throws {Refusal} If another is to come before it.
   */
  async check(id: string): Promise<void> {
    const number = numberOf(id);
    const [refused, question] = [this.#refused, this.#question];
    if (question !== undefined && number < numberOf(question.id)) question.wasGood = true;
    if (refused !== undefined && number < numberOf(refused.id)) {
      this.#last = number; // it was missing
      return;
    }
    this.#refused = undefined;
    // The homeserver's first number to this process, or a lower one: this process compares from there on.
    const isFirst = !Number.isNaN(number) && !(number >= this.#last);
    if (isFirst) [this.#anew, this.#leftOut] = [await this.#inbox.latest(), []];
    if (refused !== undefined && refused.id !== id && this.#isWithin(OVERTAKING, refused.at)) {
      throw new Refusal(503, "M_UNKNOWN", "Another comes before this one", SOON);
    }
    if (question?.id === id) this.#answered(question.wasGood);
    else {
      this.#noteLeftOut(number);
      const isTimeToLook = this.#leftOut.length > 0 && !this.#isWithin(this.#pause.ms, this.#pause.since);
      if (isTimeToLook && !await this.#hasAllLeftOut()) {
        this.#question = { id, wasGood: false };
        [this.#leftOut, this.#pause] = [[], { ...this.#pause, since: this.#clock.now() }];
        this.refused(id);
        throw new Refusal(503, "M_UNKNOWN", "One before this one may be missing; send both", SOON);
      }
    }
    this.#last = number;
  }

  /** Notes that a transaction was refused: it comes again, and nothing before it. */
  refused(id: string): void {
    this.#refused = { id, at: this.#clock.now() };
  }

  #answered(wasGood: boolean): void {
    const ms = wasGood ? 0 : Math.min(Math.max(FIRST_PAUSE, 2 * this.#pause.ms), LONGEST_PAUSE);
    [this.#question, this.#pause] = [undefined, { ...this.#pause, ms }];
  }

  #noteLeftOut(number: number): void {
    const length = number - this.#last - 1;
    if (!(length > 0 && length <= MAX_LEFT_OUT)) return;
    const found = Array.from({ length }, (_, index) => String(this.#last + 1 + index));
    this.#leftOut = [...this.#leftOut, ...found].slice(-MAX_LEFT_OUT);
  }

  /** Returns whether processes have kept all that was left out here. */
  async #hasAllLeftOut(): Promise<boolean> {
    if (!await this.#inbox.hasAll(this.#leftOut, this.#anew)) return false;
    this.#leftOut = [];
    return true;
  }

  #isWithin(ms: number, since: number): boolean {
    return elapsed(this.#clock.now(), since) < ms;
  }
}

function numberOf(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : NaN;
}
