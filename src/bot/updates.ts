/**
 * From the client's events to a bot's functions: who is heard, in which order, what is an answer and
 * what a command.
 * Over 300 lines because it follows an event all the way to a function.
 *
 * @module
 */

import type { HandlerContext } from "../../mod.ts";
import { Context, type Found, SAY_FAILED, WITH_SESSION } from "./context/context.ts";
import { type EventType, type MatrixEvent, type RoomID, SyncStream } from "../../types.ts";
import type { Kit } from "./kit.ts";
import { platform } from "../base/platform/mod.ts";
import { Turns } from "../base/runs.ts";
import { REGISTERED } from "../base/tracing.ts";
import { answerBuiltIn, CANCEL, CommandFinder } from "./command_finder.ts";
import { hiddenNames } from "./commands/commands.ts";
import { type Composer, HEARS_EDITS } from "./composer.ts";
import type { Next } from "./middleware.ts";
import { ALWAYS } from "./conversations.ts";
import {
  ConversationEndedError,
  editedEvent,
  hasSaid,
  isCutOff,
  type KeptEvent,
  keptOf,
  keptUpdate,
  placeOf,
  queueOf,
  Run,
  runDetails,
  RunTime,
  threadOf,
  type Update,
  updateOf,
  withScene,
} from "./run/mod.ts";
import { type Invitation, RateLimiter } from "./policy/policy.ts";
import type { Accepted, TimerOf } from "./timers/timers.ts";

/** Gets what functions throw. */
type Report = (error: unknown, context: Context) => unknown;

/** What functions were called with. */
interface Called {
  readonly run: Run;
  readonly update: Update;
  readonly found: Found | undefined;
}

/** Events of the own user by which it is not in a room any more, or not invited. */
const LEAVING = new Set(["LEAVE", "KICK", "BAN", "DISINVITE", "REJECT_INVITE"]);
const NOTHING = (): Promise<void> => Promise.resolve();

const RATE_LIMIT = { count: 20, window: 10_000 };

/** Hands events to a bot's functions. */
export class Updates {
  /** Gets what functions throw; undefined: it is reported. */
  caught: Report | undefined;
  readonly #kit: Kit;
  readonly #composer: Composer<Context>;
  readonly #finder: CommandFinder;
  readonly #limiter: RateLimiter | undefined;
  /** The bot's functions. */
  readonly #middleware: (context: Context, next: Next) => Promise<unknown>;
  /** The types of event that the bot listens to by now. */
  readonly #heard = new Set<string>();
  /** What the log has said of commands: that they are hidden, unusable, not reached, or ended silently. */
  readonly #told = new Set<string>();
  /** By what is done for a user in a room. */
  readonly #turns = new Turns<string>();

