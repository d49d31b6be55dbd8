/**
 * The outgoing requests of encryption: makes those that the engine asks for, and gives it the
 * answers.
 *
 * @module
 */

import type { EngineRequest } from "../../crypto/engine/engine.ts";
import type { RequestFailure } from "../../crypto/requests/requests.ts";
import type { AnswerOutput } from "../../crypto/megolm/mod.ts";
import { DeviceConflictError } from "../../errors/encryption_error.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import type { Logger } from "../../base/log.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { CryptoHandlers } from "./crypto_actor.ts";
import { failureOf, isDueToRequest, type RequestSender } from "./request_sender.ts";

/** What became of the requests of a kind. */
export interface RoundOutcome {
  /** How many have ended, also those of other callers: each may add to what the engine has. */
  readonly ended: number;
  /** Why the first failed, if one did. */
  readonly failure: unknown;
}

/** A queue keeps its order: a message to devices arrives before the events that need it. */
type QueueName =
  | "keysUpload"
  | "signaturesUpload"
  | "keysQuery"
  | "keysClaim"
  | "outbox"
  | "backup"
  | "history";

interface RequestQueue {
  done: Promise<void>;
  /** How many requests have been queued. */
  made: number;
  /** How many of them have ended. */
  ended: number;
  /** Why the first request about a session failed, since the last {@link OutgoingRequests.round}. */
  readonly failures: Map<string | undefined, unknown>;
  /** Why the last request failed; undefined: it has not. */
  last: unknown;
  /** Whether the server is out of reach, or fails again and again: further requests are not tried. */
  blocked: boolean;
  /** How many requests the server has failed at, one after the other. */
  refused: number;
  /** Whether the engine asks in another way for something that was refused. */
  again: boolean;
}

/** How many failures in a row the requests may be to blame for; after more it is the server. */
const MAX_REFUSED = 3;

/** Makes requests, each kind in a queue of its own, one at a time. */
export class OutgoingRequests {
  /** Why the device can't go on, once that is known. */
  conflict: DeviceConflictError | undefined;
  /** Why the server answers nothing any more; undefined if it has answered the last request. */
  deadToken: UnknownTokenError | undefined;
  readonly #actor: ActorRef<CryptoHandlers>;
  readonly #sender: RequestSender;
  readonly #deliver: (output: AnswerOutput) => void;
  readonly #log: Logger;
  readonly #queues = new Map<QueueName, RequestQueue>();
  readonly #stopping = new AbortController();
  #pausing = new AbortController();
  #collecting: Promise<void> | undefined;
  #again = false;

  /**
   * @param actor Has the requests.
   * @param send Makes a request.
   * @param deliver Receives what an answer has led to.
   *   Must not wait for handlers, which may wait for a request.
   * @param log Gets failures.
   */
  constructor(
    actor: ActorRef<CryptoHandlers>,
    send: RequestSender,
    deliver: (output: AnswerOutput) => void,
    log: Logger,
  ) {
    this.#actor = actor;
    this.#sender = send;
    this.#deliver = deliver;
    this.#log = log;
  }

