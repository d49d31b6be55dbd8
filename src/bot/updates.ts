/**
 * From the client's events to a bot's functions: who is heard, in which order, what is an answer and
 * what a command.
 *
 * @module
 */

import type { HandlerContext } from "../../mod.ts";
import type { MatrixEvent, MemberEvent, RoomID } from "../../types.ts";
import { SyncStream } from "../../types.ts";
import type { BotBehaviour } from "./bot_options.ts";
import type { BotParts } from "./bot_parts.ts";
import {
  argumentsOf,
  chosenOf,
  type Command,
  type Invocation,
  invocationOf,
  isPartOf,
} from "./commands/command.ts";
import { answerBuiltIn, CANCEL, HELP, isBuiltIn, UNKNOWN } from "./commands/built_in.ts";
import { readStructuredCommand } from "./commands/structured.ts";
import type { Middleware } from "./composer.ts";
import { Context, type Found, keptUpdate, type Update, updateOf } from "./context/context.ts";
import { type Conversations, laneOf } from "./conversations/conversations.ts";
import type { EventPlace } from "./conversations/waits.ts";
import { isCutOff } from "./conversations/errors.ts";
import { isOwnEdit } from "./policy/edits.ts";
import type { Inviters } from "./policy/inviters.ts";
import type { RateLimiter } from "./policy/rate_limit.ts";
import { queriesOf } from "./queries.ts";
import { type KeptEvent, Run } from "./run.ts";
import { RunTime } from "./run_time.ts";
import { observed } from "./running/telemetry.ts";
import { withoutName } from "./text/mentions_user.ts";

/** What updates need beside the parts that all share. */
export interface UpdatesOptions {
  readonly parts: BotParts;
  readonly behaviour: BotBehaviour;
  readonly conversations: Conversations;
  readonly inviters: Inviters;
  readonly limiter: RateLimiter | undefined;
  /** The bot's functions, and its commands. */
  readonly composer: {
    readonly middleware: () => Middleware;
    readonly commands: readonly Command[];
    readonly hearsEdits: boolean;
  };
  /** Gets what functions throw; undefined: it is reported. */
  readonly failed: () => ((error: unknown, context: Context) => unknown) | undefined;
  /** Ends everything. */
  readonly signal: () => AbortSignal;
}

/** Events of the own user by which it is not in a room any more. */
const LEAVING = new Set(["LEAVE", "KICK", "BAN"]);
const NOTHING = (): Promise<void> => Promise.resolve();

/** Hands events to a bot's functions. */
export class Updates {
  readonly #options: UpdatesOptions;
  /** What is known of what new runs begin with. */
  readonly #known = new WeakMap<Run, { readonly update: Update; readonly found: Found | undefined }>();
  /** All commands; undefined: they have to be put together. */
  #commands: readonly Command[] | undefined;
  /** What is being done for a user in a room. */
  readonly #lanes = new Map<string, Promise<void>>();

  /** @param options What it works with. */
  constructor(options: UpdatesOptions) {
    this.#options = options;
  }

  /** Types of event that it needs, whatever functions the bot has. */
  static readonly types: readonly string[] = ["m.room.message", "m.reaction", "INVITE", ...LEAVING];

  /** Functions may have been added. */
  refresh(): void {
    this.#commands = undefined;
  }

  /** Handles an event of the client's. */
  async handle(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { parts: { client, access }, conversations, inviters } = this.#options;
    const { room_id: room, sender, state_key: about, source } = event as MatrixEvent & {
      room_id: RoomID;
      sender: string;
      state_key?: string;
    };
    const { mxid } = client;
    if (LEAVING.has(type) && about === mxid) {
      await conversations.leave(room, context);
      context.updateSession(...inviters.forget(room));
      await context.settle();
      this.#options.parts.timers.wake();
      return;
    }
    if (type === "INVITE" && (about === mxid || mxid === "")) {
      return await this.#invited(event as MemberEvent, context);
    }
    if (sender === mxid || (source & SyncStream.TIMELINE) === 0) return;
    if (!access.hears(sender) || !access.hearsIn(room)) return;
    if (about === undefined) { // users are limited in what they say, not in what becomes of them
      const isTaken = this.#options.limiter?.take(sender, client.api.clock.now()) ?? true;
      if (!isTaken) return await this.#tellLimit(type, event, context);
    }
    await this.#inOrder(laneOf(room, sender), () => this.#update(type, event, context));
  }

