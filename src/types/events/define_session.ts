/**
 * What handlers remember from one event to the next, with a name and a type.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { ContentSchema } from "./define_event.ts";
import type { MatrixEvent } from "./event.ts";

/**
 * Whose a session is: there is one for each `room`, for each `user` whatever room they write in,
 * for each `member` of a room, for each `thread` of a room (what is in none shares one), or for
 * each text that a function of your own makes of an event; if that gives `undefined`, the event has
 * none.
 *
 * Some clients say in clear alone which thread an encrypted event is in, so that a server can move
 * it to another: where that matters, a function looks at `encryptionOf(event)?.relation`.
 */
export type SessionScope =
  | "room"
  | "user"
  | "member"
  | "thread"
  | ((event: MatrixEvent) => string | undefined);

/**
 * Names one session of a definition: the room, the user, or the text that a function makes; for
 * `member` the room and the user, for `thread` the room and the event that the thread begins with,
 * which is empty outside of threads.
 */
export type SessionKey = string | readonly [roomId: string, second: string];

/** What handlers remember from one event to the next. Made by {@linkcode defineSession}. */
export interface SessionDefinition<State extends object> {
  /** Its name in the store. */
  readonly name: string;
  /** Which key the session has, such as one for each room. */
  readonly per: SessionScope;
  /** Makes the state that a session begins with. */
  readonly initial: () => State;
  /** What checks a state that was kept; `undefined` takes it as it is. */
  readonly schema: ContentSchema<State> | undefined;
}

/** What {@linkcode defineSession} takes. */
export interface DefineSessionOptions<State extends object> {
  /** Its name in the store: another name is another session. 1 to 100 characters. */
  name: string;
  /** Which key the session has, such as one for each room. */
  per: SessionScope;
  /**
   * Makes the state that a session begins with: plain data, whatever structured clone can carry.
   */
  initial: () => State;
  /**
   * What checks a state that was kept, of any library with Standard Schema. What it returns
   * is what handlers get, so that it can bring a state that an older version of your program left
   * into the form of today.
   *
   * @default {undefined} A state is taken as it was kept.
   */
  schema?: ContentSchema<State>;
}

const OPTIONS: OptionNames<DefineSessionOptions<object>> = {
  name: true,
  per: true,
  initial: true,
  schema: true,
};

const SCOPES: readonly string[] = ["room", "user", "member", "thread"];

/** The longest name. */
const MAX_NAME = 100;

/**
 * Defines what handlers remember from one event to the next: `ctx.session` of handlers that are
 * added with it.
 *
 * A handler that is added with a session gets it as `ctx.session`, and may change it. What it has
 * made of it is committed when it has settled, together with the record that it has handled the
 * event: after a crash either both are there, or the handler gets the event once more with the
 * state as it was before. A handler that throws changes nothing. Events that share a session are
 * handled one after the other, in their order, whichever handlers they go to.
 *
 * @param options Its name, whose it is, and how it begins.
 * @returns The definition, to be given as option `session` where a handler is added.
 * @throws {ValueError} If the name is empty or too long.
 *
 * @example A bot that counts
 * ```ts
 * import { Client, defineSession } from "@greenroom/matrix";
 *
 * const client = new Client({ baseUrl: "https://matrix.example.org" });
 * const counter = defineSession({ name: "counter", per: "room", initial: () => ({ messages: 0 }) });
 * client.on("m.room.message", (event, ctx) => {
 *   ctx.session.messages++;
 *   console.log(`message ${ctx.session.messages} of ${event.room_id}`);
 * }, { session: counter });
 * ```
 */
export function defineSession<State extends object>(
  options: DefineSessionOptions<State>,
): SessionDefinition<State> {
  checkOptions(options, OPTIONS, "define a session");
  const { name, per, initial, schema } = options;
  if (typeof initial !== "function") {
    throw new ValueError("Cannot define a session: initial must be a function that makes its first state");
  }
  if (typeof per !== "function" && !SCOPES.includes(per)) {
    throw new ValueError(
      `Cannot define a session: per must be ${SCOPES.join(", ")} or a function, not ${per}`,
    );
  }
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) {
    throw new ValueError(`Cannot define a session: its name must have 1 to ${MAX_NAME} characters`);
  }
  const begin = () => {
    const state: unknown = initial();
    if (typeof state === "object" && state !== null && !(state instanceof Promise)) return state as State;
    throw new ValueError(
      `Cannot begin the session "${name}": its initial must return an object, and at once`,
    );
  };
  return Object.freeze({ name, per, initial: begin, schema });
}
