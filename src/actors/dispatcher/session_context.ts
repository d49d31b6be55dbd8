/**
 * What a handler with a session is called with: a working copy of the session.
 *
 * @module
 */

import { equals } from "@std/bytes/equals";
import { ValueError } from "../../errors/matrix_error.ts";
import { DescribedContext } from "./delivery_scope.ts";
import type { HandlerContext, SessionUpdate } from "./handler_context.ts";
import { decodeValue, encodeValue } from "../../store/base/mod.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import { asCause, membersAtFault } from "../../types/events/define_event.ts";

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
  #isOver = false;

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
    // What is new is a copy: the program may give the same each time.
    const state = kept === undefined
      ? decodeValue(encodeValue(definition.initial())) as State
      : await accepted(definition, decodeValue(kept.slice()) as State); // it was encoded by outcome()
    return new SessionContext(definition.name, deliveryId, state, kept !== undefined);
  }

  get session(): State {
    this.#checkGoesOn();
    if (this.#state !== undefined) return this.#state;
    throw new ValueError(
      `Cannot use the session "${this.#name}": it has ended; set ctx.session to start a new one`,
    );
  }

  set session(state: State) {
    this.#checkGoesOn();
    this.#state = state;
  }

  endSession(): void {
    this.#checkGoesOn();
    this.#state = undefined;
  }

  /** Refuses what is changed from now on. */
  end(): void {
    this.#isOver = true;
  }

  /** @throws {ValueError} If nobody would commit a change any more. */
  #checkGoesOn(): void {
    if (!this.#isOver) return;
    throw new ValueError(
      `Cannot use the session "${this.#name}": the handler has settled; await what it does, or use client.sessions.update()`,
    );
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
   * Returns what the handler did with it.
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
