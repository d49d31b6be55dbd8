/**
 * Queues of sends, one for each room: what is in it is in the client's store, and leaves in order.
 *
 * Over 300 lines because queues and the queue of a room are one thing.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { Session } from "../../api/http/mod.ts";
import { backoff } from "../../base/clock.ts";
import { currentCall, outsideOfHandlers } from "../../base/handler_call.ts";
import { callSite } from "../../base/own_code.ts";
import { Turns } from "../../base/runs.ts";
import { checkFunction, checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ClientEndedError, ValueError } from "../../errors/matrix_error.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { SessionKey } from "../../types/events/define_session.ts";
import type { RoomID } from "../../types/ids.ts";
import type { SessionsAPI, TasksAPI } from "../sessions_api.ts";
import {
  checkText,
  forgetOutcomes,
  type Make,
  QUEUED,
  Queued,
  type StoredSend,
  storedSend,
  WaitingSends,
} from "./queued.ts";
import { isForGood, RoomSender, type SenderParts, WAIT } from "./room_sender.ts";
export { isAway } from "./room_sender.ts";
import type {
  QueueAPI,
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueOptions,
  QueueProgress,
  SendQueue,
} from "./send_queue.ts";

export type {
  QueueAPI,
  QueuedSend,
  QueuedSendOptions,
  QueuedTextOptions,
  QueueOptions,
  QueueProgress,
  SendQueue,
} from "./send_queue.ts";

/**
 * In how many rooms at once what an earlier process has left is sent;
 * one that has to wait lets the next begin.
 */
const AT_ONCE = 5;

const OPTIONS: OptionNames<QueueOptions> = { onProgress: true };

/** The queues of a client. */
export class SendQueues implements QueueAPI {
  /** Rooms with something in their queues. */
  readonly waiting = new Set<RoomID>();
  readonly #parts: QueueParts;
  readonly #rooms = new Map<RoomID, RoomQueue>();
  /** The first login: a later one may be another's, and does not get what it has left in the client. */
  readonly #login: AbortSignal;
  readonly #ended = new AbortController();
  readonly #closing = new AbortController();
  /** Whether an earlier process may have left something that is not known yet. */
  isUnread = false;
  #reading: Promise<void> | undefined;
  /** Rooms in which an earlier process has left something, until their queue is asked for. */
  readonly #left = new Set<RoomID>();

  /** @param parts What they work with. */
  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#login = parts.session.login;
    const end = () => this.#ended.abort();
    parts.done.then(end, end);
  }

  /** The client closes: nobody waits any more for what is in them. */
  close(): void {
    const state = this.isDurable ? "; the next one sends what is in its queues" : "";
    this.#closing.abort(new ClientEndedError(`Cannot wait for a send: the client was closed${state}`));
  }

  /** Aborted when the client closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether what is in them outlives the client. */
  get isDurable(): boolean {
    return this.#parts.isDurable;
  }

  readonly queue = (roomId: RoomID, options: QueueOptions = {}): SendQueue => {
    checkIdentifier("roomId", roomId);
    checkOptions(options, OPTIONS, "make a queue");
    const { onProgress } = options;
    if (onProgress !== undefined) checkFunction(onProgress, "make a queue", "onProgress");
    const queue = this.#goOn(roomId);
    if (onProgress !== undefined) queue.onProgress = onProgress;
    return queue;
  };

  /** Another process may have left something since. */
  begin(): void {
    this.isUnread = this.isDurable;
    this.#reading = undefined;
  }

  /** Finds the rooms in which an earlier process, or another one, has left something: that waits in them. */
  readonly read = (): Promise<void> => this.#reading ??= this.#read();

  /** Goes on with what an earlier process, or another one, has left. Resolves when all has been tried. */
  async resume(): Promise<void> {
    const { isDurable, kept, clock } = this.#parts;
    if (!isDurable) return;
    this.begin();
    await this.read();
    const trying = Array.from({ length: AT_ONCE }, async () => {
      for (const roomId of this.#left) await this.#goOn(roomId).rested();
    });
    await Promise.all([...trying, forgetOutcomes(kept, clock.now())]);
  }

  #goOn(roomId: RoomID): RoomQueue {
    const known = this.#rooms.get(roomId);
    const queue = this.#of(roomId);
    if (this.#left.delete(roomId) && queue === known) queue.goOn();
    return queue;
  }

  /** Resolves when each queue has sent all, or waits for its next try. */
  async rested(): Promise<void> {
    await Promise.all(this.#rooms.values().map((queue) => queue.rested()));
  }

  async #read(): Promise<void> {
    try {
      let after: SessionKey | undefined;
      for (;;) {
        const { value } = await this.#parts.kept.list(QUEUED, { after }).next();
        const roomId = value?.key[0] as RoomID | undefined; // the room's queue reads the rest of the page
        if (roomId === undefined) break;
        after = [roomId, "~"]; // behind all of the room
        this.#left.add(roomId);
        this.waiting.add(roomId); // until its queue knows better
      }
      this.isUnread = false;
    } catch {
      this.#reading = undefined; // what is in the store stays there
    }
  }

  #of(roomId: RoomID): RoomQueue {
    const known = this.#rooms.get(roomId);
    if (known !== undefined && !known.isSpent) return known;
    const { isDurable, session } = this.#parts;
    const queue = new RoomQueue(roomId, this.#parts, {
      ended: this.#ended.signal,
      reads: isDurable || this.#login === session.login,
      waiting: this.waiting,
    });
    this.#rooms.set(roomId, queue);
    return queue;
  }
}

