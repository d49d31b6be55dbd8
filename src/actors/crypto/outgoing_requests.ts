/**
 * The outgoing requests of encryption: makes those that the engine asks for, and gives it the
 * answers.
 *
 * @module
 */

import type { EngineRequest } from "../../crypto/engine/engine.ts";
import type { RequestFailure } from "../../crypto/requests/mod.ts";
import type { AnswerOutput } from "../../crypto/megolm/mod.ts";
import { DeviceConflictError } from "../../errors/encryption_error.ts";
import { UnknownTokenError } from "../../errors/account_errcodes.ts";
import type { Logger } from "../../base/log.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { CryptoHandlers } from "./crypto_actor.ts";
import { failureOf, isDueToRequest } from "./request_failure.ts";

/** Makes a request of the engine. */
export type RequestSender = (request: EngineRequest, signal: AbortSignal) => Promise<JsonObject>;

/** What outgoing requests are made with. */
export interface OutgoingRequestsOptions {
  readonly actor: ActorRef<CryptoHandlers>;
  /** Makes a request. */
  readonly send: RequestSender;
  /** Receives what an answer has led to. Must not wait for handlers, which may wait for a request. */
  readonly deliver: (output: AnswerOutput) => void;
  /** Where failures are logged. */
  readonly log: Logger;
}

/** What became of the requests of a kind. */
export interface RoundOutcome {
  /** How many have ended, also those of other callers: each may add to what the engine has. */
  readonly ended: number;
  /** Why the first failed, if one did. */
  readonly failure: unknown;
}

/** A lane keeps its order: a message to devices arrives before the events that need it. */
type Lane = "keysUpload" | "signaturesUpload" | "keysQuery" | "keysClaim" | "outbox" | "backup" | "history";

interface LaneState {
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

/** Makes requests, each kind in a lane of its own, one at a time. */
export class OutgoingRequests {
  /** Why the device can't go on, once that is known. */
  conflict: DeviceConflictError | undefined;
  /** Why the server answers nothing any more; undefined if it has answered the last request. */
  deadToken: UnknownTokenError | undefined;
  readonly #options: OutgoingRequestsOptions;
  readonly #lanes = new Map<Lane, LaneState>();
  readonly #stopping = new AbortController();
  #pausing = new AbortController();
  #collecting: Promise<void> | undefined;
  #again = false;

  /** @param options What requests are made with. */
  constructor(options: OutgoingRequestsOptions) {
    this.#options = options;
  }

