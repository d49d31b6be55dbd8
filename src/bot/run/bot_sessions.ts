/**
 * Sessions in a bot: taken by a handler for as long as it runs, or changed from outside. What a handler finds out
 * once is in one of its own, so that it is the same when a crash makes the handler run again.
 *
 * Over 300 lines because both are read and changed through the client's sessions.
 *
 * @module
 */

import {
  type Client,
  defineSession,
  type SessionChange,
  type SessionDefinition,
  type SessionKey,
  ValueError,
} from "../../../mod.ts";
import { currentRun, type Run } from "./run.ts";
import type { Scene } from "./run_record.ts";

/** Where an event belongs. */
interface SessionPlace {
  readonly event: object;
  readonly room: string;
  /** Who sent it. */
  readonly sender: string;
  /** The first event of its thread; empty: none. */
  readonly thread: string;
}

/**
 * One session, from outside of handlers.
 *
 * @example
 * ```ts
 * import { Bot, defineSession } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Bot({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * const points = defineSession({ name: "points", per: "user", initial: () => ({ points: 0 }) });
 * await bot.session(points, "@alice:localhost").update((state) => void (state.points += 5));
 * ```
 */
export interface BotSession<State extends object> {
  /** Returns a copy of the state; undefined if the session does not exist. */
  read(): Promise<State | undefined>;
  /**
   * Changes the state in one commit, after handlers that hold the session have ended.
   *
   * @param change Changes the state that it is given, or returns another; `null` ends the session.
   *   It must not wait.
   * @throws {ValueError} If the calling handler holds the session itself.
   */
  update(change: SessionChange<State>): Promise<void>;
  /**
   * Deletes the session: the next use begins with the initial state.
   *
   * @throws {ValueError} If the calling handler holds the session itself.
   */
  end(): Promise<void>;
}

interface Taken {
  readonly definition: SessionDefinition<object>;
  readonly key: SessionKey;
  /** What the handler changes; undefined: it has ended the session. */
  state: object | undefined;
}

export class BotSessions {
  readonly #client: Client;
  readonly #locks = new Locks();
  readonly #taken = new WeakMap<Run, Map<string, Taken>>();

  /** @param client Stores them. */
  constructor(client: Client) {
    this.#client = client;
  }

  /** A session, from outside of handlers. */
  session<State extends object>(definition: SessionDefinition<State>, key: SessionKey): BotSession<State> {
    const { sessions } = this.#client;
    const name = nameOf(definition, key);
    const within = async <Result>(work: () => Promise<Result>) => {
      const run = currentRun();
      if (run !== undefined && this.#taken.get(run)?.has(name)) { // it would wait for itself
        throw new ValueError(
          `Cannot change "${name}" from outside: this handler has taken it; change what c.session() has returned, or use c.endSession()`,
        );
      }
      return await this.#locks.within(name, work, run);
    };
    return {
      read: () => sessions.read(definition, key),
      update: (change) => within(() => sessions.update(definition, key, change)),
      end: () => within(() => sessions.end(definition, key)),
    };
  }

  /**
   * Takes a session for a run: nobody else has it until the run has ended, and what is made of it is
   * committed then.
   */
  async take<State extends object>(
    run: Run,
    definition: SessionDefinition<State>,
    key: SessionKey,
  ): Promise<State> {
    const name = nameOf(definition, key);
    run.checkGoesOn(`take the session ${name}`);
    const taken = this.#taken.get(run) ?? new Map<string, Taken>();
    this.#taken.set(run, taken);
    const known = taken.get(name);
    if (known !== undefined) return (known.state ??= structuredClone(definition.initial())) as State;
    const { isReplaying } = run;
    const state = await run.step(`session ${name}`, async () => {
      const release = await this.#locks.take(name, run);
      run.atEnd.push(release);
      const kept = await this.#client.sessions.read(definition, key);
      return structuredClone(kept ?? definition.initial());
    });
    if (isReplaying) return state; // what was made of it then is committed
    const copy = structuredClone(state); // the step keeps what it was
    taken.set(name, { definition, key, state: copy });
    return copy;
  }

  /** Ends a session, when the run has ended. */
  async end(run: Run, definition: SessionDefinition<object>, key: SessionKey): Promise<void> {
    await this.take(run, definition, key);
    const taken = this.#taken.get(run)?.get(nameOf(definition, key));
    if (taken !== undefined) taken.state = undefined;
  }

  /** Has what a run made of its sessions committed with it. */
  commit(run: Run): void {
    for (const { definition, key, state } of this.#taken.get(run)?.values() ?? []) {
      run.context.updateSession(definition, key, () => state ?? null);
    }
  }
}

/** The key of the session that an event has. */
export function sessionKeyFor(
  { name, per }: Pick<SessionDefinition<never>, "name" | "per">,
  { event, room, sender, thread }: SessionPlace,
): SessionKey {
  if (typeof per === "function") {
    const key = per(event as Parameters<typeof per>[0]);
    if (key !== undefined) return key;
    throw new ValueError(`Cannot use the session "${name}": its function gives none for this event`);
  }
  const missing = (per === "user" || per === "member") && sender === ""
    ? "user"
    : per !== "user" && room === ""
    ? "room"
    : undefined;
  if (missing !== undefined) {
    throw new ValueError(
      `Cannot use the session "${name}": there is no ${missing} here; give the key with it`,
    );
  }
  const pair: Readonly<Record<typeof per, SessionKey>> = {
    room,
    user: sender,
    member: [room, sender],
    thread: [room, thread],
  };
  return pair[per];
}

function nameOf({ name }: Pick<SessionDefinition<never>, "name">, key: SessionKey): string {
  return JSON.stringify([name, key]);
}

/** Who holds locks: anything that is one. */
type Holder = object;

