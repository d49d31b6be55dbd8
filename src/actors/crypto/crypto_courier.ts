/**
 * The courier: makes the requests that the engine wants made, and brings it the answers.
 *
 * @module
 */

import type { AnswerOutput, EngineRequest, RequestFailure } from "../../crypto/engine/engine_protocol.ts";
import { DeviceConflictError } from "../../errors/crypto_error.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { Logger } from "../../base/log.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { CryptoProtocol } from "./crypto_protocol.ts";

/** Makes a request. */
export type SendEngineRequest = (request: EngineRequest, signal: AbortSignal) => Promise<JsonObject>;

/** What the courier is made of. */
export interface CryptoCourierOptions {
  /** The Crypto actor. */
  readonly actor: ActorRef<CryptoProtocol>;
  /** Makes a request. */
  readonly send: SendEngineRequest;
  /** Takes what an answer has led to: events that can be read now, alarms; nobody waits for their handlers, who may wait for us. */
  readonly deliver: (output: AnswerOutput) => void;
  /** Where failures are told. */
  readonly log: Logger;
}

/** What became of the requests of a kind. */
export interface RoundOutcome {
  /** How many have come to an end, whoever had them made: with each, more is known than before. */
  readonly carried: number;
  /** Why the first one failed that did. */
  readonly failure: unknown;
}

/** What goes through one lane goes in order; what is encrypted for devices arrives before the events that need it. */
type Lane = "keysUpload" | "keysQuery" | "keysClaim" | "outbox";

interface LaneState {
  done: Promise<void>;
  /** How many requests have gone in. */
  made: number;
  /** How many have come out. */
  carried: number;
  /** By what it was about, why the first failed of those that were waited for last. */
  readonly failures: Map<string | undefined, unknown>;
  /** Whether the server is out of reach, or fails again and again: those behind are not tried. */
  blocked: boolean;
  /** Over how many the server has failed, one after the other. */
  refused: number;
  /** Whether something that was refused is to be asked for in another way. */
  again: boolean;
}

/** Over so many requests a server fails, one after the other, that works: it is one of them that is to blame. */
const MAX_REFUSED = 3;

/** Carries requests, each kind in a lane of its own. */
export class CryptoCourier {
  readonly #options: CryptoCourierOptions;
  readonly #lanes = new Map<Lane, LaneState>();
  readonly #stopping = new AbortController();
  #pausing = new AbortController();
  #collecting: Promise<void> | undefined;
  #again = false;
  #conflict: DeviceConflictError | undefined;

  /** @param options What the courier is made of. */
  constructor(options: CryptoCourierOptions) {
    this.#options = options;
  }

  /** Why the device can't go on, once it is known that it can't. */
  get conflict(): DeviceConflictError | undefined {
    return this.#conflict;
  }

