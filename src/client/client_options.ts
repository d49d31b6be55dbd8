/**
 * How a client is made, and how its homeserver wakes it.
 *
 * Over 300 lines because each option has its documentation.
 *
 * @module
 */

import type { StateStore } from "../actors/store/mod.ts";
import type { SyncFeed } from "../actors/syncer/syncer.ts";
import {
  type FillMemberEventCallback,
  type FindAddress,
  HTTP_OPTIONS,
  type HTTPAPI,
  type HTTPAPIOptions,
  type RequestOptions,
} from "../api/http/mod.ts";
import { homeserverAddress, homeserverOf } from "../api/server/server.ts";
import { type EncryptionOptions, verificationOptions } from "../encryption/encryption.ts";
import { checkOneOf } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { Store } from "../store/base/mod.ts";
import { DEFAULT_LEASE, MAX_LEASE, MIN_LEASE } from "../store/device/mod.ts";
import { checkIdentifier } from "../types/identifiers.ts";
import type { DeviceID, UserID } from "../types/ids.ts";

/** Where sync responses come from, in place of the homeserver. */
export const FEED: unique symbol = Symbol("feed");
/** What is known of the state of rooms, in place of what the client has seen itself. */
export const STATE_STORE: unique symbol = Symbol("stateStore");

/** How long each part may take to stop by default, in milliseconds. */
export const CLOSE_DEADLINE = 5_000;
/** The shortest secret of a wake, in characters. */
const MIN_SECRET = 16;
/** How long the answer to a wake may take, in milliseconds. */
const MIN_TIME_LIMIT = 100;
const MAX_TIME_LIMIT = 600_000;

/**
 * How a process takes a device. A client that is closed releases it.
 *
 * @example
 * ```ts
 * import { Client, MemoryStore } from "@greenroom/matrix";
 *
 * await using client = new Client({
 *   baseUrl: "https://matrix.example.org",
 *   store: new MemoryStore(),
 *   lease: { duration: 5_000, held: "refuse", owner: "bot on host a" },
 * });
 * ```
 */
export interface ClientLeaseOptions {
  /**
   * How long this process keeps the device after it last renewed the lease, in milliseconds: from
   * 1,000 to 600,000. It renews three times in that time. If it is paused, or cut off from the
   * store, for longer, another process may take the device: this one can write nothing then, and
   * the client ends. A restart after the process was killed waits as long, if the store has no
   * {@link Store.lock | locks}; with a store in a file it does not wait. Default: 15,000.
   */
  duration?: number;
  /**
   * What to do while another process holds the device. With `wait` everything that needs the store
   * waits, which the log says, until the other releases it, has ended (as a lock shows), or has not
   * renewed its lease in time; with `refuse` the client ends, and `client.done` rejects with what
   * was caused by a `StoreInUseError`. Default: `wait`.
   */
  held?: "wait" | "refuse";
  /**
   * The name of this process, for others that wait for the device. Default: `process`, with the
   * number of the process.
   */
  owner?: string;
}

/**
 * How a {@linkcode Client} is made. It must have a homeserver, as `homeserver`, `baseUrl` or `api`,
 * or a user to find it by, as `mxid`.
 */