/** A turn at a lock. */
interface Turn {
  readonly holder: Holder;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
}

/** Locks by name. Who would wait for somebody who waits for them gets an error instead. */
export class Locks {
  /** The last turn at each lock. */
  readonly #last = new Map<string, Turn>();
  /** Which turns each holder waits for. */
  readonly #waiting = new Map<Holder, Set<Turn>>();

  /**
   * Takes a lock, when those who asked before have released it.
   *
   * @param name The lock.
   * @param holder Who takes it; one may take a lock only once.
   * @returns Releases it.
   * @throws {ValueError} If the wait would never end.
   */
  async take(name: string, holder: Holder): Promise<() => void> {
    return await this.#take(name, holder, holder);
  }

  /**
   * Does something while nobody else has a lock.
   *
   * @param holder Who waits for it, and may do so several times. Default: nobody who has other locks.
   * @throws {ValueError} If the wait would never end.
   */
  async within<Result>(name: string, work: () => Promise<Result>, holder: Holder = {}): Promise<Result> {
    const release = await this.#take(name, {}, holder);
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #take(name: string, holder: Holder, waits: Holder): Promise<() => void> {
    const before = this.#last.get(name);
    if (before !== undefined && this.#waitsFor(before, waits)) {
      throw new ValueError(
        `Cannot use "${name}" here: a handler that has it waits for what this one has; take both in the same order everywhere`,
      );
    }
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const mine = { holder, over };
    this.#last.set(name, mine);
    if (before !== undefined) await this.#wait(before, [holder, waits]);
    return () => {
      if (this.#last.get(name) === mine) this.#last.delete(name);
      resolve();
    };
  }

  /** Waits until a turn is over. */
  async #wait(turn: Turn, holders: readonly Holder[]): Promise<void> {
    for (const each of holders) {
      this.#waiting.set(each, (this.#waiting.get(each) ?? new Set()).add(turn));
    }
    await turn.over;
    for (const each of holders) {
      const turns = this.#waiting.get(each);
      turns?.delete(turn);
      if (turns?.size === 0) this.#waiting.delete(each);
    }
  }

  /** Returns whether a turn is a holder's, or waits for one of them, at last. */
  #waitsFor({ holder: its }: Turn, holder: Holder): boolean {
    return its === holder || [...this.#waiting.get(its) ?? []].some((turn) => this.#waitsFor(turn, holder));
  }
}

/** By step, what the handler of an event found out; the record goes when the handler has settled. */
const ONCE = defineSession<{ values: Readonly<Record<string, unknown>> }>({
  name: "bot.once",
  per: () => undefined,
  initial: () => ({ values: {} }),
});

/** The place of the scene among what a run found out. */
const SCENE = "scene";

/** Keeps what runs found out. */
export class Once {
  readonly #client: Client;
  readonly #known = new WeakMap<Run, Promise<Readonly<Record<string, unknown>>>>();
  /** By delivery, what room and sender were called for a run that has changed it, until that has ended. */
  readonly #scenes = new Map<string, Scene>();

  /** @param client Stores it. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Finds something out, and commits it before it is used; after a crash it is read.
   *
   * @param run The run.
   * @param at The place of the step in it.
   * @param work Finds it out; what it returns has to be plain data.
   */
  async value<Result>(run: Run, at: string, work: () => Promise<Result>): Promise<Result> {
    const { deliveryId } = run.context;
    const comesAgain = deliveryId !== undefined && run.end === undefined;
    if (!comesAgain) return await work();
    let known = this.#known.get(run);
    if (known === undefined) this.#known.set(run, known = this.#begin(run, deliveryId));
    const values = await known;
    if (at in values) return structuredClone(values[at]) as Result;
    const value = await work();
    await this.#client.sessions.update(
      ONCE,
      deliveryId,
      (state) => ({ values: { ...state.values, [at]: value } }),
    );
    return value;
  }

  /** Reads what runs have left that a crash has cut off. */
  async restore(): Promise<void> {
    for await (const { key, state: { values: { [SCENE]: scene } } } of this.#client.sessions.list(ONCE)) {
      if (scene !== undefined) this.#scenes.set(String(key), scene as Scene);
    }
  }

  /** What room and sender were called when a run began that was cut off, and is called again. */
  sceneOf({ context: { deliveryId = "" } }: Run): Scene | undefined {
    const scene = this.#scenes.get(deliveryId);
    return scene && { ...scene };
  }

  /** Commits what room and sender are called, before a run changes it. */
  async keepScene(run: Run, scene: Scene | undefined): Promise<void> {
    const { deliveryId } = run.context;
    if (scene === undefined || deliveryId === undefined || this.#scenes.has(deliveryId)) return;
    const kept = await this.value(run, SCENE, () => Promise.resolve({ ...scene }));
    if (run.end === undefined) this.#scenes.set(deliveryId, kept); // else nobody would forget it
  }

  /** Forgets a run that has ended, and been committed. */
  ended({ context: { deliveryId = "" } }: Run): void {
    this.#scenes.delete(deliveryId);
  }

  /** Undoes what a run has begun that has failed, and forgets what it found out: nobody runs it again. */
  async failed(run: Run): Promise<void> {
    this.ended(run);
    for (const undo of run.atFailure) await undo();
    const { deliveryId } = run.context;
    if (deliveryId === undefined || !this.#known.has(run)) return;
    await this.#client.sessions.end(ONCE, deliveryId);
  }

  async #begin(run: Run, deliveryId: string): Promise<Readonly<Record<string, unknown>>> {
    const kept = await this.#client.sessions.read(ONCE, deliveryId);
    run.context.updateSession(ONCE, deliveryId, () => null);
    return kept?.values ?? {};
  }
}
