/**
 * Sessions in a bot: taken by a handler for as long as it runs, or changed from outside.
 *
 * @module
 */

import {
  type Client,
  type SessionChange,
  type SessionDefinition,
  type SessionKey,
  ValueError,
} from "../../../mod.ts";
import { Locks } from "./locks.ts";
import { currentRun, type Run } from "./run.ts";

/** Where an event belongs. */
interface SessionPlace {
  /** Undefined: there is none, as in schedules and reminders. */
  readonly event: object | undefined;
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
  /** After how many answers of the run. */
  readonly since: number;
  /** Whether an earlier run has taken it so: what was made of it is committed. */
  readonly isOver: boolean;
  readonly definition: SessionDefinition<object>;
  readonly key: SessionKey;
  /** What the handler changes; undefined: it has ended the session. */
  state: object | undefined;
}

export class BotSessions {
  /** Aborted when the bot is closed. */
  readonly bot: AbortSignal;
  readonly #client: Client;
  readonly #locks = new Locks();
  readonly #taken = new WeakMap<Run, Map<string, Taken>>();
  /** What each run has without asking for it. */
  readonly #own = new WeakMap<Run, Taken>();

  /**
   * @param client Stores them.
   * @param bot Aborted when the bot is closed.
   */
  constructor(client: Client, bot: AbortSignal) {
    this.#client = client;
    this.bot = bot;
  }

  /** A session, from outside of handlers. */
  session<State extends object>(definition: SessionDefinition<State>, key: SessionKey): BotSession<State> {
    const { sessions } = this.#client;
    const name = nameOf(definition, key);
    const within = async <Result>(work: () => Promise<Result>) => {
      const run = currentRun(this.bot);
      // It would wait for itself.
      if (run !== undefined && this.#taken.get(run)?.get(name)?.isOver === false) {
        throw new ValueError(
          `Cannot change "${name}" from outside: this handler has taken it; change what c.getSession() has returned, or use c.endSession()`,
        );
      }
      return await this.#locks.within(name, () => {
        run?.time.check();
        return work();
      }, run);
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
    return stateOf(await this.#take(run, definition, key)) as State;
  }

  /** Takes the session that functions have without asking for it; from now on {@link own} has it. */
  async takeOwn(run: Run, definition: SessionDefinition<object>, key: SessionKey): Promise<void> {
    this.#own.set(run, await this.#take(run, definition, key));
  }

  /** Takes it again, when a run goes on after an answer: it was anybody's while nobody had answered. */
  async takeOwnAgain(run: Run): Promise<void> {
    const own = this.#own.get(run);
    if (own !== undefined) await this.takeOwn(run, own.definition, own.key);
  }

  /**
   * The session that functions have without asking for it: reads and sets its state; undefined: there is
   * none.
   */
  own(run: Run): { state: object | undefined } | undefined {
    const taken = this.#own.get(run);
    if (taken === undefined) return undefined;
    return {
      get state() {
        return stateOf(taken);
      },
      set state(state) {
        taken.state = state ?? undefined;
      },
    };
  }

  async #take(run: Run, definition: SessionDefinition<object>, key: SessionKey): Promise<Taken> {
    const name = nameOf(definition, key);
    run.checkGoesOn(`take the session ${name}`);
    const all = this.#taken.get(run) ?? new Map<string, Taken>();
    this.#taken.set(run, all);
    const known = all.get(name);
    if (known?.since === run.answers) return known;
    const { isReplaying } = run;
    const state = await run.step(`session ${name}`, async () => {
      const release = await this.#locks.take(name, run);
      if (run.time.isOver) release(); // nothing else does, when the run has ended
      else run.atEnd.push(release);
      run.time.check();
      const kept = await this.#client.sessions.read(definition, key);
      return structuredClone(kept ?? definition.initial());
    });
    const copy = structuredClone(state); // the step keeps what it was
    const taken = { definition, key, state: copy, since: run.answers, isOver: isReplaying };
    all.set(name, taken);
    return taken;
  }

  /** Ends a session, when the run has ended. */
  async end(run: Run, definition: SessionDefinition<object>, key: SessionKey): Promise<void> {
    const taken = await this.#take(run, definition, key);
    taken.state = undefined;
  }

  /** What a run has made of the sessions of a definition by now, by their keys; undefined: ended. */
  taken<State extends object>(run: Run, { name }: SessionDefinition<State>): Map<string, State | undefined> {
    const all = [...this.#taken.get(run)?.values() ?? []]
      .filter(({ definition, isOver }) => definition.name === name && !isOver);
    return new Map(all.map(({ key, state }) => [String(key), state as State | undefined]));
  }

  /** Has what a run made of its sessions committed with it. */
  commit(run: Run): void {
    for (const { definition, key, state, isOver } of this.#taken.get(run)?.values() ?? []) {
      if (!isOver) run.context.updateSession(definition, key, () => state ?? null);
    }
  }
}

/** What a run has of a session: begins with its first state again, if it was ended. */
function stateOf(taken: Taken): object {
  return taken.state ??= structuredClone(taken.definition.initial());
}

/**
 * The key of the session that an event has.
 *
 * @throws {ValueError} If it has none.
 */
export function sessionKeyFor(
  definition: Pick<SessionDefinition<never>, "name" | "per">,
  place: SessionPlace,
): SessionKey {
  const key = foundSessionKey(definition, place);
  if (key !== undefined) return key;
  const { name, per } = definition;
  if (typeof per === "function" && place.event !== undefined) {
    throw new ValueError(`Cannot use the session "${name}": its function gives none for this event`);
  }
  const lacksUser = per === "user" || place.room !== "";
  const missing = typeof per === "function" ? "event" : lacksUser ? "user" : "room";
  throw new ValueError(`Cannot use the session "${name}": there is no ${missing} here; give the key with it`);
}

/** The key of the session that an event has; undefined: it has none. */
export function foundSessionKey(
  { per }: Pick<SessionDefinition<never>, "per">,
  { event, room, sender, thread }: SessionPlace,
): SessionKey | undefined {
  if (typeof per === "function") return event && per(event as Parameters<typeof per>[0]);
  if ((per === "user" || per === "member") && sender === "") return undefined;
  if (per !== "user" && room === "") return undefined;
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
