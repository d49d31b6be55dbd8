/**
 * Functions that get an update one after the other, and the types of what they are given.
 *
 * @module
 */

import { ValueError } from "../../mod.ts";
import { platform } from "../base/platform/mod.ts";
import type { MatrixEvent } from "../../types.ts";
import type { Command } from "./commands/commands.ts";
import { CALL, COMMAND, type Context, type ContextMedia, type Reaction } from "./context/context.ts";
import { ConversationEndedError, type EventOfQuery, isCutOff } from "./run/mod.ts";

/** Calls the middleware that comes next; resolves when that has ended. */
export type Next = () => Promise<void>;

/** A function that gets an update, and says whether the next one gets it too, by calling `next()`. */
export type Middleware<C extends Context = Context> = (context: C, next: Next) => unknown;

/** What handlers of a query are given. */
export type QueryContext<Q extends string> = Context<Extract<EventOfQuery<Q>, MatrixEvent>> & KnownMembers<Q>;

/** Kinds of messages that have a file. */
export type FileQuery = "image" | "file" | "audio" | "video" | "sticker";

/**
 * The members of a context that an event of the query has, and others, like any `m.reaction`, need not have.
 */
export type KnownMembers<Q extends string> = Q extends "reaction" ? { readonly reaction: Reaction }
  : Q extends FileQuery | `message:${FileQuery}` ? { readonly media: ContextMedia }
  : unknown;

/** What handlers of a command are given, with its arguments. */
export type CommandContext<Arguments = unknown> = Context<EventOfQuery<"message:text">, Arguments>;

/**
 * The context of a message that {@linkcode Composer.hears} has found: after regular expressions alone,
 * `match` is there.
 */
export type HeardContext<P> = P extends RegExp | readonly RegExp[]
  ? CommandContext & { match: RegExpExecArray }
  : CommandContext;

/**
 * A narrower context `N`, with what earlier functions have set on a context `C`. Without such, `N` itself:
 * that is what editors show.
 */
export type Narrowed<C extends Context, N extends Context> = OwnMembers<C> extends OwnMembers<Context> ? N
  : N & Pick<C, Exclude<OwnMembers<C>, OwnMembers<Context>>>;

/** The names of members, without the patterns of those that other libraries have. */
export type OwnMembers<T> = keyof {
  [Name in keyof T as Record<never, never> extends Record<Name, 1> ? never : Name]: 1;
};

/**
 * Calls functions one after the other, as far as each calls `next()`.
 *
 * @throws {ValueError} If one calls it twice.
 */
export function compose<C extends Context>(
  middleware: readonly Middleware<C>[],
): (context: C, next: Next) => Promise<void> {
  return (context, last) => {
    const c = platform.inScope(context);
    let called = -1;
    // No async function: it would cost a promise for each of them, and most return one anyway.
    const call = (index: number): Promise<void> => {
      if (index <= called) {
        const error = new ValueError("Cannot go on to the next middleware: next() was called twice");
        return Promise.reject(error);
      }
      called = index;
      const each = middleware[index];
      if (each === undefined) return last();
      try {
        return Promise.resolve(each(c, () => call(index + 1)) as Promise<void> | void);
      } catch (error) {
        return Promise.reject(error);
      }
    };
    return call(0);
  };
}

/** Returns the middleware of a command: others go on. */
export function whenCalled<C extends Context>(
  command: Command,
  middleware: readonly Middleware<C>[],
): Middleware<C> {
  const run = compose(middleware);
  return (c, next) => c[COMMAND] === command ? c[CALL](() => run(c, next)) : next();
}

/** Returns middleware whose errors go to a handler, but for the ends of a conversation and of the bot. */
export function guarded<C extends Context>(
  run: (context: C, next: Next) => Promise<void>,
  handler: (error: unknown, context: C, next: Next) => unknown,
): Middleware<C> {
  return async (c, next): Promise<unknown> => {
    let goesOn = false;
    try {
      await run(c, () => Promise.resolve(void (goesOn = true)));
    } catch (error) {
      if (error instanceof ConversationEndedError || isCutOff(error)) throw error;
      return await handler(error, c, next);
    }
    return goesOn ? await next() : undefined;
  };
}

/** Returns a test whether a text is, or matches, one of some patterns; it sets `c.match`. */
export function hearing(patterns: readonly (string | RegExp)[]): (c: Context) => boolean {
  return (c) =>
    patterns.some((each) => {
      if (typeof each === "string") return c.text === each;
      each.lastIndex = 0; // of one with the flag `g`
      return (c.match = each.exec(c.text)) !== null;
    });
}