export interface ClientOptions extends Omit<HTTPAPIOptions, "baseUrl"> {
  /**
   * The homeserver: its address, like `https://matrix.example.org`, or a server name, like
   * `example.org`. The domain of a server name is asked with the first request where its homeserver is,
   * by https alone, and without a port: `example.org:8448` asks
   * `https://example.org/.well-known/matrix/client`. If it has no such file (404), the homeserver is at
   * that name itself. Default: `baseUrl`, `api`, or the homeserver of `mxid`.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   *
   * await using client = new Client({ homeserver: "example.org", accessToken: "the-token" });
   * ```
   */
  homeserver?: string;
  /**
   * The homeserver's address, in place of `homeserver`; a path in it is kept in front of every request's.
   * Default: where the domain of `mxid` says, which is asked with the first request, as `Client.discover()`
   * does, and again with the next one if that fails with a {@linkcode WellKnownError}. A server that answers
   * for that domain, by https alone, then says where the access token goes: to an https address
   * only, or from a domain on this machine to this machine. Give the address to avoid that; or a
   * function that finds it, which is asked at the same times.
   */
  baseUrl?: string | URL | FindAddress;
  /** A transport that exists already, in place of one made from the other options. */
  api?: HTTPAPI;
  /**
   * The acting user. Default: the owner of the access token; the server is asked when it
   * matters. If it then names another user than this, the client is refused with a
   * {@linkcode DeviceConflictError}. It is not asked if `deviceId` is given, too.
   */
  mxid?: UserID;
  /** The device that the access token belongs to. Default: as the server says. */
  deviceId?: DeviceID;
  /**
   * Where room state and the position in the sync are kept; it may be shared by many clients, and
   * is left open. Default: in memory, for this client alone.
   */
  store?: Store;
  /**
   * How this process takes the device in `store`: one process at a time writes what is kept of a
   * device. Of no effect without `store`.
   */
  lease?: ClientLeaseOptions;
  /**
   * How the client asks what is new. `sliding` is simplified sliding sync (proposal 4186, as it was
   * merged or in Synapse's form, whichever the homeserver has): the rooms with the latest messages come
   * first. Handlers, order and what is stored are the same, and a store goes on from one to the other. It
   * has no presence and takes no `filterData`; a homeserver without it is refused. `auto` takes none, too: it
   * is `sliding` where the homeserver has that, and `classic` where it does not. Default: `classic`.
   *
   * @experimental Its extensions are not all in the specification yet: a minor version may change it.
   */
  sync?: "classic" | "sliding" | "auto";
  /** How the homeserver wakes the client, for `fetch` and `registerWake()`. Default: not at all. */
  wake?: WakeOptions;
  /**
   * End-to-end encryption: `true`, or how to encrypt and what to accept. The keys are kept in
   * `store`; without one they are lost with the process, and with them what was sent to this
   * device. Default: none; sending into a room that is known to be encrypted is refused then.
   */
  encryption?: boolean | EncryptionOptions;
  /**
   * Where sync responses come from, in place of the homeserver: see `src/appservice/`.
   *
   * @internal
   */
  [FEED]?: SyncFeed;
  /**
   * What is known of the state of rooms, in place of what the client has seen itself: see
   * `src/appservice/`.
   *
   * @internal
   */
  [STATE_STORE]?: StateStore;
  /** Types of event that are never encrypted. Default: `m.reaction`. */
  encryptionBlacklist?: Iterable<string>;
  /** Completes member events that are sent by hand. Default: with the profile that is known. */
  fillMemberEventCallback?: FillMemberEventCallback;
  /**
   * Where a restart with the same store goes on. With `at-least-once`, after the last events whose
   * handlers have settled: an event whose handler was cut off comes again. With `at-most-once`,
   * after the last events that were received. Default: `at-least-once`.
   */
  deliver?: "at-least-once" | "at-most-once";
  /** How many handlers may be at work before the next response waits for them. Default: 10,000. */
  maxPendingHandlers?: number;
  /**
   * How long each part may take to stop when the client is closed, in milliseconds. Default: 5,000.
   */
  closeTimeout?: number;
}

/**
 * Returns how the device is taken in the store; undefined if the client has one for itself, which needs no
 * lease.
 *
 * @throws {ValueError} If it can't be taken so.
 */
export function leaseOptions({ store, lease = {} }: ClientOptions): ClientLeaseOptions | undefined {
  const { duration = DEFAULT_LEASE, held } = lease;
  if (!(duration >= MIN_LEASE && duration <= MAX_LEASE)) {
    throw new ValueError(
      `Cannot make a client: lease.duration must be from ${MIN_LEASE} to ${MAX_LEASE} milliseconds, not ${duration}`,
    );
  }
  checkOneOf(held, ["wait", "refuse"], "make a client", "lease.held");
  return store && lease;
}

/**
 * Returns the options of a client's transport.
 *
 * @throws {ValueError} If there is no homeserver, nor a user to find it by.
 */
export function httpOptions({ mxid, ...options }: ClientOptions): HTTPAPIOptions {
  const names = Object.entries(options).filter(([name]) => Object.hasOwn(HTTP_OPTIONS, name));
  const given: Omit<HTTPAPIOptions, "baseUrl"> = Object.fromEntries(names);
  const baseUrl = homeserverAddress(options, "make a client");
  if (baseUrl !== undefined) return { ...given, baseUrl };
  const { fetch, log, clock, retry, requestTimeout, userAgent } = given;
  if (mxid === undefined) {
    throw new ValueError(
      "Cannot make a client: it needs a homeserver; give it homeserver, baseUrl, api or mxid",
    );
  }
  return {
    ...given,
    baseUrl: (signal) => homeserverOf(mxid, { fetch, log, clock, retry, requestTimeout, userAgent, signal }),
  };
}

/**
 * Reads how the client is woken; undefined: it is not.
 *
 * @throws {ValueError} If the secret is too short, or the time is out of range.
 */
export function wakeOptions({ wake }: ClientOptions): WakeOptions | undefined {
  if (wake === undefined) return undefined;
  const { secret, passTimeout = MIN_TIME_LIMIT } = wake;
  if (typeof secret !== "string" || secret.length < MIN_SECRET) {
    throw new ValueError(
      `Cannot make a client: wake.secret must be a random text of at least ${MIN_SECRET} characters`,
    );
  }
  if (passTimeout >= MIN_TIME_LIMIT && passTimeout <= MAX_TIME_LIMIT) return wake;
  throw new ValueError(
    `Cannot make a client: wake.passTimeout must be from ${MIN_TIME_LIMIT} to ${MAX_TIME_LIMIT} milliseconds, not ${passTimeout}`,
  );
}