  /** Calls the bot's functions with what a run began with. */
  async dispatch(run: Run, start: KeptEvent): Promise<void> {
    const known = this.#known.get(run);
    const update = known?.update ?? keptUpdate(start);
    const found = known === undefined ? await this.#find(update, run) : known.found;
    const { parts, composer } = this.#options;
    const c = new Context(parts, run, update, found);
    if (found === undefined || !isBuiltIn(found.command)) {
      return void await composer.middleware()(c, NOTHING);
    }
    const { prefix } = parts.options;
    await answerBuiltIn(c, found, { prefix, commands: composer.commands, builtIns: this.#builtIns });
  }

  /** Does things of one kind one after the other. */
  async #inOrder(lane: string, work: () => Promise<void>): Promise<void> {
    const before = this.#lanes.get(lane);
    const done = before === undefined ? work() : before.then(work);
    const settled = done.catch(() => {}); // who asked for it gets that
    this.#lanes.set(lane, settled);
    try {
      await done;
    } finally {
      if (this.#lanes.get(lane) === settled) this.#lanes.delete(lane);
    }
  }

  async #update(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { clock } = this.#options.parts.client.api;
    const time = new RunTime(this.#options.signal());
    const sentAt = "origin_server_ts" in event ? Number(event.origin_server_ts) : undefined;
    const work = observed(
      { type, sentAt },
      () => clock.now(),
      () => this.#run(type, event, { context, time }),
    );
    await this.#options.parts.patience.until(work, time);
  }

  async #run(
    type: string,
    event: MatrixEvent,
    { context, time }: { readonly context: HandlerContext; readonly time: RunTime },
  ): Promise<void> {
    const { conversations, failed } = this.#options;
    const update = updateOf(type, event, { queries: queriesOf(type, event) });
    if (update.queries.has("edit") && !await this.#isHeard(update, context)) return;
    const kept: KeptEvent = { type, event, encryption: update.encryption };
    const run = new Run({ context, time, lane: laneOf(update.room, update.sender) });
    const found = await this.#find(update, run);
    try {
      if (found === undefined) {
        const answering = { place: placeOf(update), queries: update.queries, context, time };
        if (await conversations.answer(kept, answering)) return;
      } else if (isBuiltIn(found.command) && found.command.name === "cancel") {
        if (await conversations.cancel(update, { context, time })) {
          await new Context(this.#options.parts, run, update).reply("Cancelled.");
          return;
        }
      }
      this.#known.set(run, { update, found });
      await conversations.begin(run, kept, { owner: update.sender, command: found?.command.name ?? "" });
    } catch (error) {
      const report = failed();
      // What was cut off is begun again; what took too long is reported by who waited for it.
      if (report === undefined || isCutOff(error) || time.isOver) throw error;
      await report(error, new Context(this.#options.parts, new Run({ context, time }), update, found));
    }
  }

  /** Whether somebody listens to an edit, and it is its sender's: only then the server is asked for that. */
  async #isHeard(update: Update, context: HandlerContext): Promise<boolean> {
    const { parts: { client }, composer, conversations } = this.#options;
    const isWanted = composer.hearsEdits ||
      await conversations.isAwaited({ place: placeOf(update), queries: update.queries, context });
    return isWanted && await isOwnEdit(client, { ...update, edits: update.read?.edits });
  }

  /** The command that a message is, if its sender may use it. */
  async #find(update: Update, run: Run): Promise<Found | undefined> {
    const { parts, composer, behaviour } = this.#options;
    if (!update.queries.has("message:text")) return undefined;
    const commands = this.#commands ??= [...composer.commands, ...this.#builtIns];
    if (commands.length === 0) return undefined;
    const structured = readStructuredCommand(update.event.content, parts.client.mxid || undefined);
    const invocation = structured === undefined
      ? await this.#invocation(update, commands)
      : { name: structured.command.toLowerCase(), rest: structured.arguments, isAddressed: true };
    if (invocation === undefined) return undefined;
    const { name, rest } = invocation;
    const chosen = typeof rest === "string" ? chosenOf(commands, { name, rest }) : undefined;
    const command = chosen?.command ?? commands.find(({ names }) => names.includes(name));
    if (command === undefined) {
      if (commands.some((each) => isPartOf(each, name))) {
        return { command: HELP, given: { args: { command: name } } };
      }
      if (behaviour.unknownCommands !== "answer" || !invocation.isAddressed) return undefined;
      return { command: UNKNOWN, given: { args: { name } } };
    }
    const { access } = command;
    const mayUse = run.isReplaying || access === "everybody" ||
      (access === "admins"
        ? await parts.access.isAdmin(update.sender, update.room)
        : await access(new Context(parts, run, update)));
    return mayUse ? { command, given: await argumentsOf(command, chosen?.rest ?? rest) } : undefined;
  }

  /** What a message asks for: after the prefix, a mention of the bot, or in a direct chat. */
  async #invocation(
    { read, room, event }: Update,
    commands: readonly Command[],
  ): Promise<(Invocation & { readonly isAddressed: boolean }) | undefined> {
    const { parts: { client, options: { prefix } } } = this.#options;
    const text = read?.text ?? "";
    if (text.startsWith(prefix)) {
      const invocation = /^\s/.test(text.slice(prefix.length))
        ? undefined
        : invocationOf(text.slice(prefix.length));
      if (invocation !== undefined) return { ...invocation, isAddressed: true };
    }
    const { mxid } = client;
    const mentioned = (event.content as { "m.mentions"?: { user_ids?: unknown } })["m.mentions"]?.user_ids;
    if (mxid !== "" && (text.includes(mxid) || (Array.isArray(mentioned) && mentioned.includes(mxid)))) {
      const member = await client.stateStore.getMember(room, mxid);
      const rest = withoutName(text, mxid, member?.displayname ?? undefined);
      const invocation = rest === undefined
        ? undefined
        : invocationOf(rest.startsWith(prefix) ? rest.slice(prefix.length) : rest);
      const isKnown = invocation !== undefined &&
        commands.some((each) => isPartOf(each, invocation.name));
      return isKnown ? { ...invocation, isAddressed: true } : undefined;
    }
    const bare = invocationOf(text);
    const isKnown = bare !== undefined && chosenOf(commands, bare) !== undefined;
    return isKnown && await this.#isDirect(room) ? { ...bare, isAddressed: false } : undefined;
  }

  /** Whether nobody is in a room but the bot and one user. */
  async #isDirect(room: RoomID): Promise<boolean> {
    const members = await this.#options.parts.client.stateStore.getMembers(room, ["join", "invite"]);
    return members.size === 2;
  }

  async #invited(event: MemberEvent, context: HandlerContext): Promise<void> {
    const { parts: { client, access }, behaviour: { autoJoin = true }, inviters } = this.#options;
    const { room_id: room, sender } = event as MemberEvent & { room_id: RoomID };
    if (!access.hears(sender) || !access.hearsIn(room)) return;
    const joins = typeof autoJoin === "function" ? await autoJoin(event) : autoJoin;
    if (joins) {
      context.updateSession(...inviters.note(room, { by: sender as never, at: client.api.clock.now() }));
    }
    if (joins) await client.joinRoom(room);
    await this.#inOrder(laneOf(room, sender), () => this.#update("INVITE", event, context));
  }