  /**
   * @param kit Of the bot.
   * @param composer The bot's functions, and its commands.
   */
  constructor(kit: Kit, composer: Composer<Context>) {
    const { rateLimit = RATE_LIMIT } = kit.behaviour;
    this.#kit = kit;
    this.#composer = composer;
    this.#finder = new CommandFinder(kit, composer);
    this.#limiter = rateLimit === false ? undefined : new RateLimiter(rateLimit);
    const functions = composer.middleware();
    this.#middleware = kit.session === undefined
      ? functions
      : (c, next) => c[WITH_SESSION](() => functions(c, next));
    kit.conversations.functions = this;
    kit.timers.handle("wait", (timer, context) => this.#end(timer, context));
    kit.timers.handle("join", (timer, context) => this.#acceptAgain(timer.invitation, context));
  }

  /** Listens to what the bot's functions need, and says which commands will never be called. */
  listen(): void {
    this.#finder.refresh();
    const { commands, types } = this.#composer;
    const { client } = this.#kit;
    const warn = (names: Iterable<string>, message: string): void => {
      for (const name of names) {
        if (!this.#told.has(name)) client.log.warn(message, { name });
        this.#told.add(name);
      }
    };
    warn(hiddenNames(commands), "A command is hidden by another of the same name, and is never called");
    const encrypted = client.crypto === undefined ? commands.filter((each) => each.isEncryptedOnly) : [];
    warn(
      encrypted.map(({ name }) => name),
      "A command is never called, since it is taken only from encrypted messages, and the bot has no encryption; " +
        "give it encryption, and a store that lasts",
    );
    const isFirst = this.#heard.size === 0;
    this.listenTo([...ALWAYS, "INVITE", ...LEAVING, ...types]);
    if (!isFirst) return;
    client.addEventHandler(
      "m.room.encryption",
      ({ room_id: room }, context) => this.#kit.later.encrypted(room, context),
      { name: "bot-later" },
    );
  }

  /** Listens to types of event. */
  listenTo(types: Iterable<string>): void {
    for (const type of types) {
      if (this.#heard.has(type)) continue;
      this.#heard.add(type);
      this.#kit.client.addEventHandler(
        type as EventType & "m.room.message",
        (event, context) => this.#handle(type, event as MatrixEvent, context),
        { name: "bot" },
      );
    }
  }

  /** Handles an event of the client's. */
  #handle(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { client, access } = this.#kit;
    const limiter = this.#limiter;
    const { room_id: room, sender, state_key: about, source, origin_server_ts: sentAt } = event as
      & MatrixEvent
      & { room_id: RoomID; sender: string; state_key?: string; origin_server_ts?: unknown };
    const { mxid } = client;
    if (about === mxid && LEAVING.has(type)) return this.#left(room, context);
    if (type === "INVITE" && about === mxid) return this.#invited(event as Invitation, context);
    if (sender === mxid || (source & SyncStream.TIMELINE) === 0) return NOTHING();
    if (!access.hears(sender, room) || !access.hearsAsSent(type, event)) return NOTHING();
    // Users are limited in what they say, not in what becomes of them.
    if (limiter !== undefined && about === undefined) {
      const now = client.api.clock.now();
      if (!limiter.take(sender, sentAt === undefined ? now : Number(sentAt), now)) {
        return this.#tellLimit(type, event, context);
      }
    }
    return this.#update(type, event, context);
  }

  async #left(room: RoomID, context: HandlerContext): Promise<void> {
    const { timers, conversations, invitations } = this.#kit;
    await Promise.all([invitations.left(room), conversations.leave(room, context)]);
    timers.wake();
  }

  /** Calls the bot's functions again with what a run began with. */
  async dispatch(run: Run, start: KeptEvent): Promise<void> {
    const update = await withScene(this.#kit.client, keptUpdate(start));
    await this.#call(run, update, await this.#finder.find(update, run));
  }

  #call(run: Run, update: Update, found: Found | undefined): Promise<unknown> {
    const { access, behaviour, client, prefix } = this.#kit;
    run.encryptedOnly = behaviour.encryptedOnly === true || found?.command.isEncryptedOnly === true;
    const c = new Context(this.#kit, run, update, found);
    const command = found?.command.name;
    const details = run.time.what = runDetails(update, command);
    run.watch({ command }, {
      late: (message, step) => client.log.warn(message, { step, ...details }),
      unawaited: (error) => this.#failedUnawaited(error, { run, update, found }),
    });
    if (found === undefined) return this.#middleware(c, NOTHING);
    if (found.command.isBuiltIn !== true) {
      return this.#middleware(c, NOTHING).then(
        () => this.#noteReached(found),
        (error) => this.#commandFailed(error, c, { run, update, found }),
      );
    }
    const { builtIns } = this.#finder;
    return answerBuiltIn(c, found, { access, prefix, commands: this.#composer.commands, builtIns });
  }

  /** Tells the user that a command failed, where no function caught that, or leaves it to `bot.catch()`. */
  async #commandFailed(error: unknown, c: Context, called: Called): Promise<never> {
    const { run, run: { time }, found } = called;
    if (found?.hasFailed === true && !isCutOff(error) && !(error instanceof ConversationEndedError)) {
      run.endReplay();
      if (this.caught === undefined) await time.tellFailure(() => c[SAY_FAILED]());
      else this.#leaveToSay(called);
    }
    if (found !== undefined && error instanceof ConversationEndedError && error.reason === "timeout") {
      this.#warnOnce(
        found.command.name,
        "Nobody answered in time, and the command has ended there without a word; to say one, catch the " +
          "ConversationEndedError of c.ask() or c.wait()",
      );
    }
    throw error;
  }

  /** Has the bot tell the user that a command has failed, if nobody else says anything. */
  #leaveToSay({ run: failed, update, found }: Called): void {
    const { context, time } = failed;
    time.sayFailed = () => {
      const run = new Run({ context, time });
      run.left = failed.left;
      return new Context(this.#kit, run, update, found)[SAY_FAILED]();
    };
  }

  /** Warns, once a command, where a function in front of it keeps messages from it. */
  #noteReached({ command: { name }, isReached }: Found): void {
    if (isReached === true) return;
    this.#warnOnce(
      name,
      "A command was not called: a function that was added before it took the message, and did not call next(); " +
        "add commands first, or have the function call next()",
    );
  }

  #warnOnce(command: string, message: string): void {
    const key = `${message} ${command}`;
    if (!this.#told.has(key)) this.#kit.client.log.warn(message, { command });
    this.#told.add(key);
  }

  /** Handles an event after those that its sender has sent before into the room. */
  async #update(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { room_id: room, sender } = event as MatrixEvent & { room_id: RoomID; sender: string };
    const { conversations: { waits }, patience, signal } = this.#kit;
    const queue = queueOf(room, sender);
    const run = new Run({ context, time: new RunTime(signal), queue });
    waits.hear(run);
    try {
      await this.#turns.take(() => {
        const work = REGISTERED in globalThis
          ? this.#observed(type, event, run)
          : this.#run(type, event, run);
        return patience.until(work, run.time);
      }, { of: queue });
    } finally {
      waits.forget(run);
    }
  }

  /** Does the same as a span of OpenTelemetry, whose API is loaded only then. */
  async #observed(type: string, event: MatrixEvent, run: Run): Promise<void> {
    const { handled } = await import("../base/telemetry.ts");
    const { clock } = this.#kit.client.api;
    await handled({ by: "bot", type, data: event, clock }, () => this.#run(type, event, run));
  }

  async #run(type: string, event: MatrixEvent, run: Run): Promise<void> {
    const { context, time } = run;
    const read = updateOf(type, event);
    const isEdit = read.edits !== undefined || read.queries.has("edit");
    let update = isEdit ? await this.#heardEdit(read, context) : read;
    if (update === undefined) return;
    const finding = this.#finder.find(update, run);
    const found = finding instanceof Promise ? await finding : finding;
    try {
      const isTaken = found === undefined
        ? await this.#answers(update, run)
        : found.command === CANCEL && await this.#cancels(update, run);
      if (isTaken) return;
      const { client, conversations, once } = this.#kit;
      const scene = once.sceneOf(run);
      const seen = update = await withScene(client, scene === undefined ? update : { ...update, scene });
      const begun = { start: keptOf(seen), owner: seen.sender, command: found?.command.name ?? "" };
      await conversations.go(run, begun, () => this.#call(run, seen, found));
    } catch (error) {
      const report = this.caught;
      // What was cut off is begun again; what took too long is reported by who waited for it.
      if (report === undefined || isCutOff(error) || time.isOver) throw error;
      await this.#report(error, { run, update, found }, report);
    }
  }

  /**
   * Has `bot.catch()` handle a failure, and waits for what it begins.
   * If it says nothing, the bot tells the user that the command has failed.
   */
  async #report(
    error: unknown,
    { run: { context, time }, update, found }: Called,
    report: Report,
  ): Promise<void> {
    const run = new Run({ context, time });
    try {
      await report(error, platform.inScope(new Context(this.#kit, run, update, found)));
      await run.begun.settled();
    } finally {
      if (!hasSaid(run.steps)) await time.tellFailure();
    }
  }

  /**
   * Sees to what failed when nobody awaited it, as to any failure; the run may have ended by then.
   *
   * @returns Whether it was seen to; else the client reports it.
   */
  #failedUnawaited(error: unknown, called: Called): boolean {
    const { run: { time }, found } = called;
    const { log } = this.#kit.client;
    // As where it is awaited.
    if (isCutOff(error) || error instanceof ConversationEndedError || time.isOver) return true;
    const noted = (also: unknown) => log.error("Could not tell the user of a failure", { error: also });
    const report = this.caught;
    if (found !== undefined) {
      this.#leaveToSay(called);
      if (report === undefined) time.tellFailure().catch(noted);
    }
    if (report !== undefined) this.#report(error, called, report).catch(noted);
    return report !== undefined;
  }

  /** Returns whether a conversation waits for it. */
  #answers(update: Update, run: Run): Promise<boolean> {
    const place = placeOf(update);
    return this.#kit.conversations.answer(keptOf(update), { place, queries: update.queries, run });
  }

  /** Returns whether it ends a conversation. */
  async #cancels(update: Update, run: Run): Promise<boolean> {
    const hasSaid = await this.#kit.conversations.cancel(update, run);
    if (hasSaid === false) await new Context(this.#kit, run, update).reply("Cancelled.");
    return hasSaid !== undefined;
  }

  /**
   * An edit as functions get it: in the thread of what it edits, since an edit itself says no thread.
   *
   * @returns Undefined if nobody listens to it, or it edits another's: only then the server is not asked.
   */
  async #heardEdit(update: Update, context: HandlerContext): Promise<Update | undefined> {
    const { client, conversations } = this.#kit;
    const place = { ...placeOf(update), thread: undefined }; // any: it is not known yet
    const isWanted = this.#composer[HEARS_EDITS] ||
      await conversations.isAwaited({ place, queries: update.queries, context });
    const original = isWanted ? await editedEvent(client, update) : undefined;
    return original && { ...update, thread: threadOf(original.content) };
  }

  async #invited(event: Invitation, context: HandlerContext): Promise<void> {
    const { access, invitations } = this.#kit;
    const { room_id: room, sender } = event;
    if (!access.hears(sender, room)) return;
    if (access.leavesOut(sender)) return await this.#update("INVITE", event, context); // takes nobody's turn
    const turn = invitations.turnOf(sender);
    if (turn === undefined) return;
    const isWanted = await invitations.decided(room, access.accepts(event));
    if (isWanted === undefined) return;
    if (!isWanted || await invitations.accept(event, turn, context)) {
      await this.#update("INVITE", event, context);
    }
  }

  /** Ends a question in its time; the functions that asked may go on. */
  #end({ conversation, at, end: reason }: TimerOf<"wait">, context: HandlerContext): Promise<void> {
    const { conversations, patience } = this.#kit;
    const time = new RunTime(this.#kit.signal);
    const end = conversations.end(conversation, at, { reason, context, time }).catch(async (error) => {
      await time.tellFailure();
      throw error;
    });
    return patience.until(end, time);
  }

  /** Accepts an invitation that could not be accepted before. */
  async #acceptAgain(invitation: Accepted, context: HandlerContext): Promise<void> {
    const hasJoined = await this.#kit.invitations.again(invitation, context);
    if (hasJoined) await this.#update("INVITE", invitation.event, context);
  }

  /** Tells a user of the limit, if the bot was asked for something: it stays out of a chat of others. */
  async #tellLimit(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { client, msgtype } = this.#kit;
    const update = updateOf(type, event);
    const { room, sender } = update;
    const run = new Run({ context, time: new RunTime(this.#kit.signal) });
    if (await this.#finder.find(update, run) === undefined) return;
    if (this.#limiter?.tells(sender, client.api.clock.now()) !== true) return;
    const body = "That was too much at once: I take more from you in a while.";
    await client.sendMessage(room, { msgtype, body, "m.mentions": {} });
  }
}