/** How many sends of a room wait at most. */
const MAX_QUEUED = 1_000;

/** What queues work with. */
interface QueueParts extends SenderParts {
  /** Who sends. */
  readonly session: Pick<Session, "account" | "http" | "login">;
  /** Has what is in the queues. */
  readonly kept: SessionsAPI;
  /** Changes several of them together. */
  readonly runTask: TasksAPI["runTask"];
  /** Whether that outlives the client. */
  readonly isDurable: boolean;
  /** Settles when the client has ended. */
  readonly done: Promise<void>;
}

/** What the queue of a room belongs to. */
interface QueueScope {
  /** Aborted when the client has ended. */
  readonly ended: AbortSignal;
  /** Whether there may be something that was left before. */
  readonly reads: boolean;
  /** Rooms with something in their queues. */
  readonly waiting: Set<RoomID>;
}

class RoomQueue implements SendQueue {
  readonly #roomId: RoomID;
  readonly #parts: QueueParts;
  readonly #login: AbortSignal;
  /** Aborted when the client has ended, or its login. */
  readonly #ended: AbortSignal;
  readonly #sends: WaitingSends;
  readonly #sender: RoomSender;
  readonly #waiting: Set<RoomID>;
  /** How many have no place yet. */
  #adding = 0;
  /** Has what an earlier process has left. */
  readonly #loaded: Promise<void>;
  /** By which sends get their places, and lose them. */
  readonly #turns = new Turns();

