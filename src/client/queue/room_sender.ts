/**
 * Sends what waits for a room, one after the other, and says what becomes of it, also of a send that has
 * failed.
 *
 * A record is committed before its send leaves, and deleted when the server has answered. So what a crash
 * cuts off is sent again with the same transaction ID, and the server takes both for one.
 *
 * @module
 */

import type { AllAPI } from "../../api/api.ts";
import { isMatrixRefusal } from "../../api/http/mod.ts";
import { backoff, type Clock } from "../../base/clock.ts";
import { outsideOfHandlers } from "../../base/handler_call.ts";
import type { Logger } from "../../base/log.ts";
import {
  EncryptionError,
  EventTooLargeError,
  IdentityChangedError,
  UnsupportedAlgorithmError,
} from "../../errors/encryption_error.ts";
import { ClientEndedError, isPermanent, MatrixError, ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError, NetworkError } from "../../errors/request_error.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import type { Entry, Outcome, Queued, WaitingSends } from "./queued.ts";
import type { QueueProgress } from "./send_queue.ts";

/** How long to wait between tries, in milliseconds: the transport has tried several times before. */
export const WAIT = { base: 2_000, cap: 60_000 };

/** At how many tries the server itself may fail, which take half an hour: then the message is at fault. */
const MAX_FAILURES = 30;

/** What a {@linkcode RoomSender} works with. */
export interface SenderParts {
  readonly api: Pick<AllAPI, "sendMessageEvent">;
  /** Measures waits. */
  readonly clock: Clock;
  /** Gets what the server does not take. */
  readonly log: Logger;
}

/** Whose sends they are. */
interface SenderScope {
  readonly roomId: RoomID;
  readonly sends: WaitingSends;
  /** Aborted when the login has ended. */
  readonly login: AbortSignal;
  /** Aborted when the client has ended, or its login. */
  readonly ended: AbortSignal;
  /** Called when it begins to send, and when it has ended. */
  readonly changed: () => void;
}

export class RoomSender {
  /** Called with each change. */
  onProgress: ((progress: QueueProgress) => void) | undefined;
  readonly #parts: SenderParts;
  readonly #roomId: RoomID;
  readonly #sends: WaitingSends;
  readonly #login: AbortSignal;
  readonly #ended: AbortSignal;
  readonly #changed: () => void;
  /** Why it has stopped before. */
  #failure: unknown;
  #work: Promise<void> | undefined;
  /** Settled when it has sent all, or waits for its next try. */
  #rest = Promise.withResolvers<void>();
  /** Ends the wait for the next try; undefined: it does not wait. */
  #wait: AbortController | undefined;

