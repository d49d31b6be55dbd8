/**
 * Trees of middleware, of which a bot is made.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import { ValueError } from "../../mod.ts";
import { checkFunction } from "../errors/known_names.ts";
import {
  type Args,
  type Command,
  type CommandOptions,
  parsePattern,
  type Schemas,
  type TextCommandOptions,
} from "./commands/commands.ts";
import type { Context } from "./context/context.ts";
import {
  type CommandContext,
  compose,
  guarded,
  type HeardContext,
  hearing,
  type Middleware,
  type Narrowed,
  type Next,
  type QueryContext,
  whenCalled,
} from "./middleware.ts";
import { checkQueries, fullQuery, type ListenedQuery, type Query, typesOf } from "./run/mod.ts";

/** Middleware, or a composer of functions that need no more of a context than `C` has. */
export type MiddlewareLike<C extends Context = Context> =
  | Middleware<C>
  | Pick<Composer<C>, "middleware" | "types" | "commands">;

/** Whether functions of a tree may get edits. */
export const HEARS_EDITS: unique symbol = Symbol("hearsEdits");

/** A tree in a tree. */
interface Branch {
  readonly tree: Pick<Composer, "types" | "commands" | typeof HEARS_EDITS>;
  /** Whether edits come to it. */
  readonly getsEdits: boolean;
}

/** The queries that an edit may fit. */
const EDITS: readonly Query[] = ["edit", "edit:text", "m.room.message"];

/**
 * A tree of middleware: what a bot is made of. A plugin is a composer that a bot uses.
 *
 * An update goes through the functions in the order in which they were added, as far as each calls
 * `next()`.
 *
 * @example
 * ```ts
 * import { Composer } from "@greenroom/matrix/bot";
 *
 * const greetings = new Composer();
 * greetings.hears(/^hello/i, (c) => c.reply("Hello!"));
 * greetings.on("member:join", (c) => c.send("Welcome!"));
 * // bot.use(greetings);
 * ```
 *
 * @example What a plugin adds to contexts, by its type
 * ```ts
 * import { Composer, type Context } from "@greenroom/matrix/bot";
 *
 * type Timed = Context & { began: number };
 *
 * const plugin = new Composer<Timed>(); // and `new Bot<Timed>(…)`
 * plugin.use(async (c, next) => {
 *   c.began = Date.now();
 *   await next();
 * });
 * plugin.command("ping", (c) => c.reply(`pong after ${Date.now() - c.began} ms`));
 * ```
 *
 * @typeParam C What functions are called with: {@linkcode Context},
 * and what earlier functions have set on it. Answers of `c.ask()` and contexts of reminders are plain ones.
 */
export class Composer<C extends Context = Context> {
  readonly #middleware: Middleware<C>[] = [];
  readonly #types = new Set<string>();
  readonly #commands: Command[] = [];
  readonly #children: Branch[] = [];
  /** Whether functions get all that comes here. */
  #hearsAll = false;

  /**
   * Adds middleware for every update: every message, and every event of a type that some function of
   * the bot listens to.
   *
   * @param middleware The functions, or composers with functions.
   * @returns This composer.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.use(async (c, next) => {
   *   c.log.debug("Handled", { type: c.event.type });
   *   await next(); // without it, no later function gets the update
   * });
   * ```
   */
  use(...middleware: readonly MiddlewareLike<C>[]): this {
    for (const each of middleware) this.#add(each);
    this.#types.add("m.room.message");
    return this;
  }

  /**
   * Adds middleware for what a query names: see {@linkcode Queries}.
   *
   * `"message"` and `"text"` leave out notices (`m.notice`), which bots send:
   * else two bots would answer one another. `"notice"` hears them.
   *
   * @param query The query, or several; kinds of messages and members also by their names: `image`, `join`.
   * @param middleware The functions, or trees of them. They get the event with its type.
   * @returns A tree that gets the same: what is added to it comes after the middleware.
   * @throws {ValueError} If there is no such query.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.on("message:image", (c) => c.reply(`${c.event.content.info?.w ?? "?"} pixels wide`));
   * plugin.on("reaction", (c) => console.log(c.event.content["m.relates_to"].key));
   * ```
   */
  on<const Q extends Query | (string & Record<never, never>)>(
    query: Q & NoInfer<ListenedQuery<Q>> | readonly (Q & NoInfer<ListenedQuery<Q>>)[],
    ...middleware: readonly MiddlewareLike<Narrowed<C, QueryContext<Q>>>[]
  ): Composer<Narrowed<C, QueryContext<Q>>> {
    let queries = [query].flat() as readonly Query[];
    checkQueries(queries, "listen to");
    queries = queries.map(fullQuery);
    for (const type of queries.flatMap(typesOf)) this.#types.add(type);
    const getsEdits = queries.some((each) => EDITS.includes(each));
    return this.#branch((c) => queries.some((each) => c.is(each)), middleware, getsEdits);
  }

