/**
 * The queue of a room: what is in it is in the store, and leaves in order.
 *
 * A record is committed before its send leaves, and deleted when the server has answered. So what a crash cuts off
 * is sent again with the same transaction ID, and the server takes both for one.
 *
 * Over 300 lines because what adds, sends, cancels and stops changes the same few fields.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { ActorStoppedError } from "../../actors/kernel/mod.ts";
import type { Session } from "../../api/http/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import { backoff, type Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { currentCall, outsideOfHandlers } from "../../base/handler_call.ts";
import { callSite } from "../../base/own_code.ts";
import { ClientEndedError, ValueError } from "../../errors/matrix_error.ts";
import type { SessionsAPI } from "../sessions_api.ts";
import type { EventID, RoomID, TransactionID } from "../../types/ids.ts";
import { checkText, type Entry, type Make, QUEUED, Queued, type StoredSend, storedSend } from "./queued.ts";
import { askedWait, isForGood } from "./refusals.ts";
import type {
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueProgress,
  SendQueue,
} from "./send_queue.ts";

/** How many sends of a room wait at most. */
const MAX_QUEUED = 1_000;
/** How long to wait between tries, in milliseconds: the transport has tried several times before. */
const WAIT = { base: 2_000, cap: 60_000 };
/** Digits of a number in a key, so that their order is that of text. */
const DIGITS = 15;
/** Comes behind all keys of a room. */
const LAST = "~";

/** What queues work with. */
export interface QueueParts {
  readonly api: Pick<AllAPI, "sendMessageEvent">;
  /** Who sends. */
  readonly session: Pick<Session, "http" | "login">;
  /** Has what is in the queues. */
  readonly kept: SessionsAPI;
  /** Whether that outlives the client. */
  readonly isDurable: boolean;
  /** Settles when the client has ended. */
  readonly done: Promise<void>;
  /** Measures waits. */
  readonly clock: Clock;
  /** Gets what the server does not take. */
  readonly log: Logger;
}

export class RoomQueue implements SendQueue {
  /** Called with each change. */
  onProgress: ((progress: QueueProgress) => void) | undefined;
  readonly #roomId: RoomID;
  readonly #parts: QueueParts;
  readonly #login: AbortSignal;
  /** Aborted when the client has ended, or its login. */
  readonly #ended: AbortSignal;
  /** Why it has stopped before. */
  #failure: unknown;
  /** Those in the queue, in order; the last ones may not be stored yet. */
  readonly #sends: Queued[] = [];
  /** The number of the next one. */
  #next = 0;
  /** How many have no place yet. */
  #adding = 0;
  /** Has what an earlier process has left. */
  readonly #loaded: Promise<void>;
  /** Settles when all that was added has its place. */
  #placed: Promise<void>;
  /** What sends; undefined: nothing is to be sent. */
  #work: Promise<void> | undefined;
  readonly #rested = Promise.withResolvers<void>();