  /** Makes the requests that are due. Failures go to the engine and to the log. */
  wake(): void {
    this.#collect().catch((error) => {
      if (!this.#isPaused) {
        this.#log.warn("Could not make the requests of encryption", { error: String(error) });
      }
    });
  }

  /**
   * Makes the requests that are due, and waits for those of a kind.
   *
   * @param kind The kind.
   * @param about The session whose failures count; absent: all do.
   */
  async round(kind: EngineRequest["kind"], about?: string): Promise<RoundOutcome> {
    const queue = this.#queue(queueNameOf(kind));
    const before = queue.ended;
    queue.failures.clear();
    do {
      queue.again = false;
      await this.#collect();
      await queue.done;
    } while (queue.again);
    const [first] = queue.failures.values();
    const failure = about === undefined ? first : queue.failures.get(about);
    return { ended: queue.ended - before, failure };
  }

  /** Returns the failure of the last request of a kind, if none has been answered since. */
  lastFailure(kind: EngineRequest["kind"]): unknown {
    return this.#queue(queueNameOf(kind)).last;
  }

  /** Makes the requests that are due, and waits for all. Those that fail wait for the next time. */
  async idle(): Promise<void> {
    for (const queue of this.#queues.values()) queue.failures.clear();
    // An answer may have the engine asked once more.
    for (let made = -1; made !== this.#made || this.#collecting !== undefined;) {
      made = this.#made;
      await this.#collect();
      const queues = [...this.#queues.values()];
      await Promise.all(queues.map(({ done }) => done));
      if (queues.some(({ failures }) => failures.size > 0)) return;
    }
  }

  /** Resolves when no request is under way any more; makes none. */
  async quiet(): Promise<void> {
    for (let made = -1; made !== this.#made || this.#collecting !== undefined;) {
      made = this.#made;
      await this.#collecting?.catch(() => {}); // the caller of round() or wake() gets it
      await Promise.all([...this.#queues.values()].map(({ done }) => done));
    }
  }

  /** Aborts the requests under way, and makes none until {@link OutgoingRequests.resume}. */
  async pause(): Promise<void> {
    this.#pausing.abort();
    await this.quiet();
  }

  /** Makes requests again. */
  resume(): void {
    if (!this.#pausing.signal.aborted) return;
    this.#pausing = new AbortController();
    this.wake();
  }

  /** Aborts the requests under way, and makes no more. They are stored, and made after a restart. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.pause();
  }

  /** Ends what is under way, at the next pause. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#stopping.signal, this.#pausing.signal]);
  }

  get #isPaused(): boolean {
    return this.#stopping.signal.aborted || this.#pausing.signal.aborted;
  }

  /** Queues the engine's requests. A call while one is running makes it ask the engine again. */
  async #collect(): Promise<void> {
    this.#again = true;
    await (this.#collecting ??= this.#collectAll().finally(() => this.#collecting = undefined));
  }

  get #made(): number {
    return [...this.#queues.values()].reduce((sum, { made }) => sum + made, 0);
  }

  async #collectAll(): Promise<void> {
    while (this.#again && !this.#isPaused) {
      this.#again = false;
      for (const request of await this.#actor.requests()) {
        const queue = this.#queue(queueNameOf(request.kind));
        const waits = queue.ended < queue.made++;
        queue.done = queue.done.then(() => this.#make(request, queue, { waits }));
      }
    }
  }

  /** Makes one request. It never rejects: the queue goes on. */
  async #make(request: EngineRequest, queue: RequestQueue, { waits }: { waits: boolean }): Promise<void> {
    const actor = this.#actor;
    const { id, kind } = request;
    const about = sessionOf(request);
    try {
      // No device could read an event whose key was not sent.
      const blocked = queue.blocked || kind === "roomEvent" && queue.failures.has(about) ||
        waits && !await actor.isDue(id);
      const response = blocked ? BLOCKED : await this.#send(request);
      if (!("failure" in response)) {
        [queue.refused, queue.last] = [0, undefined];
        this.deadToken = undefined;
        this.#deliver(await actor.answer({ id, response: response.answer }));
        // What is known of devices, or what the server has, has changed: there may be more to do.
        if (kind === "keysQuery" || kind === "signaturesUpload" || BY_THEMSELVES.has(queueNameOf(kind))) {
          this.wake();
        }
        return;
      }
      if (response.failure instanceof UnknownTokenError) this.deadToken = response.failure;
      const failure = failureOf(response.failure);
      if (response !== BLOCKED) this.#noteFailure(queue, request, { ...failure, error: response.failure });
      const { settled } = await actor.fail({ id, failure });
      queue.again ||= settled;
      if (!settled && response !== BLOCKED) queue.last = response.failure;
      if (settled) this.wake();
      else if (!queue.failures.has(about)) queue.failures.set(about, response.failure);
    } catch (error) {
      if (!queue.failures.has(about)) queue.failures.set(about, error);
      if (error instanceof DeviceConflictError) this.conflict = error; // which is thrown
      if (this.#isPaused || this.conflict === error) return;
      this.#log.error("The answer to a request of encryption could not be used", {
        kind,
        error: String(error),
      });
    } finally {
      if (++queue.ended === queue.made) [queue.blocked, queue.refused] = [false, 0];
    }
  }

  /** A server that fails at one request of the outbox may accept the next: that one is tried. */
  #noteFailure(
    queue: RequestQueue,
    { kind }: EngineRequest,
    { status, errcode, error }: RequestFailure & { readonly error: unknown },
  ): void {
    if (status >= 500) queue.refused++;
    queue.blocked = queueNameOf(kind) === "outbox" &&
      (!isDueToRequest(status) || queue.refused >= MAX_REFUSED);
    if (this.#isPaused) return;
    // That one key is in no backup is an answer like another.
    const isAnswer = kind === "backupDownload" && status === 404 && errcode === "M_NOT_FOUND";
    const level = isAnswer ? "debug" : "warn";
    this.#log[level]("A request of encryption failed", { kind, error: String(error) });
  }

  async #send(
    request: EngineRequest,
  ): Promise<{ readonly answer: JsonObject } | { readonly failure: unknown }> {
    const { signal } = this;
    try {
      signal.throwIfAborted();
      return { answer: await this.#sender(request, signal) };
    } catch (failure) {
      return { failure };
    }
  }

  #queue(name: QueueName): RequestQueue {
    const found = this.#queues.get(name) ?? {
      done: Promise.resolve(),
      made: 0,
      ended: 0,
      failures: new Map<string | undefined, unknown>(),
      last: undefined,
      blocked: false,
      refused: 0,
      again: false,
    };
    this.#queues.set(name, found);
    return found;
  }
}

/** Queues whose next request is made of the answer to the one before. */
const BY_THEMSELVES: ReadonlySet<QueueName> = new Set(["backup", "history"]);

/** A request that is not tried, because one before it failed. */
const BLOCKED = { failure: undefined };

function queueNameOf(kind: EngineRequest["kind"]): QueueName {
  if (kind === "backupUpload" || kind === "backupVersion" || kind === "backupDownload") return "backup";
  if (kind === "historyBundle") return "history";
  return kind === "toDevice" || kind === "roomEvent" ? "outbox" : kind;
}

/** The session that a request is about. */
function sessionOf(request: EngineRequest): string | undefined {
  if (request.kind === "toDevice") return request.sessionId;
  return request.kind === "roomEvent" ? request.content.session_id : undefined;
}