  constructor(parts: SenderParts, { roomId, sends, login, ended, changed }: SenderScope) {
    [this.#parts, this.#roomId, this.#sends] = [parts, roomId, sends];
    [this.#login, this.#ended, this.#changed] = [login, ended, changed];
    this.#rest.resolve();
  }

  /** Resolves when it has sent all; undefined: nothing is to be sent. */
  get work(): Promise<void> | undefined {
    return this.#work;
  }

  /** Resolves when it has sent all, or waits for its next try. */
  get rested(): Promise<void> {
    return this.#rest.promise;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  get isOver(): boolean {
    return this.#ended.aborted || this.hasFailed;
  }

  /** Sends what waits. */
  begin(): void {
    if (this.#sends.size === 0 || this.#work !== undefined) return;
    this.#rest = Promise.withResolvers();
    this.#work = outsideOfHandlers(() => this.#run());
    this.#changed();
  }

  /** Tries at once what waits for its next try. */
  hurry(): void {
    if (this.#wait?.signal.aborted !== false) return;
    this.#rest = Promise.withResolvers();
    this.#wait.abort();
  }

  async #run(): Promise<void> {
    let failures = 0;
    for (let send = this.#sends.first; send !== undefined && !this.isOver; send = this.#sends.first) {
      const isStored = await send.stored.then(() => true, () => false); // else it is out
      if (isStored && send === this.#sends.first) {
        failures = await this.#try(send, failures) ? 0 : failures + 1;
      }
    }
    this.#work = undefined;
    this.#changed();
    this.#rest.resolve();
    for (const send of this.#sends) send.fail(this.over()); // the next process sends them
  }

  /** Sends one. Returns whether the next may follow at once. */
  async #try(send: Queued, failures: number): Promise<boolean> {
    // All in the queue have one.
    const { record: { eventType, content, txnId, disableEncryption } } = send.entry as Entry;
    const tried = Promise.withResolvers<void>();
    send.tried = tried.promise;
    this.report(send, "sending");
    let eventId: EventID | undefined;
    try {
      const options = { txnId, disableEncryption, signal: this.#ended };
      eventId = await this.#parts.api.sendMessageEvent(this.#roomId, eventType, content, options);
      await this.#sends.remove(send, { eventId });
      send.hasSent(eventId);
      this.report(send, "sent", { eventId });
      return true;
    } catch (error) {
      if (this.#ended.aborted) return false;
      send.failures = hasFailedItself(error) ? send.failures + 1 : 0;
      if (isForGood(error) || send.failures >= MAX_FAILURES) return await this.#refused(send, error, eventId);
      send.tried = undefined;
      tried.resolve();
      const delay = Math.max(Math.round(backoff(failures, WAIT)), askedWait(error));
      if (failures === 0) {
        this.#parts.log.warn("The server does not take what is queued for a room, waiting", {
          ...{ roomId: this.#roomId, left: this.#sends.size, delay, error: String(error) },
        });
      }
      this.report(send, "waiting", { error });
      await this.#pause(send, delay);
      return false;
    } finally {
      tried.resolve();
    }
  }

  /** Waits before the next try of a send. By then another process may have sent it, and what is behind it. */
  async #pause(send: Queued, delay: number): Promise<void> {
    this.#rest.resolve();
    const wait = this.#wait = new AbortController();
    const signal = AbortSignal.any([this.#ended, send.over.signal, wait.signal]);
    await this.#parts.clock.delay(delay, { signal }).catch(() => {});
    this.#wait = undefined;
    if (!wait.signal.aborted) this.#rest = Promise.withResolvers();
    if (this.isOver) return;
    const gone = await this.#sends.gone().catch(() => []); // a store that fails says so elsewhere
    for (const [each, outcome] of gone) this.#endedElsewhere(each, outcome);
  }

  /** Says what another process has made of a send. */
  #endedElsewhere(send: Queued, outcome: Outcome | undefined): void {
    if (outcome === undefined) {
      return send.fail(
        new ClientEndedError(
          `Cannot say what became of a send to ${this.#roomId}: another process has taken it out of the queue`,
        ),
      );
    }
    if ("eventId" in outcome) {
      send.hasSent(outcome.eventId);
      this.report(send, "sent", outcome);
    } else if ("refusal" in outcome) {
      const error = new MatrixError(
        `Cannot send to ${this.#roomId}: the server has refused it when another process sent it: ${outcome.refusal}`,
      );
      this.lost(send, error);
      this.report(send, "failed", { error });
    } else this.cancelled(send);
  }

  /** Says that a send was cancelled. */
  cancelled(send: Queued): void {
    send.fail(new DOMException("The send was cancelled", "AbortError"));
    this.report(send, "cancelled");
  }

  async #refused(send: Queued, error: unknown, eventId: EventID | undefined): Promise<boolean> {
    if (eventId !== undefined) { // the store has refused
      send.hasSent(eventId);
      this.stop(error);
      return false;
    }
    await this.#sends.remove(send, { refusal: shortly(error) }).catch((cause) => this.stop(cause));
    this.lost(send, error);
    this.report(send, "failed", { error });
    return true;
  }

  /** Ends it: what can't be taken out of the store would be sent again and again. */
  stop(cause: unknown): void {
    this.#failure = cause;
    if (cause instanceof ClientEndedError) return;
    this.#parts.log.error("A queue has stopped: its sends can't be taken out of the store", {
      ...{ roomId: this.#roomId, error: cause },
    });
  }

  /** Says that a send won't arrive. */
  lost(send: Queued, error: unknown): void {
    send.fail(error);
    if (this.#ended.aborted) return;
    const { record } = send.entry ?? {};
    this.#parts.log.warn("A queued message can't be sent", {
      roomId: this.#roomId,
      ...(record && { type: record.eventType, txnId: record.txnId }),
      error: String(error),
    });
  }

  /** Says what a send is now. */
  report(send: Queued, state: QueueProgress["state"], more: Partial<QueueProgress> = {}): void {
    const progress = { send, state, left: this.#sends.size, ...more };
    Promise.try(() => this.onProgress?.(progress)).catch((error) => {
      this.#parts.log.error("The onProgress of a queue has failed", { roomId: this.#roomId, error });
    });
  }

  /** Why nothing is sent any more. */
  over(): ClientEndedError {
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
}

/** Statuses after which the same may be taken later: of a token that is replaced, and of a busy server. */
const LATER: readonly number[] = [401, 408, 429];

/** Whether the same would be refused at any other time, too. */
export function isForGood(error: unknown): boolean {
  if (error instanceof EncryptionError) {
    return isPermanent(error) || error instanceof EventTooLargeError ||
      error instanceof IdentityChangedError ||
      error instanceof UnsupportedAlgorithmError || isForGood(error.cause);
  }
  if (error instanceof ValueError) return true;
  if (!(error instanceof MatrixRequestError) || !isMatrixRefusal(error)) return false;
  return error.status < 500 && !LATER.includes(error.status);
}

/** Whether a server was away or busy; one that has failed by itself, or does not take the token, was not. */
export function isAway(error: unknown): boolean {
  if (error instanceof EncryptionError) return !isForGood(error) && isAway(error.cause);
  if (error instanceof NetworkError) return true;
  if (!(error instanceof MatrixRequestError)) return false;
  return error.status >= 500 && !hasFailedItself(error) || error.status === 429;
}

/** Whether the homeserver took the request, and failed at it. */
function hasFailedItself(error: unknown): boolean {
  return error instanceof MatrixRequestError && error.status === 500 && isMatrixRefusal(error);
}

/** How long the server asks to wait before the next try, in milliseconds. */
function askedWait(error: unknown): number {
  if (error instanceof EncryptionError) return askedWait(error.cause);
  return error instanceof MatrixRequestError ? error.retryAfter ?? 0 : 0;
}

/** The longest note of a refusal. */
const MAX_REFUSAL = 100;

/** Says why something was refused, without what the server says beside its code. */
function shortly(error: unknown): string {
  const text = error instanceof MatrixRequestError ? `${error.status} ${error.errcode}` : String(error);
  return text.slice(0, MAX_REFUSAL);
}