  /** Tells a user of the limit, if the bot was asked for something: it does not talk into a chat of others. */
  async #tellLimit(type: string, event: MatrixEvent, context: HandlerContext): Promise<void> {
    const { limiter, parts: { client, options: { msgtype } } } = this.#options;
    const update = updateOf(type, event, { queries: queriesOf(type, event) });
    const { room, sender } = update;
    const run = new Run({ context, time: new RunTime(this.#options.signal()) });
    if (await this.#find(update, run) === undefined) return;
    if (limiter?.tells(sender, client.api.clock.now()) !== true) return;
    const body = "That was too much at once: I take more from you in a while.";
    await client.sendMessage(room, { msgtype, body, "m.mentions": {} });
  }

  get #builtIns(): readonly Command[] {
    const names = this.#options.composer.commands.flatMap((each) => each.names);
    const wanted = this.#options.behaviour.help === false ? [CANCEL] : [HELP, CANCEL];
    return wanted.filter(({ name }) => !names.includes(name));
  }
}

function placeOf({ room, sender, thread, event, type }: Update): EventPlace {
  const relation = (event.content as { "m.relates_to"?: { event_id?: unknown } })["m.relates_to"];
  const reactionTo = type === "m.reaction" ? String(relation?.event_id) : undefined;
  return { room, sender, thread: thread ?? "", reactionTo };
}