/** Reads what was chosen about end-to-end encryption; undefined if there is to be none. */
export function encryptionOptions(
  { encryption, mxid }: ClientOptions,
): EncryptionOptions | undefined {
  if (encryption === undefined || encryption === false) return undefined;
  const options = encryption === true ? {} : encryption;
  checkOneOf(options.sendTo, ["all", "cross-signed", "verified"], "make a client", "encryption.sendTo");
  checkOneOf(
    options.accept,
    ["all", "cross-signed-or-legacy", "cross-signed"],
    "make a client",
    "encryption.accept",
  );
  checkOneOf(options.unencrypted, ["ignore", "deliver"], "make a client", "encryption.unencrypted");
  const { acceptFrom = [], confirm } = options.verification ?? {};
  acceptFrom.forEach((userId) => checkIdentifier("userId", userId));
  if (mxid !== undefined && acceptFrom.includes(mxid) && confirm === undefined) {
    throw new ValueError(
      "Cannot make a client: encryption.verification.acceptFrom has its own account, of which no word can count before " +
        "the other device is verified; give it confirm too",
    );
  }
  if (options.password !== undefined && verificationOptions(options) === undefined) {
    throw new ValueError(
      "Cannot make a client: encryption.password makes an identity that nobody could use again; " +
        "give it recoveryKey, passphrase or onRecoveryKey too",
    );
  }
  if (options.dehydratedDevice === true && verificationOptions(options) === undefined) {
    throw new ValueError(
      "Cannot make a client: encryption.dehydratedDevice needs the secret storage; " +
        "give it recoveryKey, passphrase or onRecoveryKey too",
    );
  }
  return options;
}

/** Types that clients send in clear, whatever the room. */
const ALWAYS_CLEAR = /^m\.(call|key\.verification)\./;

/**
 * Which messages count that come in clear into an encrypted room: types that are never encrypted,
 * redactions, which say nothing, calls, and verifications, which prove by themselves who takes part.
 *
 * @returns Undefined if all of them do.
 */
export function acceptClear(
  options: EncryptionOptions | undefined,
  blacklist: ReadonlySet<string>,
): ((event: { readonly type: string }) => boolean) | undefined {
  if (options?.unencrypted === "deliver") return undefined;
  return ({ type }) => blacklist.has(type) || type === "m.room.redaction" || ALWAYS_CLEAR.test(type);
}

/** How a homeserver wakes a client: the client's option `wake`. */
export interface WakeOptions {
  /**
   * A secret of your own, the same in all instances of the bot: at least 16 characters, random.
   * What the homeserver has to show to wake the bot is derived from it and the device; the secret
   * itself goes nowhere. With another secret, call `registerWake()` again.
   */
  secret: string;
  /**
   * How long an answer may take, in milliseconds, from 100 to 600,000: the time that a wake has for
   * handling what is new. Shorter than the homeserver waits, which is a minute for Synapse. Default:
   * 20,000.
   */
  passTimeout?: number;
}

/** How to ask the push gateway for wakes. */
export interface RegisterWakeOptions extends RequestOptions {
  /**
   * What wakes the bot. `all`: every event of the rooms that the account is in, by a push rule
   * `greenroom.wake` in front of all others. It counts every event as unread, in all clients of the
   * account: it is for accounts that belong to a bot. `notifying`: what notifies the user by their
   * own rules; that leaves out reactions, edits, notices, redactions and most changes of state.
   * Default: `all`.
   */
  events?: "all" | "notifying";
  /** The application's ID at the homeserver, at most 64 characters. Default: `greenroom.wake`. */
  appId?: string;
}

/** What `registerWake()` has found and done. */
export interface WakeRegistration {
  /** Whether something was missing or different, and is set now. */
  readonly isChanged: boolean;
  /**
   * Whether the user has turned all push notifications off (`.m.rule.master`): then nothing wakes the
   * bot, until they are turned on.
   */
  readonly isMuted: boolean;
}

/** Being woken. */
export interface WakeAPI {
  /**
   * Has the homeserver wake the bot at an address where {@linkcode WakeAPI.fetch} answers: sets an
   * HTTP pusher of the account, renews one that has changed, removes those of former secrets, and
   * sets the push rule. Call it when the bot is deployed, and from time to time: it is one or two
   * requests if everything is as it should be.
   *
   * The homeserver does not wake the bot for these; the next pass handles them, by another wake or
   * by cron: messages to the device (room keys that come late too), typing,
   * receipts, presence, account data, what the own user does with another device, and what Synapse
   * deletes with the events of a forgotten room.
   *
   * @param url The address, https; http only on this machine. A homeserver accepts no other path
   *   than `/_matrix/push/v1/notify`, which is added to an address without one; a query is kept.
   * @param options What wakes the bot.
   * @returns What was done.
   * @throws {ValueError} If the client has no `wake.secret`, or the address can't be used.
   * @see {@link https://spec.matrix.org/v1.19/push-gateway-api/ | Push gateway API}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deployed(client: Client): Promise<void> {
   *   await client.registerWake("https://stage-bot.example.org");
   * }
   * ```
   */
  registerWake(url: string | URL, options?: RegisterWakeOptions): Promise<WakeRegistration>;
}