  /**
   * Adds middleware for messages whose text is, or matches, something.
   *
   * @param pattern The text, or a regular expression; several: any of them.
   * @param middleware The functions, or trees of them. `c.match` is what a regular expression has matched,
   *   with its groups; a text leaves it null.
   * @returns A tree that gets the same.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * new Composer().hears(/^roll (\d+)$/, (c) => c.reply(`A die with ${c.match[1]} sides`));
   * ```
   */
  hears<const P extends string | RegExp | readonly (string | RegExp)[]>(
    pattern: P,
    ...middleware: readonly MiddlewareLike<Narrowed<C, HeardContext<P>>>[]
  ): Composer<Narrowed<C, HeardContext<P>>> {
    const patterns = [pattern].flat() as readonly (string | RegExp)[];
    if (!patterns.every((each) => typeof each === "string" || each instanceof RegExp)) {
      throw new ValueError("Cannot listen to a text: a pattern must be a text, or a regular expression");
    }
    const heard = this.on("message:text").filter(hearing(patterns)) as unknown as Composer<
      Narrowed<C, HeardContext<P>>
    >;
    for (const each of middleware) heard.#add(each);
    return heard;
  }

  /**
   * Adds middleware for reactions with a key, an emoji mostly. They come in clear from nearly all clients, in
   * encrypted rooms too: `c.encryption` is undefined then, and the homeserver may have written them.
   *
   * @param key The key, or several: any of them. Variation selectors, which some clients add to an
   *   emoji, are ignored.
   * @param middleware The functions, or trees of them. `c.event` says what was reacted to.
   * @returns A tree that gets the same.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.reaction("📌", (c) => c.send(`Pinned ${c.permalink(c.event.content["m.relates_to"].event_id)}`));
   * ```
   */
  reaction(
    key: string | readonly string[],
    ...middleware: readonly MiddlewareLike<Narrowed<C, QueryContext<"reaction">>>[]
  ): Composer<Narrowed<C, QueryContext<"reaction">>> {
    const keys = [key].flat().map((each) => bareKey(each));
    if (key === undefined) throw new ValueError("Cannot listen to reactions: the key is missing");
    return this.on("reaction").filter(
      (c) => keys.includes(bareKey(c.event.content["m.relates_to"]?.key)),
      ...middleware,
    );
  }

