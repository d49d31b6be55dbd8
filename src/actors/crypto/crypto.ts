/**
 * Runs the engine of a device: opens it, makes its requests, prepares rooms, and delivers what can be
 * decrypted late.
 *
 * @module
 */

import type { AllAPI } from "../../api/api.ts";
import type { Session } from "../../api/http/mod.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { RecentSet } from "../../base/recent_map.ts";
import type { AnswerOutput, RecoveredEvent } from "../../crypto/megolm/mod.ts";
import type { ShareReport } from "../../crypto/sharing/mod.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { permanent } from "../../errors/matrix_error.ts";
import { InternalEventType } from "../../types/events/event_type.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import type { Deliverer, DispatcherHandlers } from "../dispatcher/dispatcher.ts";
import type { Actor, ActorRef } from "../kernel/mod.ts";
import type { OpenStore, StateStore, StoreHandlers } from "../store/mod.ts";
import type { CryptoHandlers } from "./crypto_actor.ts";
import { OutgoingRequests } from "./outgoing_requests.ts";
import type { RequestSender } from "./request_sender.ts";
import { Following, type OnNewRecipient, RoomPreparer, type RoomPreparerOptions } from "./room_preparer.ts";

export {
  type CryptoHandlers,
  type CryptoHolder,
  pruneCrypto,
  spawnCrypto,
  type SyncCrypto,
} from "./crypto_actor.ts";
export { requestSender } from "./request_sender.ts";
export { type OnNewRecipient, roomDescriber, sinceNow } from "./room_preparer.ts";

/** What encryption uses of a client. */
export interface EncryptedClient {
  /** Whose device it is. */
  readonly session: Session;
  /** The operations. */
  readonly api: AllAPI;
  /** Stores the engine's records. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens the store, the first time. */
  readonly ready: OpenStore;
  /** Says which rooms are encrypted. */
  readonly stateStore: StateStore;
  /** Delivers events whose key came late. */
  readonly dispatcher: ActorRef<DispatcherHandlers>;
  /** Calls handlers with requests of verifications, which are no plain data. */
  readonly deliverer: Pick<Deliverer, "internal">;
  /** Whether the store outlives the process. */
  readonly isDurable: boolean;
  /** Whether the access token was given, and outlives the process. */
  readonly hasToken: boolean;
  /** Whether syncs show what happens in rooms. */
  readonly showsRooms: boolean;
  /** Where encryption logs. */
  readonly log: Logger;
}

/** What an engine is run with. */
interface EngineRunnerOptions extends Pick<EncryptedClient, "ready" | "dispatcher" | "log"> {
  readonly actor: Actor<CryptoHandlers>;
  /** Whose device it is, and its transport. */
  readonly session: {
    account: Session["account"];
    readonly http: RoomPreparerOptions["http"] & { readonly clock: Clock };
  };
  /** Makes a request. */
  readonly send: RequestSender;
  /** Reads a room's description from the server. */
  readonly describe: RoomPreparerOptions["describe"];
  /** Called before users get a room's key for the first time. */
  readonly onNewRecipient: OnNewRecipient | undefined;
}

/** How many events that could be decrypted late are remembered. */
const MAX_RECOVERED = 1_000;

/** The engine of a device, with all that it needs to run. */
export class EngineRunner {
  /** The Crypto actor; a message to it comes after {@linkcode EngineRunner.open}. */
  readonly actor: Actor<CryptoHandlers>;
  /** The transport; it says when to begin again after a request that failed. */
  readonly http: EngineRunnerOptions["session"]["http"];
  /** The wall clock. */
  readonly clock: Clock;
  /** Where failures are logged. */
  readonly log: Logger;
  /** Whether syncs show who is in rooms, and with which devices. */
  readonly following: Following;
  /** Makes the engine's requests. */
  readonly requests: OutgoingRequests;
  /** Receives events that can be decrypted now, before they are delivered. */
  onRecovered: ((events: readonly RecoveredEvent[]) => void) | undefined;
  readonly #options: EngineRunnerOptions;
  readonly #rooms: RoomPreparer;
  readonly #recovered = new RecentSet<EventID>(MAX_RECOVERED);
  readonly #stopping = new AbortController();
  #opening: Promise<unknown> | undefined;
  #isOpen = false;

  /** @param options What it is run with. */
  constructor(options: EngineRunnerOptions) {
    const { actor, session: { http }, send, describe, onNewRecipient, log } = this.#options = options;
    const { clock } = this.http = http;
    [this.actor, this.clock, this.log] = [actor, clock, log];
    this.following = new Following(clock);
    this.requests = new OutgoingRequests(actor, send, (output) => this.#take(output), log);
    this.#rooms = new RoomPreparer({ actor, describe, onNewRecipient, http, clock }, this.requests);
  }

  /** Ends what waits, when the client is closed. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Whether the engine is open. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the engine is open, or about to be. */
  get isOpening(): boolean {
    return this.#opening !== undefined;
  }

  /** Opens the engine, the first time; one call that fails is made again by the next. */
  readonly open = (): Promise<unknown> => this.#opening ?? this.#open(); // each message calls it

  /**
   * Opens the engine, and rejects if the device can't be used.
   *
   * @throws {DeviceConflictError} If the server has other keys for the device.
   */
  async ready(): Promise<void> {
    await this.open();
    this.refuseConflict();
  }

  /** Throws if the server has other keys for the device. */
  refuseConflict(): void {
    if (this.requests.conflict !== undefined) throw this.requests.conflict;
  }

  /** Makes a room ready. If that shows that the device can't go on, that is the error. */
  async prepareRoom(roomId: RoomID, since: number | undefined): Promise<ShareReport> {
    try {
      return await this.#rooms.prepare(roomId, since);
    } catch (error) {
      throw this.requests.conflict ?? error;
    }
  }

  /** Remembers events that could be decrypted late. */
  noteRecovered(events: readonly RecoveredEvent[]): void {
    for (const { ref: { eventId } } of events) this.#recovered.add(eventId);
  }

  /** Returns whether an event is one of these. */
  wasRecovered(eventId: EventID): boolean {
    return this.#recovered.has(eventId);
  }

  /**
   * Delivers events that can be decrypted now. Does not wait for handlers: they may wait for the request
   * that brought these events.
   */
  deliver(events: readonly RecoveredEvent[]): void {
    if (events.length === 0) return;
    this.noteRecovered(events);
    this.onRecovered?.(events);
    this.#options.dispatcher.recover({ events }).catch((error) => {
      this.log.warn("Could not deliver events that can be read now", { error: String(error) });
    });
  }

  /** Aborts the requests under way, and makes no more. The next process makes them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.requests.stop();
  }

  async #open(): Promise<unknown> {
    try {
      return await (this.#opening ??= this.#openEngine());
    } catch (error) {
      this.#opening = undefined; // the server may say next time whose token it is
      throw error;
    }
  }

  async #openEngine(): Promise<void> {
    const { session, ready } = this.#options;
    await ready(this.signal);
    const [userId, deviceId] = await session.account({ signal: this.signal });
    if (deviceId === "") {
      throw permanent(
        new EncryptionError(
          `Cannot encrypt as ${userId}: the access token belongs to no device; log in`,
        ),
      );
    }
    await this.actor.open({ userId, deviceId });
    this.#isOpen = true;
  }

  #take({ recovered, alarms }: AnswerOutput): void {
    this.deliver(recovered);
    for (const alarm of alarms) {
      const event = { type: InternalEventType.DEVICE_ALARM, data: { alarm } };
      this.#options.dispatcher.announce(event).catch(() => {}); // the client is closed
    }
  }
}
