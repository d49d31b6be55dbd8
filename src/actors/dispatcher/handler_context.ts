/**
 * What a handler is called with beside the event.
 *
 * @module
 */

import { equals } from "@std/bytes/equals";
import type { HandlerScope } from "../../base/handler_scope.ts";
import { ValueError } from "../../errors/value_error.ts";
import { DescribedContext } from "./described_context.ts";
import { sessionKeyOf } from "./session_keys.ts";
import type { SessionChange, SessionCommits, SessionUpdate } from "./session_updates.ts";
import { decodeValue, encodeValue } from "../../store/base/mod.ts";
import type { SessionDefinition, SessionKey } from "../../types/events/define_session.ts";
import { asCause, membersAtFault } from "../../types/content/content_schema.ts";

/** What a handler is called with beside the event. */
export interface HandlerContext<State = undefined> {
  /**
   * Names this delivery of this event to this handler: the same when a crash makes it come again,
   * so that the handler can do things elsewhere once (an idempotency key). The transaction IDs of
   * what it sends with the client are made of it. Undefined if the event never comes again: without
   * a `store`, none does.
   */
  readonly deliveryId: string | undefined;
  /**
   * What handlers remember from one event to the next; it may be changed, or replaced. Undefined if
   * the handler was added without the option `session`.
   *
   * @throws {ValueError} If the event has no such session, since it belongs to no room, for one.
   */
  session: State;
  /**
   * Removes the session: the next event that has it starts a new one. Does nothing if the handler
   * was added without one.
   */
  endSession(): void;
  /**
   * Changes another session than the event's, in the commit that records that the handler has
   * settled: after a crash either both are there, or the handler is called again. A handler that
   * throws changes nothing.
   *
   * @param definition What the session is.
   * @param key Which one.
   * @param change What to make of it: see {@linkcode SessionChange}. It is called when the handler
   *   has settled, and all handlers that have that session have too.
   * @throws {ValueError} If the handler has a session of its own, has settled, or the definition
   *   has no such key.
   */
  updateSession<Other extends object>(
    definition: SessionDefinition<Other>,
    key: SessionKey,
    change: SessionChange<Other>,
  ): void;
  /**
   * Commits now what was changed with `updateSession()`, and records with it that the handler has
   * settled: whatever it does from then on is not done again after a crash. Without changes it does
   * nothing.
   *
   * @throws {ValueError} If the handler has a session of its own, or a change can't be used.
   */
  settle(): Promise<void>;
  /**
   * Says more of what this call of the handler does, as frameworks of commands know it.
   *
   * @param details Logged with its failure: a command's name, for one. Default: nothing is.
   * @param unawaited Gets what fails in the call and is not awaited, and says whether it has seen to that:
   *   otherwise the log and `HANDLER_ERROR` get it. It must not throw. Default: they do.
   */
  describe(details?: Readonly<Record<string, unknown>>, unawaited?: (error: unknown) => boolean): void;
}

export type AnyContext = HandlerContext | HandlerContext<object> | HandlerContext<never>;

/** The context of a handler that has no session. */
export class PlainContext extends DescribedContext implements HandlerContext {
  readonly #delivery: Pick<HandlerScope, "name"> | undefined;
  readonly #commits: SessionCommits;
  #updates: SessionUpdate[] | undefined;
  #isOver = false;

  /**
   * @param delivery The delivery, if it may come again.
   * @param commits Commits what the handler changes.
   */
  constructor(delivery: Pick<HandlerScope, "name"> | undefined, commits: SessionCommits) {
    super();
    this.#delivery = delivery;
    this.#commits = commits;
  }

  get deliveryId(): string | undefined {
    return this.#delivery?.name;
  }

  get session(): undefined {
    return undefined;
  }

  set session(_: undefined) {}

  endSession(): void {}

  updateSession<Other extends object>(
    definition: SessionDefinition<Other>,
    key: SessionKey,
    change: SessionChange<Other>,
  ): void {
    const update = { definition, key: sessionKeyOf(definition, key), change };
    if (this.#isOver) {
      throw new ValueError(
        `Cannot change the session "${definition.name}": the handler has settled; use client.sessions.update()`,
      );
    }
    (this.#updates ??= []).push(update);
  }

  /** Whether there is something to commit when the handler has settled. */
  get hasUpdates(): boolean {
    return this.#updates !== undefined;
  }

  settle(): Promise<void> {
    const updates = this.#isOver ? undefined : this.#updates;
    this.#isOver = true;
    return updates === undefined ? Promise.resolve() : this.#commits.update(updates, this.deliveryId);
  }
}

/** What a handler did with its session. */
export type SessionOutcome =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; /** The state, encoded. */ readonly bytes: Uint8Array }
  | { readonly kind: "ended" };