  /**
   * @param roomId The room.
   * @param parts What it works with.
   * @param scope What it belongs to.
   */
  constructor(roomId: RoomID, parts: QueueParts, { ended, reads, waiting }: QueueScope) {
    [this.#roomId, this.#parts, this.#waiting] = [roomId, parts, waiting];
    const login = this.#login = parts.session.login;
    this.#ended = AbortSignal.any([ended, login]);
    this.#sends = new WaitingSends({
      ...parts,
      roomId,
      cancel: this.#cancel,
      over: () => this.#sender.over(),
    });
    const changed = () => this.#note();
    this.#sender = new RoomSender(parts, { roomId, sends: this.#sends, login, ended: this.#ended, changed });
    this.#loaded = abortable(outsideOfHandlers(() => this.#load(reads)), this.#ended)
      .catch((error) => Promise.reject(this.#ended.aborted ? this.#sender.over() : error));
    this.#turns.take(() => this.#loaded).catch(() => {}); // each send fails with it
  }

  /** Called with each change. */
  set onProgress(call: (progress: QueueProgress) => void) {
    this.#sender.onProgress = call;
  }

  /** Whether another has to take its place. */
  get isSpent(): boolean {
    return this.#sender.hasFailed || this.#login !== this.#parts.session.login;
  }

  /** Resolves when it has sent all, or waits for its next try. */
  async rested(): Promise<void> {
    let rested: Promise<void>;
    do {
      await this.#turns.settled();
      await (rested = this.#sender.rested);
    } while (!this.#turns.isIdle || rested !== this.#sender.rested);
  }

  /** Reads what another process has left since, and tries at once what waits for its next try. */
  goOn(): void {
    this.#sender.hurry();
    this.#turns.take(async () => {
      if (this.#sender.isOver || this.#sender.work !== undefined) return;
      await this.#sends.load();
      this.#begin();
    }).catch(() => {}); // it is still in the store
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

  list(): Promise<QueuedSend[]> {
    return this.#turns.take(async () => {
      await this.#loaded;
      return [...this.#sends];
    });
  }

  async settled(): Promise<void> {
    await this.#loaded;
    do {
      await this.#turns.settled();
      await this.#sender.work;
    } while (!this.#turns.isIdle || this.#sender.work !== undefined);
    if (this.#sends.size > 0) throw this.#sender.over();
  }

  /**
   * Reads what an earlier process has left: a client that knows its user from the server needs that first.
   */
  async #load(reads: boolean): Promise<void> {
    for (let failures = 0; reads; failures++) {
      try {
        if (this.#parts.isDurable) await this.#parts.session.account({ signal: this.#ended });
        await this.#sends.load();
        if (this.#ended.aborted) throw this.#sender.over();
        return this.#begin();
      } catch (error) {
        if (this.#ended.aborted || isForGood(error)) throw error;
        await this.#parts.clock.delay(Math.round(backoff(failures, WAIT)), { signal: this.#ended });
      }
    }
  }

  /** Sends what was left. */
  #begin(): void {
    this.#sender.begin();
    this.#note();
  }

  /** Adds what is made. A handler waits until it is stored. */
  #add(options: QueuedSendOptions, make: Make): QueuedSend {
    const send = new Queued(this.#cancel);
    if (this.#sends.size + this.#adding >= MAX_QUEUED) {
      this.#sender.lost(send, this.#full());
      return send;
    }
    this.#adding++;
    this.#note();
    const prepared = storedSend(make, options, this.#roomId, this.#parts.session.http);
    prepared.catch(() => {});
    this.#turns.take(async () => {
      try {
        await this.#loaded;
        this.#place(send, await prepared);
      } catch (error) {
        this.#sender.lost(send, error);
      } finally {
        this.#adding--;
        this.#note();
      }
    });
    currentCall()?.begin(send.stored, callSite(this.sendMessage)).catch(() => {}); // it was logged
    return send;
  }

  #place(send: Queued, record: StoredSend): void {
    if (this.#sender.isOver) throw this.#sender.over();
    const twin = this.#sends.find(record.txnId);
    if (twin !== undefined) return send.follow(twin);
    if (this.#sends.size >= MAX_QUEUED) throw this.#full();
    this.#sends.add(send, record).then(() => {
      send.hasStored(record.txnId);
      this.#sender.report(send, "stored");
    }, (error) => {
      this.#sends.takeOut(send);
      this.#sender.lost(send, error);
    });
    this.#sender.begin();
  }

  readonly #cancel = async (given: Queued): Promise<boolean> => {
    for (;;) {
      const outcome = await this.#turns.take(() => this.#takeOut(given));
      if (typeof outcome === "boolean") return outcome;
      await outcome.tried;
    }
  };

  /** Takes one out. Returns whether it is out; of one of which a try is under way, when that has ended. */
  async #takeOut(given: Queued): Promise<boolean | { readonly tried: Promise<void> }> {
    const send = this.#sends.find(given.entry?.record.txnId);
    if (given.entry === undefined || send === undefined) return false;
    if (this.#sender.isOver) throw this.#sender.over();
    if (send.tried !== undefined) return { tried: send.tried };
    this.#sends.takeOut(send);
    send.over.abort();
    try {
      await this.#sends.erase(send, { isCancelled: true });
    } catch (error) {
      this.#sender.stop(error);
      send.fail(error);
      throw error;
    }
    this.#sender.cancelled(send);
    return true;
  }

  /** Notes whether there is something in it. */
  #note(): void {
    const isEmpty = this.#adding === 0 && this.#sender.work === undefined;
    this.#waiting[isEmpty ? "delete" : "add"](this.#roomId);
  }

  #full(): ValueError {
    return new ValueError(`Cannot queue a send to ${this.#roomId}: ${MAX_QUEUED} are waiting already`);
  }
}