  /** Makes the requests that are due. Failures go to the engine and to the log. */
  wake(): void {
    this.#collect().catch((error) => {
      if (!this.#isPaused) {
        this.#options.log.warn("Could not make the requests of encryption", { error: String(error) });
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
    const lane = this.#lane(laneOf(kind));
    const before = lane.ended;
    lane.failures.clear();
    do {
      lane.again = false;
      await this.#collect();
      await lane.done;
    } while (lane.again);
    const [first] = lane.failures.values();
    const failure = about === undefined ? first : lane.failures.get(about);
    return { ended: lane.ended - before, failure };
  }

  /** Why the last request of a kind failed, if none has been answered since. */
  lastFailure(kind: EngineRequest["kind"]): unknown {
    return this.#lane(laneOf(kind)).last;
  }

  /** Makes the requests that are due, and waits for all. Those that fail wait for the next time. */
  async idle(): Promise<void> {
    for (const lane of this.#lanes.values()) lane.failures.clear();
    // An answer may have the engine asked once more.
    for (let made = -1; made !== this.#made || this.#collecting !== undefined;) {
      made = this.#made;
      await this.#collect();
      const lanes = [...this.#lanes.values()];
      await Promise.all(lanes.map(({ done }) => done));
      if (lanes.some(({ failures }) => failures.size > 0)) return;
    }
  }

  /** Resolves when no request is under way any more; makes none. */
  async quiet(): Promise<void> {
    for (let made = -1; made !== this.#made || this.#collecting !== undefined;) {
      made = this.#made;
      await this.#collecting?.catch(() => {}); // the caller of round() or wake() gets it
      await Promise.all([...this.#lanes.values()].map(({ done }) => done));
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
    return [...this.#lanes.values()].reduce((sum, { made }) => sum + made, 0);
  }

  async #collectAll(): Promise<void> {
    while (this.#again && !this.#isPaused) {
      this.#again = false;
      for (const request of await this.#options.actor.requests()) {
        const lane = this.#lane(laneOf(request.kind));
        const waits = lane.ended < lane.made++;
        lane.done = lane.done.then(() => this.#make(request, lane, { waits }));
      }
    }
  }

  /** Makes one request. It never rejects: the lane goes on. */
  async #make(request: EngineRequest, lane: LaneState, { waits }: { waits: boolean }): Promise<void> {
    const { actor, deliver, log } = this.#options;
    const { id, kind } = request;
    const about = sessionOf(request);
    try {
      // No device could read an event whose key was not sent.
      const blocked = lane.blocked || kind === "roomEvent" && lane.failures.has(about) ||
        waits && !await actor.isDue(id);
      const response = blocked ? BLOCKED : await this.#send(request);
      if (!("failure" in response)) {
        [lane.refused, lane.last] = [0, undefined];
        this.deadToken = undefined;
        deliver(await actor.answer({ id, response: response.answer }));
        // What is known of devices, or what the server has, has changed: there may be more to do.
        if (kind === "keysQuery" || kind === "signaturesUpload" || BY_THEMSELVES.has(laneOf(kind))) {
          this.wake();
        }
        return;
      }
      if (response.failure instanceof UnknownTokenError) this.deadToken = response.failure;
      const failure = failureOf(response.failure);
      if (response !== BLOCKED) this.#noteFailure(lane, request, { ...failure, error: response.failure });
      const { settled } = await actor.fail({ id, failure });
      lane.again ||= settled;
      if (!settled && response !== BLOCKED) lane.last = response.failure;
      if (settled) this.wake();
      else if (!lane.failures.has(about)) lane.failures.set(about, response.failure);
    } catch (error) {
      if (!lane.failures.has(about)) lane.failures.set(about, error);
      if (error instanceof DeviceConflictError) this.conflict = error; // which is thrown
      if (this.#isPaused || this.conflict === error) return;
      log.error("The answer to a request of encryption could not be used", { kind, error: String(error) });
    } finally {
      if (++lane.ended === lane.made) [lane.blocked, lane.refused] = [false, 0];
    }
  }

  /** A server that fails at one request of the outbox may accept the next: that one is tried. */
  #noteFailure(
    lane: LaneState,
    { kind }: EngineRequest,
    { status, errcode, error }: RequestFailure & { readonly error: unknown },
  ): void {
    if (status >= 500) lane.refused++;
    lane.blocked = laneOf(kind) === "outbox" && (!isDueToRequest(status) || lane.refused >= MAX_REFUSED);
    if (this.#isPaused) return;
    // That one key is in no backup is an answer like another.
    const isAnswer = kind === "backupDownload" && status === 404 && errcode === "M_NOT_FOUND";
    const level = isAnswer ? "debug" : "warn";
    this.#options.log[level]("A request of encryption failed", { kind, error: String(error) });
  }

  async #send(
    request: EngineRequest,
  ): Promise<{ readonly answer: JsonObject } | { readonly failure: unknown }> {
    const { signal } = this;
    try {
      signal.throwIfAborted();
      return { answer: await this.#options.send(request, signal) };
    } catch (failure) {
      return { failure };
    }
  }

  #lane(name: Lane): LaneState {
    const found = this.#lanes.get(name) ?? {
      done: Promise.resolve(),
      made: 0,
      ended: 0,
      failures: new Map<string | undefined, unknown>(),
      last: undefined,
      blocked: false,
      refused: 0,
      again: false,
    };
    this.#lanes.set(name, found);
    return found;
  }
}

/** Lanes whose next request is made of the answer to the one before. */
const BY_THEMSELVES: ReadonlySet<Lane> = new Set(["backup", "history"]);

/** A request that is not tried, because one before it failed. */
const BLOCKED = { failure: undefined };

function laneOf(kind: EngineRequest["kind"]): Lane {
  if (kind === "backupUpload" || kind === "backupVersion" || kind === "backupDownload") return "backup";
  if (kind === "historyBundle") return "history";
  return kind === "toDevice" || kind === "roomEvent" ? "outbox" : kind;
}

/** The session that a request is about. */
function sessionOf(request: EngineRequest): string | undefined {
  if (request.kind === "toDevice") return request.sessionId;
  return request.kind === "roomEvent" ? request.content.session_id : undefined;
}
