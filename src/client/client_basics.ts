/**
 * What all parts of a client work with, and which options a client has.
 *
 * @module
 */

import { checkInteger, checkRetry, HTTP_OPTIONS, HTTPAPI, Session } from "../api/http/mod.ts";
import { homeserverAddress } from "../api/server/server.ts";
import { HandlerRegistry } from "../actors/dispatcher/dispatcher.ts";
import {
  ClearRooms,
  type StartOptions,
  type SyncBackoff,
  type SyncOnceOptions,
} from "../actors/syncer/syncer.ts";
import type { Clock } from "../base/clock.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import {
  type CryptoMachine,
  ENCRYPTION_OPTIONS,
  type EncryptionOptions,
  type OwnerVerificationOptions,
} from "../encryption/encryption.ts";
import type { Holding } from "../store/device/mod.ts";
import { PresenceState } from "../types/enums.ts";
import { parseUserId } from "../types/identifiers.ts";
import type { RoomID } from "../types/ids.ts";
import {
  type ClientLeaseOptions,
  type ClientOptions,
  CLOSE_DEADLINE,
  encryptionOptions,
  httpOptions,
  type WakeOptions,
  wakeOptions,
} from "./client_options.ts";
import { checkAuthentication } from "../api/account/account.ts";
import { checkOneOf, checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";

/** What lasts as long as a client: its actors may be replaced, and work with this again. */
export class ClientBasics {
  /** How the client is made. */
  readonly options: ClientOptions;
  /** What was chosen about encryption; undefined: there is to be none. */
  readonly chosen: EncryptionOptions | undefined;
  /** How the client is woken; undefined: it is not. */
  readonly wake: WakeOptions | undefined;
  /** How long each part may take to stop, in milliseconds. */
  readonly deadline: number;
  /** Who acts, and the way to the server. */
  readonly session: Session;
  /** The client's logger. */
  readonly log: Logger;
  /** The logger of what has to do with encryption. */
  readonly cryptoLog: Logger;
  readonly registry: HandlerRegistry = new HandlerRegistry();
  /** The rooms that sliding sync shows at once. */
  readonly followed = new Set<RoomID>();
  /** Says which rooms are known not to be encrypted. */
  readonly clearRooms: ClearRooms;
  /** Types of event that are never encrypted. */
  readonly blacklist: Set<string>;
  /** How the device is held. */
  readonly holding: Holding = { mode: "kept", isWaiting: false };
  /** The user's presence while the client syncs. */
  presence: PresenceState = PresenceState.ONLINE;
  /** End-to-end encryption, of now; undefined: there is none. */
  crypto: CryptoMachine | undefined;

  /**
   * @param options How the client is made.
   * @throws {ValueError} If it can't be made so.
   */
  constructor(options: ClientOptions) {
    checkClientOptions(options);
    const { mxid, deviceId, api, log } = options;
    if (mxid !== undefined) parseUserId(mxid);
    this.options = options;
    this.chosen = encryptionOptions(options);
    this.wake = wakeOptions(options);
    this.deadline = options.closeTimeout ?? CLOSE_DEADLINE;
    this.session = new Session(api ?? new HTTPAPI(httpOptions(options)), mxid, deviceId);
    this.session.fillMemberEventCallback = options.fillMemberEventCallback;
    this.log = loggerOf(log, this.clock, "client");
    this.cryptoLog = loggerOf(log, this.clock, "crypto");
    this.clearRooms = new ClearRooms(this.clock);
    this.blacklist = new Set(options.encryptionBlacklist ?? ["m.reaction"]);
  }

  /** Sends the HTTP requests of all operations. */
  get http(): HTTPAPI {
    return this.session.http;
  }

  /** Measures time. */
  get clock(): Clock {
    return this.session.http.clock;
  }
}

const CLIENT: OptionNames<ClientOptions> = {
  ...HTTP_OPTIONS,
  ...{ homeserver: true, api: true, mxid: true, deviceId: true, store: true, lease: true, wake: true },
  ...{ encryption: true, encryptionBlacklist: true },
  ...{
    fillMemberEventCallback: true,
    deliver: true,
    maxPendingHandlers: true,
    closeTimeout: true,
    sync: true,
  },
};

const LEASE: OptionNames<ClientLeaseOptions> = { duration: true, held: true, owner: true };
const WAKE: OptionNames<WakeOptions> = { secret: true, passTimeout: true };
const VERIFICATION: OptionNames<OwnerVerificationOptions> = { acceptFrom: true, confirm: true };

const SYNC: OptionNames<Omit<StartOptions, "signals" | "backoff">> = {
  ...{ filterData: true, lazyLoadMembers: true, ignoreInitialSync: true, ignoreFirstSync: true },
  ...{ fillGaps: true, timeout: true, signal: true },
};
const START: OptionNames<StartOptions> = { ...SYNC, signals: true, backoff: true };
const SYNC_ONCE: OptionNames<SyncOnceOptions> = { ...SYNC, passTimeout: true };
const BACKOFF: OptionNames<SyncBackoff> = { base: true, cap: true };

/**
 * Refuses options that a client has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
function checkClientOptions(options: ClientOptions): void {
  const action = "make a client";
  if (options === undefined) {
    throw new ValueError("Cannot make a client: it has no options; give it homeserver");
  }
  checkOptions(options, CLIENT, action);
  const { encryption, lease, store, wake, retry, sync } = options;
  checkOptions(lease, LEASE, action, "lease.");
  checkOptions(wake, WAKE, action, "wake.");
  checkRetry(retry, action);
  homeserverAddress(options, action);
  checkOneOf(sync, ["classic", "sliding", "auto"], "make a client", "sync");
  if (store !== undefined && typeof store?.commit !== "function") {
    throw new ValueError(
      "Cannot make a client: store is no store; open one, and await it: store: await SqliteStore.open(path)",
    );
  }
  if (typeof encryption === "boolean") return;
  checkOptions(encryption, ENCRYPTION_OPTIONS, action, "encryption.");
  checkAuthentication(encryption?.authentication, action);
  checkOptions(encryption?.verification, VERIFICATION, action, "encryption.verification.");
}

/**
 * Refuses options that `start()` has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkStartOptions(options: StartOptions | undefined): void {
  checkOptions(options, START, "start");
  checkOptions(options?.backoff, BACKOFF, "start", "backoff.");
  checkInteger("timeout", options?.timeout);
}

/**
 * Refuses options that `syncOnce()` has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkSyncOnceOptions(options: SyncOnceOptions | undefined): void {
  checkOptions(options, SYNC_ONCE, "sync once");
  checkInteger("timeout", options?.timeout);
}