  /**
   * @param roomId The room.
   * @param parts What it works with.
   * @param ended Aborted when the client has ended.
   * @param reads Whether to read what was left before.
   */
  constructor(roomId: RoomID, parts: QueueParts, ended: AbortSignal, reads: boolean) {
    this.#roomId = roomId;
    this.#parts = parts;
    this.#login = parts.session.login;
    this.#ended = AbortSignal.any([ended, this.#login]);
    this.#loaded = abortable(outsideOfHandlers(() => this.#load(reads)), this.#ended)
      .catch((error) => Promise.reject(this.#ended.aborted ? this.#over() : error));
    this.#placed = this.#loaded.catch(() => {}); // each send fails with it
    this.#placed.then(() => this.#work === undefined && this.#rested.resolve());
  }

  /** Whether another has to take its place. */
  get isSpent(): boolean {
    return this.#failure !== undefined || this.#login !== this.#parts.session.login;
  }

  /** Resolves when it has sent all for the first time, or waits for its next try. */
  get rested(): Promise<void> {
    return this.#rested.promise;
  }

  sendText(text: string | null, options: QueuedTextOptions = {}): QueuedSend {
    return this.#add(options, (helpers) => helpers.sendText(this.#roomId, checkText(text), options));
  }

  sendNotice(text: string | null, options: Omit<QueuedTextOptions, "msgtype"> = {}): QueuedSend {
    return this.#add(options, (helpers) => helpers.sendNotice(this.#roomId, checkText(text), options));
  }

  sendMessage: SendQueue["sendMessage"] = (content, options = {}) =>
    this.#add(options, (helpers) => helpers.sendMessage(this.#roomId, content, options));

  sendMessageEvent: SendQueue["sendMessageEvent"] = (eventType, content, options = {}) =>
    this.#add(options, (_, add) => add(this.#roomId, eventType, content, options));

  async list(): Promise<QueuedSend[]> {
    await this.#placed;
    await this.#loaded;
    return [...this.#sends];
  }

  async settled(): Promise<void> {
    await this.#loaded;
    let placed: Promise<void>;
    do {
      placed = this.#placed;
      await placed;
      await this.#work;
    } while (placed !== this.#placed || this.#work !== undefined);
    if (this.#sends.length > 0) throw this.#over();
  }

  /** Reads what an earlier process has left: a client that knows its user from the server needs that first. */
  async #load(reads: boolean): Promise<void> {
    for (let failures = 0;; failures++) {
      try {
        const left = reads ? await this.#left() : [];
        if (this.#ended.aborted) throw this.#over();
        for (const send of left) this.#sends.push(send);
        return this.#begin();
      } catch (error) {
        if (this.#ended.aborted || isForGood(error)) throw error;
        await this.#parts.clock.delay(Math.round(backoff(failures, WAIT)), { signal: this.#ended });
      }
    }
  }

  async #left(): Promise<Queued[]> {
    const left: Queued[] = [];
    const place = { after: [this.#roomId, ""], before: [this.#roomId, LAST] } as const;
    for await (const { key, state } of this.#parts.kept.list(QUEUED, place)) {
      const send = new Queued(this.#cancel);
      send.entry = { key: key[1] ?? "", record: state };
      send.hasStored(state.txnId);
      left.push(send);
      this.#next = parseInt(send.entry.key) + 1;
    }
    return left;
  }

  /** Adds what is made. A handler waits until it is stored. */
  #add(options: QueuedSendOptions, make: Make): QueuedSend {
    const send = new Queued(this.#cancel);
    if (this.#sends.length + this.#adding >= MAX_QUEUED) {
      this.#lost(send, this.#full());
      return send;
    }
    this.#adding++;
    const prepared = storedSend(make, options, this.#roomId, this.#parts.session.http);
    prepared.catch(() => {});
    this.#placed = this.#placed.then(async () => {
      try {
        await this.#loaded;
        this.#place(send, await prepared);
      } catch (error) {
        this.#lost(send, error);
      } finally {
        this.#adding--;
      }
    });
    currentCall()?.begin(send.stored, callSite(this.sendMessage)).catch(() => {}); // it was logged
    return send;
  }

  #place(send: Queued, record: StoredSend): void {
    if (this.#isOver) throw this.#over();
    const twin = this.#find(record.txnId);
    if (twin !== undefined) return send.follow(twin);
    if (this.#sends.length >= MAX_QUEUED) throw this.#full();
    const key = `${String(this.#next++).padStart(DIGITS, "0")}-${
      crypto.getRandomValues(new Uint8Array(8)).toHex()
    }`; // another process may count, too
    send.entry = { key, record };
    this.#sends.push(send);
    this.#write(key, record).then(() => {
      send.hasStored(record.txnId);
      this.#report(send, "stored");
    }, (error) => {
      this.#takeOut(send);
      this.#lost(send, error);
    });
    this.#begin();
  }

  #find(txnId: TransactionID | undefined): Queued | undefined {
    return this.#sends.find(({ entry }) => entry?.record.txnId === txnId);
  }

  #begin(): void {
    if (this.#sends.length > 0) this.#work ??= outsideOfHandlers(() => this.#run());
  }

  async #run(): Promise<void> {
    let failures = 0;
    for (let send = this.#sends[0]; send !== undefined && !this.#isOver; send = this.#sends[0]) {
      const isStored = await send.stored.then(() => true, () => false); // else it is out
      if (isStored && send === this.#sends[0]) failures = await this.#try(send, failures) ? 0 : failures + 1;
    }
    this.#work = undefined;
    this.#rested.resolve();
    for (const send of this.#sends) send.fail(this.#over()); // the next process sends them
  }

  /** Sends one. Returns whether the next may follow at once. */
  async #try(send: Queued, failures: number): Promise<boolean> {
    const { record: { eventType, content, txnId, disableEncryption } } = send.entry as Entry; // all in the queue have one
    send.isUnderway = true;
    this.#report(send, "sending");
    let eventId: EventID | undefined;
    try {
      const options = { txnId, disableEncryption, signal: this.#ended };
      eventId = await this.#parts.api.sendMessageEvent(this.#roomId, eventType, content, options);
      await this.#remove(send);
      send.hasSent(eventId);
      this.#report(send, "sent", { eventId });
      return true;
    } catch (error) {
      if (this.#ended.aborted) return false;
      if (isForGood(error)) return await this.#refused(send, error, eventId);
      send.isUnderway = false;
      const delay = Math.max(Math.round(backoff(failures, WAIT)), askedWait(error));
      if (failures === 0) {
        this.#parts.log.warn("The server does not take what is queued for a room, waiting", {
          ...{ roomId: this.#roomId, left: this.#sends.length, delay, error: String(error) },
        });
      }
      this.#rested.resolve();
      this.#report(send, "waiting", { error });
      const signal = AbortSignal.any([this.#ended, send.over.signal]);
      await this.#parts.clock.delay(delay, { signal }).catch(() => {});
      return false;
    }
  }

  async #refused(send: Queued, error: unknown, eventId: EventID | undefined): Promise<boolean> {
    if (eventId !== undefined) { // the store has refused
      send.hasSent(eventId);
      this.#stop(error);
      return false;
    }
    await this.#remove(send).catch((cause) => this.#stop(cause));
    this.#lost(send, error);
    this.#report(send, "failed", { error });
    return true;
  }

  /** Ends it: what can't be taken out of the store would be sent again and again. */
  #stop(cause: unknown): void {
    this.#failure = cause;
    if (cause instanceof ClientEndedError) return;
    this.#parts.log.error("A queue has stopped: its sends can't be taken out of the store", {
      ...{ roomId: this.#roomId, error: cause },
    });
  }

  readonly #cancel = async (given: Queued): Promise<boolean> => {
    await this.#placed;
    const send = this.#find(given.entry?.record.txnId);
    if (given.entry === undefined || send === undefined || send.isUnderway) return false;
    if (this.#isOver) throw this.#over();
    this.#takeOut(send);
    send.over.abort();
    await this.#write(given.entry.key, null).catch((error) => {
      this.#stop(error);
      send.fail(error);
      throw error;
    });
    send.fail(new DOMException("The send was cancelled", "AbortError"));
    this.#report(send, "cancelled");
    return true;
  };

  async #remove(send: Queued): Promise<void> {
    await this.#write((send.entry as Entry).key, null); // all in the queue have one
    this.#takeOut(send);
  }

  #takeOut(send: Queued): void {
    const place = this.#sends.indexOf(send);
    if (place >= 0) this.#sends.splice(place, 1);
  }

  async #write(key: string, record: StoredSend | null): Promise<void> {
    try {
      await outsideOfHandlers(() => this.#parts.kept.update(QUEUED, [this.#roomId, key], () => record));
    } catch (error) {
      throw error instanceof ActorStoppedError ? this.#over() : error;
    }
  }

  #lost(send: Queued, error: unknown): void {
    send.fail(error);
    if (this.#ended.aborted) return;
    const { record } = send.entry ?? {};
    this.#parts.log.warn("What was queued for a room can't be sent", {
      roomId: this.#roomId,
      ...(record && { type: record.eventType, txnId: record.txnId }),
      error: String(error),
    });
  }

  #report(send: Queued, state: QueueProgress["state"], more: Partial<QueueProgress> = {}): void {
    const progress = { send, state, left: this.#sends.length, ...more };
    Promise.try(() => this.onProgress?.(progress)).catch((error) => {
      this.#parts.log.error("The onProgress of a queue has failed", { roomId: this.#roomId, error });
    });
  }

  get #isOver(): boolean {
    return this.#ended.aborted || this.#failure !== undefined;
  }

  #over(): ClientEndedError {
    const action = `Cannot send to ${this.#roomId}`;
    if (this.#login.aborted) {
      return new ClientEndedError(`${action}: the client has logged out; log in again`);
    }
    if (this.#failure === undefined || this.#ended.aborted) {
      return new ClientEndedError(`${action}: the client has ended; the next one goes on`);
    }
    const options = { cause: this.#failure };
    return new ClientEndedError(
      `${action}: the store failed, and its queue has stopped; make a new client`,
      options,
    );
  }

  #full(): ValueError {
    return new ValueError(`Cannot queue a send to ${this.#roomId}: ${MAX_QUEUED} are waiting already`);
  }
}
