/**
 * What is kept of a run, its steps and what it waits for, and the errors of conversations.
 *
 * @module
 */

import { ActorStoppedError, ClientEndedError } from "../../../errors.ts";
import { MatrixError, UnknownTokenError } from "../../../mod.ts";
import * as matrix from "../../../mod.ts";
import type { EventID, MatrixEvent, RoomID, UserID } from "../../../types.ts";
import type { Query } from "./queries.ts";

/**
 * How a conversation ended without an answer: nobody answered in time, the user did not want to go
 * on, began it anew, or the bot is not in the room any more.
 */
export type ConversationEnding = "timeout" | "cancelled" | "replaced" | "left";

const WORDS: Readonly<Record<ConversationEnding, string>> = {
  timeout: "nobody answered in time",
  cancelled: "it was cancelled",
  replaced: "it was begun anew",
  left: "the bot is not in the room any more",
};

/**
 * A conversation can't go on.
 *
 * Mend: Do what the message says; mostly, ask at another place of the function.
 */
export class ConversationError extends MatrixError {
  /** What went wrong, for programs. */
  override readonly code: string = "CONVERSATION";
}

/**
 * A question got no answer. A function that does not catch it, or throws it again, ends the
 * conversation silently: it reaches neither `bot.catch()` nor an error boundary.
 *
 * A user who says `!cancel` gets one answer: what the function says when it catches this, or `Cancelled.`
 * if it says nothing.
 *
 * Mend: Catch it if the function has something to tidy up; `reason` says how it ended.
 *
 * @example
 * ```ts
 * import { Composer, ConversationEndedError } from "@greenroom/matrix/bot";
 *
 * const plugin = new Composer();
 * plugin.command("signup", async (c) => {
 *   try {
 *     const name = await c.ask("Your name?", { timeout: 60_000 });
 *     await c.reply(`Welcome, ${name}`);
 *   } catch (error) {
 *     if (error instanceof ConversationEndedError && error.reason === "timeout") await c.send("Maybe later.");
 *     else throw error;
 *   }
 * });
 * ```
 */
export class ConversationEndedError extends ConversationError {
  /** What went wrong, for programs. */
  override readonly code: string = "CONVERSATION_ENDED";
  /** Why the conversation has ended. */
  readonly reason: ConversationEnding;

  /**
   * Says how a conversation ended.
   *
   * @param reason How it ended.
   */
  constructor(reason: ConversationEnding) {
    super(`The conversation has ended: ${WORDS[reason]}`);
    this.reason = reason;
  }
}

/** Returns whether a failure comes from the end of the client: then what was begun is begun again. */
export function isCutOff(error: unknown): boolean {
  return error instanceof ClientEndedError || error instanceof ActorStoppedError ||
    error instanceof UnknownTokenError;
}

/** What a step of a run came to: plain data. */
export interface Step {
  /** What it was, to notice when a replay goes another way. */
  readonly kind: string;
  /** What it returned. */
  value?: unknown;
  /** What it threw. */
  error?: KeptError;
  /** How the conversation was ended in it. */
  end?: ConversationEnding;
}

/** Steps that somebody sees. */
const SAYING = new Set(["send", "edit", "react", "image", "file", "sticker", "poll", "end poll", "stream"]);

/** Returns whether something was said in one of some steps. */
export function hasSaid(steps: readonly Step[]): boolean {
  return steps.some(({ kind }) => SAYING.has(kind));
}

/** What a run waits for. */
export interface Wait {
  /** The place of the step among the steps. */
  readonly at: number;
  readonly room: RoomID;
  /** Which events, by their queries. */
  readonly queries: readonly Query[];
  /** Whose; undefined: anybody's. */
  readonly from: UserID | undefined;
  /** The thread's first event; empty: outside of threads; undefined: anywhere in the room. */
  readonly thread: EventID | "" | undefined;
  /** Only reactions to this event; text is not concerned. */
  readonly reactionTo: EventID | undefined;
  /** Until when, in milliseconds since the epoch. */
  readonly until: number;
}

/** The state of a room that functions read without waiting, as it was when the function was called. */
export interface Scene {
  /** The name of the room; undefined: it has none. */
  name: string | undefined;
  /** What the room is about; undefined: it does not say. */
  topic: string | undefined;
  isEncrypted: boolean;
  /** What the user is called in the room; undefined: by the ID alone. */
  readonly displayName: string | undefined;
}

