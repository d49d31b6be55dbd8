/**
 * The queue of a room: what is in it is in the store, and leaves in order.
 *
 * A record is committed before its send leaves, and deleted when the server has answered. So what a crash cuts off
 * is sent again with the same transaction ID, and the server takes both for one.
 *
 * @module
 */

import { isMatrixRefusal, type SendingUser } from "../../api/http/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import { backoff, type Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { currentCall, outsideOfHandlers } from "../../base/handler_call.ts";
import { callSite } from "../../base/own_code.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { ClientEndedError, ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { SessionsAPI } from "../sessions_api.ts";
import type { RoomID, TransactionID } from "../../types/ids.ts";
import { type Entry, type Make, QUEUED, Queued, type StoredSend, storedSend } from "./queued.ts";
import type { QueuedSend, QueuedTextOptions, QueueProgress, SendQueue } from "./send_queue.ts";

/** How many sends of a room wait at most. */
const MAX_QUEUED = 1_000;
/** How long to wait between tries, in milliseconds: the transport has tried several times before. */
const WAIT = { base: 2_000, cap: 60_000 };
/** Statuses after which the same may be taken later: of a token that is replaced, and of a busy server. */
const LATER: readonly number[] = [401, 408, 429];
/** Digits of a number in a key, so that their order is that of text. */
const DIGITS = 15;
/** Comes behind all keys of a room. */
const LAST = "~";

/** What queues work with. */
export interface QueueParts {
  readonly api: Pick<AllAPI, "sendMessageEvent">;
  /** Who sends. */
  readonly user: SendingUser;
  /** Has what is in the queues. */
  readonly kept: SessionsAPI;
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
  readonly #ended: AbortSignal;
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

  /**
   * @param roomId The room.
   * @param parts What it works with.
   * @param ended Aborted when the client has ended.
   */
  constructor(roomId: RoomID, parts: QueueParts, ended: AbortSignal) {
    this.#roomId = roomId;
    this.#parts = parts;
    this.#ended = ended;
    this.#loaded = outsideOfHandlers(() => this.#load());
    this.#placed = this.#loaded.catch(() => {}); // each send fails with it
  }

  sendText(text: string | null, options: QueuedTextOptions = {}): QueuedSend {
    return this.#add((helpers) => helpers.sendText(this.#roomId, text, options));
  }

  sendNotice(text: string | null, options: Omit<QueuedTextOptions, "msgtype"> = {}): QueuedSend {
    return this.#add((helpers) => helpers.sendNotice(this.#roomId, text, options));
  }

  sendMessage: SendQueue["sendMessage"] = (content, options = {}) =>
    this.#add((helpers) => helpers.sendMessage(this.#roomId, content, options));

  sendMessageEvent: SendQueue["sendMessageEvent"] = (eventType, content, options = {}) =>
    this.#add((_, add) => add(this.#roomId, eventType, content, options));

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
  async #load(): Promise<void> {
    for (let failures = 0;; failures++) {
      try {
        for (const send of await this.#left()) this.#sends.push(send);
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
  #add(make: Make): QueuedSend {
    const send = new Queued(this.#cancel);
    if (this.#sends.length + this.#adding >= MAX_QUEUED) {
      this.#lost(
        send,
        new ValueError(`Cannot queue a send to ${this.#roomId}: ${MAX_QUEUED} are waiting already`),
      );
      return send;
    }
    this.#adding++;
    const prepared = storedSend(make, this.#roomId, this.#parts.user);
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
    if (this.#ended.aborted) throw this.#over();
    const twin = this.#find(record.txnId);
    if (twin !== undefined) return send.follow(twin);
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
    for (let send = this.#sends[0]; send !== undefined && !this.#ended.aborted; send = this.#sends[0]) {
      const isStored = await send.stored.then(() => true, () => false); // else it is out
      if (isStored && send === this.#sends[0]) failures = await this.#try(send, failures) ? 0 : failures + 1;
    }
    this.#work = undefined;
    for (const send of this.#sends) send.fail(this.#over()); // the next process sends them
  }

  /** Sends one. Returns whether the next may follow at once. */
  async #try(send: Queued, failures: number): Promise<boolean> {
    const { record: { eventType, content, ...options } } = send.entry as Entry; // all in the queue have one
    send.isUnderway = true;
    this.#report(send, "sending");
    try {
      const { api } = this.#parts;
      const signal = this.#ended;
      const eventId = await api.sendMessageEvent(this.#roomId, eventType, content, { ...options, signal });
      await this.#remove(send);
      send.hasSent(eventId);
      this.#report(send, "sent", { eventId });
      return true;
    } catch (error) {
      if (this.#ended.aborted) return false;
      if (isForGood(error)) return await this.#refused(send, error);
      send.isUnderway = false;
      const delay = Math.round(backoff(failures, WAIT));
      if (failures === 0) {
        this.#parts.log.warn("The server does not take what is queued for a room, waiting", {
          ...{ roomId: this.#roomId, left: this.#sends.length, delay, error: String(error) },
        });
      }
      this.#report(send, "waiting", { error });
      const signal = AbortSignal.any([this.#ended, send.over.signal]);
      await this.#parts.clock.delay(delay, { signal }).catch(() => {});
      return false;
    }
  }

  async #refused(send: Queued, error: unknown): Promise<boolean> {
    const isOut = await this.#remove(send).then(() => true, () => false); // the client is about to end
    this.#lost(send, error);
    this.#report(send, "failed", { error });
    return isOut;
  }

  readonly #cancel = async (given: Queued): Promise<boolean> => {
    await this.#placed;
    const send = this.#find(given.entry?.record.txnId);
    if (given.entry === undefined || send === undefined || send.isUnderway) return false;
    this.#takeOut(send);
    send.over.abort();
    await this.#write(given.entry.key, null);
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
    await outsideOfHandlers(() => this.#parts.kept.update(QUEUED, [this.#roomId, key], () => record));
  }

  #lost(send: Queued, error: unknown): void {
    send.fail(error);
    if (this.#ended.aborted) return;
    const { eventType, entry } = send;
    this.#parts.log.warn("What was queued for a room can't be sent", {
      ...{ roomId: this.#roomId, type: eventType, txnId: entry?.record.txnId, error: String(error) },
    });
  }

  #report(send: Queued, state: QueueProgress["state"], more: Partial<QueueProgress> = {}): void {
    try {
      this.onProgress?.({ send, state, left: this.#sends.length, ...more });
    } catch (error) {
      this.#parts.log.error("The onProgress of a queue has failed", { roomId: this.#roomId, error });
    }
  }

  #over(): ClientEndedError {
    return new ClientEndedError(`Cannot send to ${this.#roomId}: the client has ended; the next one goes on`);
  }
}

/** Whether the same would be refused at any other time, too. */
function isForGood(error: unknown): boolean {
  if (error instanceof EncryptionError) return error.cause === undefined || isForGood(error.cause);
  if (error instanceof ValueError) return true;
  if (!(error instanceof MatrixRequestError) || !isMatrixRefusal(error)) return false;
  return error.status < 500 && !LATER.includes(error.status);
}
