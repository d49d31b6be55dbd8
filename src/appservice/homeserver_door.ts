/**
 * The door for the homeserver: the application-service API.
 *
 * @see {@link https://spec.matrix.org/v1.16/application-service-api/ | Application service API}
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { RecentMap } from "../base/recent_map.ts";
import { isSameSecret } from "../base/same_secret.ts";
import { BoundedBodies } from "../base/bounded_body.ts";
import { Refusal } from "../base/refusal.ts";
import type { RoomAlias, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";
import { ArrivalOrder } from "./arrival_order.ts";
import type { Inbox } from "./inbox.ts";
import type { GhostProfile, QueryHandlers, ThirdPartyHandlers } from "./queries.ts";
import { readTransaction } from "./transaction.ts";

/** What a door works with. */
interface HomeserverDoorOptions {
  /** What the homeserver has to show. */
  readonly hsToken: string;
  /** Where transactions are kept. */
  readonly inbox: Inbox;
  /** Is called when a transaction is durable: the answer waits for it. */
  readonly onTransaction: () => Promise<void>;
  /** Whether this process has failed, and what it is sent is better kept for another. */
  readonly hasFailed: () => boolean;
  /** Whether the application service may have such a user. */
  readonly isActable: (userId: string) => boolean;
  /** Makes a user. */
  readonly makeUser: (userId: UserID, profile: GhostProfile) => Promise<void>;
  /** Answers to what is asked of users and aliases. */
  readonly queries: QueryHandlers;
  /** Answers to what is asked of networks. */
  readonly thirdParty: ThirdPartyHandlers;
  /** Measures the time. */
  readonly clock: Clock;
  /** Logs what could not be answered. */
  readonly log: Logger;
}

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
  readonly #options: HomeserverDoorOptions;
  readonly #bodies: BoundedBodies;
  readonly #order: ArrivalOrder;
  /** The IDs of the latest pings that came. */
  readonly #pings = new RecentMap<string, string>(MAX_PINGS);

  /** @param options What it works with. */
  constructor(options: HomeserverDoorOptions) {
    this.#options = options;
    this.#bodies = new BoundedBodies(options.clock, BOUNDS);
    this.#order = new ArrivalOrder(options.clock, options.inbox);
  }

  /** Whether the homeserver has pinged with this ID. */
  hasPinged(id: string): boolean {
    return this.#pings.get(id) !== undefined;
  }

  /**
   * Answers a request; undefined if the path is none of this API.
   *
   * @throws {Refusal} If it is refused.
   */
  async answer(request: Request): Promise<Response | undefined> {
    const { pathname, searchParams } = new URL(request.url);
    const found = PATHS.map((path) => path.exec(pathname)).find((match) => match !== null);
    if (found === undefined || found === null) return undefined;
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
    if (token.length > MAX_TEXT || !await isSameSecret(token, this.#options.hsToken)) {
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
        return await this.#options.queries.room?.(name as RoomAlias) === true ? {} : undefined;
      default: {
        const { transaction_id: id } = await this.#bodies.json(request);
        if (typeof id === "string" && id.length <= MAX_PING_ID) this.#pings.set(id, "");
        return {};
      }
    }
  }

  async #transaction(id: string, request: Request): Promise<Answer> {
    const { inbox, onTransaction, hasFailed, log } = this.#options;
    if (hasFailed()) throw new Refusal(503, "M_UNKNOWN", "This process has failed; send it again", SOON);
    if (id.length > MAX_TEXT) throw new Refusal(400, "M_INVALID_PARAM", "The transaction ID is too long");
    const transaction = readTransaction(await this.#bodies.json(request));
    if (transaction === undefined) throw new Refusal(400, "M_BAD_JSON", "A transaction must have events");
    await this.#order.check(id);
    const arrival = await inbox.add(id, transaction).catch((error) => {
      log.error("A transaction could not be kept, and comes again", { error: String(error) });
      this.#order.refused(id);
      throw new Refusal(503, "M_UNKNOWN", "Not kept; send it again", SOON);
    });
    if (arrival === "full") {
      log.warn("A transaction was refused, since too many wait to be handled; it comes again");
      this.#order.refused(id);
      throw new Refusal(503, "M_LIMIT_EXCEEDED", "Too many transactions wait", SOON);
    }
    await onTransaction(); // one that comes again may not have been handled by whoever kept it
    return {};
  }

  async #user(userId: UserID): Promise<Answer> {
    const { isActable, queries, makeUser } = this.#options;
    const profile = isActable(userId) ? await queries.user?.(userId) : undefined;
    if (profile === undefined) return undefined;
    await makeUser(userId, profile);
    return {};
  }

  async #thirdParty(kind: string, protocol: string | undefined, query: URLSearchParams): Promise<Answer> {
    const { thirdParty } = this.#options;
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
