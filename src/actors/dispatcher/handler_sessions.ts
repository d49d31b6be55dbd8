/**
 * The sessions of handlers: read once, changed by one handler after the other, and committed
 * together with the record that the event was handled.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import type { KvKey, KvMutation } from "../../store/kv_store.ts";
import { decodeValue, encodeValue } from "../../store/value_codec.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import type { ActorRef } from "../kernel/actor.ts";
import { type AnyContext, NoSessionContext, SessionContext, type SessionOutcome } from "./handler_context.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";
import { isName } from "../../types/identifiers.ts";

/** The parts that {@link HandlerSessions} uses. */
export interface HandlerSessionsOptions {
  /** The store. */
  readonly store: ActorRef<StoreProtocol>;
  /** Opens the store, the first time. */
  readonly ready: () => Promise<void>;
}

/** A handler that is to run with its session. */
export interface SessionRun {
  /** The session. */
  readonly definition: SessionDefinition<object>;
  /** The event. */
  readonly event: object;
  /** Names the delivery, if it may come again. */
  readonly deliveryId: string | undefined;
  /** Calls the handler. */
  readonly call: (context: AnyContext) => unknown;
}

/** A session as the last handler has left it. */
interface Kept {
  readonly key: KvKey;
  /** The key as text. */
  readonly id: string;
  /** Encoded; undefined: there is none. */
  bytes: Uint8Array | undefined;
  /** Settles when the store has been read. */
  read: Promise<void> | undefined;
  /** Settles when the last handler that was started for it has settled. */
  last: Promise<void>;
  /** How many handlers and commits use it. */
  uses: number;
}

/** The changes of one commit. */
interface Group {
  readonly mutations: Map<Kept, KvMutation>;
  readonly settled: string[];
  readonly done: Promise<void>;
}

/** How many sessions without a running handler are kept in memory. */
const IDLE_SESSIONS = 1_000;

/** Runs handlers with their sessions. */
export class HandlerSessions {
  readonly #options: HandlerSessionsOptions;
  /** The sessions with a running handler or a commit under way. */
  readonly #busy = new Map<string, Kept>();
  /** The other sessions, those that were used last. */
  readonly #idle = new RecentMap<string, Kept>();
  #next: Group | undefined;
  #committed: Promise<unknown> = Promise.resolve();

  /** @param options The parts that it uses. */
  constructor(options: HandlerSessionsOptions) {
    this.#options = options;
  }

  /**
   * Runs a handler after the earlier ones of its session have settled, and commits its changes of
   * the session.
   *
   * @throws What the handler throws; {@link ValueError} if the session can't be used. Nothing
   *   changes then.
   */
  async run({ definition, event, deliveryId, call }: SessionRun): Promise<void> {
    const key = sessionKey(definition, event);
    if (key === undefined) {
      await call(new NoSessionContext(definition.name, deliveryId));
      return;
    }
    const kept = this.#use(key);
    const over = Promise.withResolvers<void>();
    const before = kept.last;
    kept.last = over.promise;
    try {
      await before;
      await (kept.read ??= this.#read(kept));
      const context = await SessionContext.of(definition, deliveryId, kept.bytes);
      await call(context);
      const committed = this.#take(kept, context.outcome(), deliveryId);
      over.resolve(); // the next one works on what will be committed before its own
      await committed;
    } finally {
      over.resolve();
      this.#release(kept);
    }
  }

  #use(key: KvKey): Kept {
    const id = JSON.stringify(key);
    const kept = this.#busy.get(id) ?? this.#idle.remove(id) ??
      { key, id, bytes: undefined, read: undefined, last: Promise.resolve(), uses: 0 };
    this.#busy.set(id, kept);
    kept.uses++;
    return kept;
  }

  #release(kept: Kept): void {
    if (--kept.uses > 0) return;
    this.#busy.delete(kept.id);
    this.#idle.set(kept.id, kept);
    if (this.#idle.size > IDLE_SESSIONS) this.#idle.removeOldest();
  }

  async #read(kept: Kept): Promise<void> {
    const { store, ready } = this.#options;
    try {
      await ready();
      const [state] = await store.ask("readRecords", [kept.key]);
      kept.bytes = state === undefined ? undefined : encodeValue(state);
    } catch (error) {
      kept.read = undefined;
      throw error;
    }
  }

  async #take(kept: Kept, outcome: SessionOutcome, deliveryId: string | undefined): Promise<void> {
    if (outcome.kind === "same") return;
    kept.bytes = outcome.kind === "changed" ? outcome.bytes : undefined;
    const { key } = kept;
    const group = this.#next ??= this.#group();
    group.mutations.set(
      kept,
      // A copy, which the handler can't change any more.
      kept.bytes === undefined
        ? { type: "delete", key }
        : { type: "set", key, value: decodeValue(kept.bytes) },
    );
    if (deliveryId !== undefined) group.settled.push(deliveryId);
    await group.done;
  }

  /** Starts a group. What settles while a commit is under way goes into the next one. */
  #group(): Group {
    const mutations = new Map<Kept, KvMutation>();
    const settled: string[] = [];
    const done = this.#committed.then(async () => {
      this.#next = undefined;
      await this.#options.store.ask("commitSessions", { mutations: [...mutations.values()], settled });
    });
    this.#committed = done.catch(() => {}); // a failed store rejects its `done`
    return { mutations, settled, done };
  }
}

/**
 * The longest text that a function of the application's may make, in UTF-16 units: a store has a
 * limit for keys.
 */
const MAX_TEXT = 250;

/** Where sessions are kept, all of them. */
export const SESSIONS = "session";

/**
 * Where the session of an event is kept, relative to the account's keys.
 *
 * @returns Undefined if the event has none.
 * @throws {ValueError} If a function of the application's makes a text that is no key.
 */
export function sessionKey(
  { name, per }: Pick<SessionDefinition<object>, "name" | "per">,
  event: object,
): KvKey | undefined {
  const parts = typeof per === "function" ? ownParts(name, per(event as MatrixEvent)) : partsOf(event)[per];
  return parts?.every((part) => part !== undefined) ? [SESSIONS, name, ...parts] : undefined;
}

function ownParts(name: string, text: unknown): [string] | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && text.length <= MAX_TEXT) return [text];
  throw new ValueError(
    `Cannot find the session "${name}" of an event: its function \`per\` must give a text of at most ${MAX_TEXT} characters, or undefined`,
  );
}

function partsOf(event: { room_id?: unknown; sender?: unknown; content?: unknown }) {
  const room = typeof event.room_id === "string" ? event.room_id : undefined;
  const user = typeof event.sender === "string" ? event.sender : undefined;
  return { room: [room], user: [user], member: [room, user], thread: [room, threadOf(event.content)] };
}

/**
 * The event that a thread begins with; empty outside of threads. Senders can write anything there.
 */
function threadOf(content: unknown): string {
  const relation = isJsonObject(content) ? content["m.relates_to"] : undefined;
  if (!isJsonObject(relation) || relation.rel_type !== "m.thread") return "";
  const { event_id: root } = relation;
  return isName(root) ? root : "";
}