/** A working copy of a session. */
export class SessionContext<State extends object> extends DescribedContext implements HandlerContext<State> {
  readonly deliveryId: string | undefined;
  readonly #name: string;
  /** What it began with, encoded. */
  readonly #before: Uint8Array;
  readonly #isKept: boolean;
  #state: State | undefined;

  private constructor(name: string, deliveryId: string | undefined, state: State, isKept: boolean) {
    super();
    this.#name = name;
    this.deliveryId = deliveryId;
    this.#state = state;
    this.#before = encodeValue(state);
    this.#isKept = isKept;
  }

  /**
   * Makes a working copy.
   *
   * @param kept The stored state, encoded; undefined if there is none.
   * @throws {ValueError} If the schema refuses the stored state.
   */
  static async of<State extends object>(
    definition: SessionDefinition<State>,
    deliveryId: string | undefined,
    kept: Uint8Array | undefined,
  ): Promise<SessionContext<State>> {
    const state = kept === undefined
      ? decodeValue(encodeValue(definition.initial())) as State // a copy: the program may give the same each time
      : await accepted(definition, decodeValue(kept) as State); // it was encoded by outcome()
    return new SessionContext(definition.name, deliveryId, state, kept !== undefined);
  }

  get session(): State {
    if (this.#state !== undefined) return this.#state;
    throw new ValueError(
      `Cannot use the session "${this.#name}": it has ended; set ctx.session to start a new one`,
    );
  }

  set session(state: State) {
    this.#state = state;
  }

  endSession(): void {
    this.#state = undefined;
  }

  updateSession(definition: Pick<SessionDefinition<never>, "name">): never {
    throw hasOwn(definition.name, this.#name);
  }

  settle(): Promise<never> {
    return Promise.reject(settlesItself(this.#name));
  }

  /** Changes the state as an update says. */
  apply(change: SessionUpdate["change"]): void {
    const made = change(this.session as never);
    if (made === null) this.endSession();
    else if (made !== undefined) this.session = made as State; // the definition is the change's
  }

  /**
   * What the handler did with it.
   *
   * @throws {ValueError} If it is not plain data any more.
   */
  outcome(): SessionOutcome {
    if (this.#state === undefined) return this.#isKept ? { kind: "ended" } : { kind: "same" };
    const bytes = this.#encoded(this.#state);
    return equals(bytes, this.#before) ? { kind: "same" } : { kind: "changed", bytes };
  }

  #encoded(state: State): Uint8Array {
    try {
      if (typeof state === "object" && state !== null) return encodeValue(state);
    } catch (cause) {
      throw notPlain(this.#name, cause);
    }
    throw notPlain(this.#name, undefined);
  }
}

/** The context of a handler whose event has no such session. */
export class NoSessionContext extends DescribedContext implements HandlerContext<never> {
  readonly deliveryId: string | undefined;
  readonly #name: string;

  /**
   * @param name The session's.
   * @param deliveryId Names the delivery.
   */
  constructor(name: string, deliveryId: string | undefined) {
    super();
    this.#name = name;
    this.deliveryId = deliveryId;
  }

  get session(): never {
    throw this.#none();
  }

  set session(_: never) {
    throw this.#none();
  }

  endSession(): void {}

  updateSession(definition: Pick<SessionDefinition<never>, "name">): never {
    throw hasOwn(definition.name, this.#name);
  }

  settle(): Promise<never> {
    return Promise.reject(settlesItself(this.#name));
  }

  #none(): ValueError {
    return new ValueError(
      `Cannot use the session "${this.#name}": the event has none; add the handler for events that belong to a room and a sender`,
    );
  }
}

async function accepted<State extends object>(
  { name, schema }: SessionDefinition<State>,
  state: State,
): Promise<State> {
  if (schema === undefined) return state;
  const result = await schema["~standard"].validate(state);
  if (result.issues === undefined) return result.value;
  throw new ValueError(
    `Cannot use the session "${name}": its schema refuses ${
      membersAtFault(result.issues)
    } of what was kept; let the schema take it and bring it into form`,
    { cause: asCause(result.issues) },
  );
}

function hasOwn(name: string, own: string): ValueError {
  return new ValueError(
    `Cannot change the session "${name}": the handler has "${own}" as its own; add it without the option session`,
  );
}

function settlesItself(name: string): ValueError {
  return new ValueError(
    `Cannot settle: the session "${name}" is committed when the handler ends; add it without the option session`,
  );
}

function notPlain(name: string, cause: unknown): ValueError {
  return new ValueError(
    `Cannot keep the session "${name}": it is not an object of plain data; leave out functions and the like`,
    { cause },
  );
}