  /**
   * Adds a command: a message that begins with the prefix and its name, or that mentions the bot
   * first; in a direct chat, one that begins with the name alone.
   *
   * @param pattern Its name and arguments: `"roll"`, `"add <first> <second>"`, `"remind <when>
   *   <text...>"`, `"todo add <text...>"`. A name has up to three words; a message with only the first of
   *   them is answered with the commands that begin so. `<…>` has to be there, `[…]` need not be; `...` takes
   *   the rest of the text, and `<n:number>` has a type ({@linkcode ArgumentTypes}). An argument with spaces
   *   is written in quotation marks. Or a list: the first is that, the others are names that it has, too.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or another command has its name or an alias.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.command("ping", (c) => c.reply("pong"));
   * plugin.command("say <whom> <text...>", "Says something to somebody", (c) =>
   *   c.send(`${c.args.whom}: ${c.args.text}`));
   * ```
   */
  command<const P extends string>(
    pattern: P | readonly [P, ...string[]],
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<P>>>>[]
  ): this;
  /**
   * Adds a command with options, whose arguments stand in one of these.
   *
   * @param name Its name.
   * @param options Its arguments, as they may stand in a pattern, and what it does, who may use it.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the arguments can't be read, or another command has its name or an alias.
   */
  command<const P extends string, const A extends string>(
    name: P | readonly [P, ...string[]],
    options: TextCommandOptions<A>,
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<`${P} ${A}`>>>>[]
  ): this;
  /**
   * Adds a command with options, such as its description for `!help` and schemas of its arguments.
   *
   * @param pattern Its name and arguments.
   * @param options What it does, schemas of its arguments, who may use it; or its description alone.
   * @param middleware The functions; `c.args` has the arguments.
   * @returns This.
   * @throws {ValueError} If the pattern can't be read, or another command has its name or an alias.
   */
  command<const P extends string, const S extends Schemas<P>>(
    pattern: P | readonly [P, ...string[]],
    options: CommandOptions<P, S> | string,
    ...middleware: readonly Middleware<Narrowed<C, CommandContext<Args<P, S>>>>[]
  ): this;
  command(
    given: string | readonly [string, ...string[]],
    first?: CommandOptions<string> | TextCommandOptions<string> | string | Middleware<never>,
    ...rest: readonly Middleware<never>[]
  ): this {
    const described = typeof first === "string" ? { description: first } : first;
    const [options, middleware] = typeof described === "object"
      ? [described, rest]
      : [{}, [described, ...rest]];
    const [pattern, ...names] = [given].flat() as [string, ...string[]];
    if (![pattern, ...names].every((each) => typeof each === "string")) {
      throw new ValueError("Cannot add a command: its name must be a text, or a list of names");
    }
    const aliases = [...names, ...options.aliases ?? []];
    const command: Command = parsePattern(pattern, aliases.length === 0 ? options : { ...options, aliases });
    for (const each of middleware.length === 0 ? [undefined] : middleware) {
      checkFunction(each, `add the command "${command.name}"`);
    }
    const taken = command.names.find((name) => this.#commands.some(({ names }) => names.includes(name)));
    if (taken !== undefined) {
      throw new ValueError(
        `Cannot add the command "${command.name}": another has the name "${taken}"; only one would be called`,
      );
    }
    this.#commands.push(command);
    this.#types.add("m.room.message");
    this.#middleware.push(whenCalled(command, middleware as readonly Middleware<C>[]));
    return this;
  }

  /**
   * Adds middleware for updates that pass a test.
   *
   * @param test Returns whether an update passes.
   * @param middleware The functions, or composers with functions.
   * @returns A composer: functions added to it get the same updates.
   * @throws {ValueError} If the test is no function.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * const staff = plugin.filter((c) => c.sender.endsWith(":example.org"));
   * staff.command("deploy", (c) => c.reply("On it."));
   * ```
   */
  filter(
    test: (context: C) => boolean | Promise<boolean>,
    ...middleware: readonly MiddlewareLike<C>[]
  ): Composer<C> {
    checkFunction(test, "filter updates", "its test");
    return this.#branch(test as (context: Context) => boolean | Promise<boolean>, middleware);
  }

  /**
   * Adds middleware whose errors go to a handler, and to none outside. The end of a conversation or
   * of the bot is not such an error. A promise that a function does not await is outside of the
   * boundary: its error goes to `bot.catch()`. What the user of a command hears of it, the handler says.
   *
   * @param handler Called with what was thrown; `next()` goes on with what comes after the boundary.
   * @param middleware The functions, or composers with functions.
   * @returns A composer: functions added to it are inside of the boundary as well.
   * @throws {ValueError} If the handler is no function.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * const weather = plugin.errorBoundary((_error, c) => c.reply("The weather service is down."));
   * weather.command("weather", async (c) => {
   *   const response = await fetch("https://weather.example/today", { signal: c.signal });
   *   await c.reply(await response.text(), { format: "plain" });
   * });
   * ```
   */
  errorBoundary(
    handler: (error: unknown, context: C, next: Next) => unknown,
    ...middleware: readonly MiddlewareLike<C>[]
  ): Composer<C> {
    checkFunction(handler, "add an error boundary", "its handler");
    const inside = new Composer<C>().use(...middleware);
    this.#children.push({ tree: inside, getsEdits: true });
    this.#middleware.push(guarded(inside.middleware(), handler));
    return inside;
  }

  /**
   * Returns one function that runs all middleware of this composer, for code that runs middleware
   * itself.
   *
   * @example
   * ```ts
   * import { Composer } from "@greenroom/matrix/bot";
   *
   * const plugin = new Composer();
   * plugin.hears("hello", (c) => c.reply("Hello!"));
   * const run = plugin.middleware();
   * const night = new Composer();
   * night.use((c, next) => new Date().getHours() < 6 ? run(c, next) : next());
   * ```
   */
  middleware(): (context: C, next: Next) => Promise<void> {
    return compose(this.#middleware);
  }

  /** The types of events that its middleware listens to, as `Client.on()` takes them. */
  get types(): ReadonlySet<string> {
    return new Set([...this.#types, ...this.#children.flatMap(({ tree }) => [...tree.types])]);
  }

  /** The commands of this composer and of those in it, in the order in which they were added. */
  get commands(): readonly Command[] {
    return [...this.#commands, ...this.#children.flatMap(({ tree }) => tree.commands)];
  }

  /** @internal Whether functions in it may get edits. */
  get [HEARS_EDITS](): boolean {
    return this.#hearsAll || this.#children.some(({ tree, getsEdits }) => getsEdits && tree[HEARS_EDITS]);
  }

  #add(each: MiddlewareLike<C>): void {
    if (typeof each === "function") {
      this.#hearsAll = true;
      return void this.#middleware.push(each);
    }
    if (!(each instanceof Composer)) {
      throw new ValueError(`Cannot use ${typeof each} as middleware: it must be a function or a Composer`);
    }
    if (each.#has(this)) {
      throw new ValueError("Cannot use a composer in itself: no function would ever be called");
    }
    this.#children.push({ tree: each, getsEdits: true });
    this.#middleware.push(each.middleware());
  }

  #has(other: unknown): boolean {
    return this === other || this.#children.some(({ tree }) => (tree as Composer).#has(other));
  }

  #branch<Narrow extends Context>(
    test: (context: Context) => boolean | Promise<boolean>,
    middleware: readonly MiddlewareLike<Narrow>[],
    getsEdits: boolean = true,
  ): Composer<Narrow> {
    const inside = new Composer<Narrow>();
    for (const each of middleware) inside.#add(each);
    this.#children.push({ tree: inside, getsEdits });
    const run = inside.middleware();
    this.#middleware.push(async (c, next) => {
      if (await test(c)) await run(c as Context as Narrow, next);
      else await next();
    });
    return inside;
  }
}

/** A reaction's key without the selectors of how an emoji is shown. */
function bareKey(key: unknown): string {
  return String(key).replaceAll(/[\uFE0E\uFE0F]/g, "");
}