/** An event with what is known of its encryption, and of where it was. */
export interface KeptEvent {
  /** Its type, as `Client.on()` has it. */
  readonly type: string;
  readonly event: MatrixEvent;
  /** What `encryptionOf()` said of it. */
  readonly encryption: unknown;
  /**
   * Of an edit in a thread: the first event of that, which the edit does not name.
   * Default: what the event says.
   */
  readonly thread?: EventID;
  /** What a function that gets it reads of the room, before it changes that. Default: not read yet. */
  readonly scene?: Scene;
}

/** An answer that may be the one. */
export interface Answer {
  /** The step that waits. */
  readonly at: number;
  readonly kept: KeptEvent;
}

/** How a run ended: done, waiting for something, or the answer was not one. */
export type RunEnd = { readonly kind: "done" } | { readonly kind: "waits"; readonly wait: Wait } | {
  readonly kind: "refused";
};

/**
 * Returns the result of a step, or throws its error.
 *
 * @param step The step of the earlier run.
 * @param kind What it is now.
 * @param at Its place.
 * @returns A copy of what it returned.
 * @throws What it threw; {@link ConversationError} if the functions go another way now.
 */
export function replayed(step: Step | undefined, kind: string, at: number): unknown {
  if (step === undefined || step.kind !== kind) {
    throw new ConversationError(
      `Cannot go on with a conversation: step ${at + 1} was "${step?.kind}", and is "${kind}" now; ` +
        "what comes between two questions must not depend on time, chance or other data, unless c.step() reads it",
    );
  }
  if (step.end !== undefined) throw new ConversationEndedError(step.end);
  if (step.error !== undefined) throw revivedError(step.error);
  return structuredClone(step.value);
}

/**
 * Checks that the functions of a conversation came as far as before.
 *
 * @throws {ConversationError} If they ended earlier.
 */
export function checkReplayed({ isReplaying }: { readonly isReplaying: boolean }): void {
  if (!isReplaying) return;
  throw new ConversationError(
    "Cannot go on with a conversation: no function did what was done in it before; keep its command, and what leads " +
      "to it, as long as somebody may answer",
  );
}

/** An error as plain data. */
interface KeptError {
  /** The name of its class. */
  readonly name: string;
  /** What it says. */
  readonly message: string;
  /** What else an error of Greenroom has: a code, a status. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Any class of errors. */
type ErrorClass = { readonly prototype: Error };

const KNOWN: readonly unknown[] = [
  ...Object.values(matrix),
  ...[ConversationError, ConversationEndedError, Error, EvalError, RangeError, ReferenceError, SyntaxError],
  ...[TypeError, URIError],
];
/** The classes of which an error comes back. */
const CLASSES: ReadonlyMap<string, ErrorClass> = new Map(
  KNOWN.filter(isErrorClass).map((each) => [each.name, each]),
);
/** How long a server's answer may be that a record keeps, in characters of JSON. */
const MAX_MEMBERS = 10_000;

/** Keeps an error. What is thrown that is none is kept as one. */
export function keptError(error: unknown): KeptError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  return error instanceof matrix.MatrixError
    ? { name, message, members: membersOf(error) }
    : { name, message };
}

/**
 * Makes the error that was kept: of the same class, if it is one of Greenroom's or JavaScript's; else
 * a {@link ConversationError} with its name.
 */
function revivedError({ name, message, members = {} }: KeptError): Error {
  const error = new ConversationError(message);
  Object.setPrototypeOf(error, (CLASSES.get(name) ?? ConversationError).prototype);
  for (const [key, value] of Object.entries({ ...structuredClone(members), name })) {
    Object.defineProperty(error, key, { value, configurable: true, enumerable: true, writable: true });
  }
  return error;
}

function membersOf(error: matrix.MatrixError): Record<string, unknown> {
  const { cause: _cause, name: _name, ...members } = error as matrix.MatrixError & Record<string, unknown>;
  try {
    const json = JSON.stringify(members);
    return json.length > MAX_MEMBERS ? { code: error.code } : JSON.parse(json);
  } catch {
    return { code: error.code }; // of a class of the application's, with what is no plain data
  }
}

function isErrorClass(value: unknown): value is ErrorClass & { readonly name: string } {
  return typeof value === "function" && (value === Error || value.prototype instanceof Error);
}