  /** Makes what is to be made. Failures are the engine's to know, and the log's. */
  wake(): void {
    this.#collect().catch((error) => {
      if (!this.#isHeld) {
        this.#options.log.warn("Could not make the requests of encryption", { error: String(error) });
      }
    });
  }

  /**
   * Makes what is to be made, and waits for the requests of a kind.
   *
   * @param kind The kind.
   * @param about The session that they are about, if what becomes of others does not matter.
   */
  async round(kind: EngineRequest["kind"], about?: string): Promise<RoundOutcome> {
    const lane = this.#lane(laneOf(kind));
    const before = lane.carried;
    lane.failures.clear();
    do {
      lane.again = false;
      await this.#collect();
      await lane.done;
    } while (lane.again);
    const [first] = lane.failures.values();
    const failure = about === undefined ? first : lane.failures.get(about);
    return { carried: lane.carried - before, failure };
  }

  /** Makes what is to be made, and waits for all of it. What fails waits for the next time. */
  async idle(): Promise<void> {
    for (const lane of this.#lanes.values()) lane.failures.clear();
    for (let made = -1; made !== this.#made;) {
      made = this.#made;
      await this.#collect();
      const lanes = [...this.#lanes.values()];
      await Promise.all(lanes.map(({ done }) => done));
      if (lanes.some(({ failures }) => failures.size > 0)) return;
    }
  }

  /** Resolves when nothing is on its way any more; makes nothing. */
  async quiet(): Promise<void> {
    for (let made = -1; made !== this.#made || this.#collecting !== undefined;) {
      made = this.#made;
      await this.#collecting?.catch(() => {}); // whoever woke us has been told
      await Promise.all([...this.#lanes.values()].map(({ done }) => done));
    }
  }

  /** Ends what is on its way, and makes nothing until {@link CryptoCourier.resume}: it is durable, and comes again. */
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

  /** Ends what is on its way: it is durable, and goes on after a restart. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.pause();
  }

  get #isHeld(): boolean {
    return this.#stopping.signal.aborted || this.#pausing.signal.aborted;
  }

  /** Asks the engine for requests, and puts them into their lanes. Who comes while it is at it gets a second look. */
  async #collect(): Promise<void> {
    this.#again = true;
    await (this.#collecting ??= this.#collectAll().finally(() => this.#collecting = undefined));
  }

  get #made(): number {
    return [...this.#lanes.values()].reduce((sum, { made }) => sum + made, 0);
  }

  async #collectAll(): Promise<void> {
    while (this.#again && !this.#isHeld) {
      this.#again = false;
      for (const request of await this.#options.actor.ask("requests", undefined)) {
        const lane = this.#lane(laneOf(request.kind));
        lane.made++;
        lane.done = lane.done.then(() => this.#carry(request, lane));
      }
    }
  }

  /** Makes one request. It never rejects: the lane goes on. */
  async #carry(request: EngineRequest, lane: LaneState): Promise<void> {
    const { actor, deliver, log } = this.#options;
    const { id, kind } = request;
    const about = sessionOf(request);
    try {
      // What a room is told is not to be read without its key.
      const blocked = lane.blocked || kind === "roomEvent" && lane.failures.has(about);
      const response = blocked ? BLOCKED : await this.#send(request);
      if (!("failure" in response)) {
        lane.refused = 0;
        deliver(await actor.ask("answer", { id, response: response.answer }));
        if (kind === "keysQuery") this.wake(); // who is there is known: there may be more to do
        return;
      }
      const failure = failureOf(response.failure);
      if (response !== BLOCKED) {
        this.#noteFailure(lane, request, { status: failure.status, error: response.failure });
      }
      const { settled } = await actor.ask("fail", { id, failure });
      lane.again ||= settled;
      if (settled) this.wake();
      else if (!lane.failures.has(about)) lane.failures.set(about, response.failure);
    } catch (error) {
      if (!lane.failures.has(about)) lane.failures.set(about, error);
      if (error instanceof DeviceConflictError) this.#conflict = error;
      if (this.#isHeld) return;
      log.error("The answer to a request of encryption could not be used", { kind, error: String(error) });
    } finally {
      if (++lane.carried === lane.made) [lane.blocked, lane.refused] = [false, 0];
    }
  }

  /** A server that fails over one request of the outbox may take the next: whoever is to blame must not stand in others' way. */
  #noteFailure(
    lane: LaneState,
    { kind }: EngineRequest,
    { status, error }: { readonly status: number; readonly error: unknown },
  ): void {
    if (status >= 500) lane.refused++;
    lane.blocked = laneOf(kind) === "outbox" && (!isAbout(status) || lane.refused >= MAX_REFUSED);
    if (this.#isHeld) return;
    this.#options.log.warn("A request of encryption failed", { kind, error: String(error) });
  }

  async #send(
    request: EngineRequest,
  ): Promise<{ readonly answer: JsonObject } | { readonly failure: unknown }> {
    const signal = AbortSignal.any([this.#stopping.signal, this.#pausing.signal]);
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
      carried: 0,
      failures: new Map<string | undefined, unknown>(),
      blocked: false,
      refused: 0,
      again: false,
    };
    this.#lanes.set(name, found);
    return found;
  }
}

/** What stands behind a request that failed is not tried. */
const BLOCKED = { failure: undefined };

const EXISTS = /already exists/i;

function laneOf(kind: EngineRequest["kind"]): Lane {
  return kind === "toDevice" || kind === "roomEvent" ? "outbox" : kind;
}

/** Whether it may be the request's fault that it failed, and not that of whoever makes it, or of how many there are. */
function isAbout(status: number): boolean {
  return status >= 400 && status !== 401 && status !== 429;
}

/** The session that a request is about. */
function sessionOf(request: EngineRequest): string | undefined {
  if (request.kind === "toDevice") return request.sessionId;
  const session = request.kind === "roomEvent" ? request.content.session_id : undefined;
  return typeof session === "string" ? session : undefined;
}

function failureOf(error: unknown): RequestFailure {
  if (error instanceof MatrixRequestError) {
    const { status, errcode, message, body } = error;
    // Dendrite says of a key that it "already exists" not in `error`, but by user and device.
    const exists = !EXISTS.test(message) && EXISTS.test(JSON.stringify(body) ?? "");
    return { status, errcode, message: exists ? `${message}: a key already exists` : message };
  }
  const message = error instanceof MatrixError ? error.message : "the request could not be made";
  return { status: 0, errcode: undefined, message };
}
