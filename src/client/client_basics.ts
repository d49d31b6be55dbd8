/**
 * What all parts of a client work with.
 *
 * @module
 */

import { HTTPAPI, Session } from "../api/http/mod.ts";
import { HandlerRegistry } from "../actors/dispatcher/dispatcher.ts";
import { ClearRooms } from "../actors/syncer/syncer.ts";
import type { Clock } from "../base/clock.ts";
import { type Logger, loggerOf } from "../base/log.ts";
import type { CryptoMachine, EncryptionOptions } from "../encryption/encryption.ts";
import type { Holding } from "../store/device/mod.ts";
import { PresenceState } from "../types/enums.ts";
import { parseUserId } from "../types/identifiers.ts";
import {
  type ClientOptions,
  CLOSE_DEADLINE,
  encryptionOptions,
  httpOptions,
  wakeOptions,
} from "./client_options.ts";
import { checkClientOptions } from "./option_names.ts";
import type { WakeOptions } from "./wake_options.ts";

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
  /** Logs what goes on. */
  readonly log: Logger;
  /** Logs what goes on with encryption. */
  readonly cryptoLog: Logger;
  readonly registry: HandlerRegistry = new HandlerRegistry();
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
    this.deadline = options.closeDeadline ?? CLOSE_DEADLINE;
    this.session = new Session(api ?? new HTTPAPI(httpOptions(options)), mxid, deviceId);
    this.session.fillMemberEventCallback = options.fillMemberEventCallback;
    this.log = loggerOf(log, this.clock, "client");
    this.cryptoLog = loggerOf(log, this.clock, "crypto");
    this.clearRooms = new ClearRooms(this.clock);
    this.blacklist = new Set(options.encryptionBlacklist ?? ["m.reaction"]);
  }

  /** The transport. */
  get http(): HTTPAPI {
    return this.session.http;
  }

  /** Measures time. */
  get clock(): Clock {
    return this.session.http.clock;
  }
}
