/**
 * The sessions of handlers: read once, changed by one handler after the other, and committed
 * together with the record that the event was handled.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import { Turns } from "../../base/runs.ts";
import { decodeValue, encodeValue, type StoreKey, type StoreMutation } from "../../store/base/mod.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import { type AnyContext, sessionKey, type SessionUpdate } from "./handler_context.ts";
import { NoSessionContext, SessionContext, type SessionOutcome } from "./session_context.ts";
import type { OpenableStore } from "../store/mod.ts";

/** A handler that is to run with its session. */
export interface SessionRun {
  readonly definition: SessionDefinition<object>;
  readonly event: object;
  /** Names the delivery, if it may come again. */
  readonly deliveryId: string | undefined;
  /** Calls the handler. */
  readonly call: (context: AnyContext) => unknown;
}

/** A session as the last handler has left it. */
interface Kept {
  readonly key: StoreKey;
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
  readonly mutations: Map<Kept, StoreMutation>;
  readonly settled: string[];
  readonly done: Promise<void>;
}

/** How many sessions without a running handler are kept in memory. */
const IDLE_SESSIONS = 1_000;

/** Runs handlers with their sessions. */
export class HandlerSessions {
  readonly #options: OpenableStore;
  /** The sessions with a running handler or a commit under way. */
  readonly #busy = new Map<string, Kept>();
  /** The other sessions, those that were used last. */
  readonly #idle = new RecentMap<string, Kept>(IDLE_SESSIONS);
  #next: Group | undefined;
  readonly #commits = new Turns();

  /** @param options The parts that it uses. */
  constructor(options: OpenableStore) {
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
      try {
        await call(context);
      } finally {
        context.end();
      }
      const committed = this.#take(kept, context.outcome(), deliveryId);
      over.resolve(); // the next one works on what will be committed before its own
      await committed;
    } finally {
      over.resolve();
      this.#release(kept);
    }
  }

  /**
   * Changes sessions when the handlers that have them have settled, in one commit.
   *
   * @param updates The changes, in order; several may be of one session.
   * @param deliveryId Names the delivery that is recorded with them, if it may come again.
   * @throws What a change throws; {@link ValueError} if a session can't be used. Nothing changes
   *   then.
   */
  async update(updates: readonly SessionUpdate[], deliveryId?: string): Promise<void> {
    const locked = new Map<string, { readonly kept: Kept; readonly before: Promise<void> }>();
    const over = Promise.withResolvers<void>();
    for (const { key } of updates) { // all at once: who waits for several never waits in a circle
      const id = JSON.stringify(key);
      if (locked.has(id)) continue;
      const kept = this.#use(key);
      locked.set(id, { kept, before: kept.last });
      kept.last = over.promise;
    }
    try {
      for (const { kept, before } of locked.values()) {
        await before;
        await (kept.read ??= this.#read(kept));
      }
      const changed = new Map<Kept, Uint8Array | undefined>();
      for (const { key, definition, change } of updates) {
        const { kept } = locked.get(JSON.stringify(key)) as { readonly kept: Kept };
        const bytes = changed.has(kept) ? changed.get(kept) : kept.bytes;
        const context = await SessionContext.of(definition, deliveryId, bytes);
        context.apply(change);
        const outcome = context.outcome();
        if (outcome.kind !== "same") {
          changed.set(kept, outcome.kind === "changed" ? outcome.bytes : undefined);
        }
      }
      const commits = [...changed].map(([kept, bytes], index) => {
        const outcome: SessionOutcome = bytes === undefined ? { kind: "ended" } : { kind: "changed", bytes };
        return this.#take(kept, outcome, index === 0 ? deliveryId : undefined);
      });
      over.resolve();
      await Promise.all(commits);
    } finally {
      over.resolve();
      for (const { kept } of locked.values()) this.#release(kept);
    }
  }

  /** The state of a session, encoded, as the last handler has left it; undefined: there is none. */
  async read(key: StoreKey): Promise<Uint8Array | undefined> {
    const kept = this.#use(key);
    try {
      await (kept.read ??= this.#read(kept));
      return kept.bytes;
    } finally {
      this.#release(kept);
    }
  }

  #use(key: StoreKey): Kept {
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
  }

  async #read(kept: Kept): Promise<void> {
    const { store, ready } = this.#options;
    try {
      await ready();
      const [state] = await store.readRecords([kept.key]);
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
    const mutations = new Map<Kept, StoreMutation>();
    const settled: string[] = [];
    const done = this.#commits.take(async () => {
      await Promise.resolve(); // what settles at once goes into it
      this.#next = undefined;
      await this.#options.store.commitSessions({ mutations: [...mutations.values()], settled });
    });
    return { mutations, settled, done };
  }
}
