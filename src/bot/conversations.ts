/**
 * Conversations: runs that wait for answers, kept in the store from one to the next.
 *
 * Nothing of a conversation stays in memory while it waits. When an answer comes, its functions run again
 * from the beginning: steps that were done return what they came to, and the answer is what the last one
 * waited for. What it does then is committed with the record that the answer was handled.
 *
 * Over 300 lines because it follows a conversation from its question to its end.
 *
 * @module
 */

import type { Client, HandlerContext } from "../../mod.ts";
import type { RoomID } from "../../types.ts";
import {
  type Answer,
  type BotSessions,
  checkQueries,
  checkReplayed,
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
  type EventPlace,
  fits,
  hasSaid,
  isCutOff,
  type KeptEvent,
  Locks,
  type Once,
  type Query,
  queueOf,
  Run,
  type RunEnd,
  type RunTime,
  typesOf,
  type Wait,
  type WaitEntry,
  Waits,
} from "./run/mod.ts";
import type { Timers } from "./timers/timers.ts";
import {
  type ConversationRecord,
  CONVERSATIONS,
  forgetTaken,
  keptTypes,
  noteTaken,
  noteTypes,
} from "./conversation_records.ts";

/** A conversation at work: without an ID and what it waits for, it is new. */
interface Conversation extends Omit<ConversationRecord, "steps" | "wait" | "timer" | "taken"> {
  readonly id?: string;
  readonly wait?: Wait;
  readonly timer?: string;
}

/** How many conversations of a user may wait in a room; the oldest are ended. */
const MAX_OF_USER = 10;

/** The functions of a bot, as conversations call them. */
interface BotFunctions {
  /** Calls them with what a run began with. */
  dispatch(run: Run, start: KeptEvent): Promise<unknown>;
  /** Has the bot listen to types of event. */
  listenTo(types: Iterable<string>): void;
}

/** The types of event that a bot listens to whatever functions it has. */
export const ALWAYS: readonly string[] = ["m.room.message", "m.reaction"];

/** The conversations of a bot. */
export class Conversations {
  /** Set before the first event comes. */
  functions!: BotFunctions;
  /** What rooms wait for. */
  readonly waits: Waits;
  readonly #client: Client;
  readonly #sessions: BotSessions;
  readonly #once: Once;
  readonly #timers: Timers;
  readonly #locks = new Locks();

  /**
   * @param client Keeps them.
   * @param kit What handlers have taken and found out, and what ends conversations in time.
   */
  constructor(
    client: Client,
    kit: { readonly sessions: BotSessions; readonly once: Once; readonly timers: Timers },
  ) {
    this.#client = client;
    this.#sessions = kit.sessions;
    this.#once = kit.once;
    this.#timers = kit.timers;
    this.waits = new Waits(client);
  }

  /**
   * Has the bot listen to what a run is to wait for, from now on, though no function does.
   *
   * @throws {ValueError} If there is no such query.
   */
  listen(context: HandlerContext, queries: readonly Query[]): void {
    checkQueries(queries, "wait for");
    const types = queries.flatMap(typesOf).filter((type) => !ALWAYS.includes(type));
    if (types.length === 0) return; // mostly
    this.functions.listenTo(types);
    noteTypes(context, types);
  }

  /** Has the bot listen to what conversations of earlier processes wait for, and go on as these did. */
  async restore(): Promise<void> {
    this.functions.listenTo(await keptTypes(this.#client));
    await this.#once.restore();
  }

  /**
   * Says what a run is about to ask, so that an answer that comes before the run has ended waits for
   * it. Events that are handled after the run anyway need no such note.
   *
   * @throws {ConversationError} If the run can't ask.
   */
  async expect(run: Run, wait: Omit<Wait, "at">): Promise<void> {
    const { conversation } = run;
    const isInOrder = wait.from !== undefined && run.queue === queueOf(wait.room, wait.from);
    if (run.isReplaying) return;
    run.checkMayAsk();
    if (conversation === undefined || isInOrder) return;
    await this.waits.ask(run, { ...conversation, wait });
  }

  /**
   * Gives an event to the conversation that waits for it.
   *
   * @param of.queries What the event is; `run` begins with it if none takes it.
   * @returns Whether one took it.
   */
  async answer(
    kept: KeptEvent,
    { place, queries, run }: {
      readonly place: EventPlace;
      readonly queries: ReadonlySet<string>;
      readonly run: Run;
    },
  ): Promise<boolean> {
    const { context, time, queue } = run;
    this.waits.take(run);
    let isOver = true;
    try {
      const concerns = (each: WaitEntry) => fits(each, place, queries);
      for (const { id, wait: { at } } of await this.waits.of(place.room, concerns, context.deliveryId)) {
        const answer = { at, kept };
        if (await this.#resume(id, { at, answer, context, time, queue, by: run }) !== undefined) {
          return true;
        }
      }
      return isOver = false;
    } finally {
      if (isOver) this.waits.end(run);
    }
  }

  /** Returns whether a conversation may wait for an event. */
  async isAwaited(
    { place, queries, context }: {
      readonly place: EventPlace;
      readonly queries: ReadonlySet<string>;
      readonly context: HandlerContext;
    },
  ): Promise<boolean> {
    const concerns = (each: WaitEntry) => fits(each, place, queries);
    return (await this.waits.of(place.room, concerns, context.deliveryId)).length > 0;
  }

  /**
   * Ends what a conversation waits for without an answer; its functions may go on.
   *
   * @returns Whether it was there.
   */
  async end(
    id: string,
    at: number,
    { reason, context, time }: {
      readonly reason: ConversationEnding;
      readonly context: HandlerContext;
      readonly time: RunTime;
    },
  ): Promise<boolean> {
    return await this.#resume(id, { at, end: reason, context, time }) !== undefined;
  }

  /**
   * Ends the latest conversation of a user in a room.
   *
   * @returns Whether its functions have said something to that, in this room; undefined: there was none.
   */
  async cancel(
    { room, sender }: Pick<EventPlace, "room" | "sender">,
    { context, time }: { readonly context: HandlerContext; readonly time: RunTime },
  ): Promise<boolean | undefined> {
    const [latest] = await this.waits.of(room, ({ owner }) => owner === sender, context.deliveryId);
    if (latest === undefined) return undefined;
    const { id, wait: { at } } = latest;
    const run = await this.#resume(id, { at, end: "cancelled", context, time, queue: queueOf(room, sender) });
    const { room_id: home } = (run?.conversation?.start.event ?? {}) as { room_id?: RoomID };
    return run && home === room && hasSaid(run.steps.slice(at + 1));
  }

  /**
   * Has all conversations of a room ended, soon: the bot is not in it any more. Those that are just
   * beginning, or going on, end when they wait. What the handler has made is committed.
   */
  async leave(room: RoomID, context: HandlerContext): Promise<void> {
    await this.waits.left(room, context, async (waits) => {
      for (const entry of waits) this.#endSoon(context, entry, "left");
      await context.settle();
    });
  }

  /** @returns The run that it went on with; undefined: it did not. */
  async #resume(
    id: string,
    { at, answer, end, by, ...how }: {
      readonly at: number;
      readonly answer?: Answer;
      readonly end?: ConversationEnding;
      readonly context: HandlerContext;
      readonly time: RunTime;
      readonly queue?: string;
      /** The run that has the answer in hand. */
      readonly by?: Run;
    },
  ): Promise<Run | undefined> {
    const { deliveryId } = how.context;
    await this.#afterTaken(id, at, deliveryId);
    return await this.#locks.within(id, async () => {
      how.time.check();
      const client = this.#client;
      const { record } = await client.sessions.read(CONVERSATIONS, id) ?? {};
      if (record?.wait.at !== at) return undefined; // another answer was faster
      const steps = [...record.steps];
      if (end !== undefined) steps[at] = { kind: "wait", end };
      const taken = () => noteTaken(client, { id, record, deliveryId });
      const run = new Run({ ...how, steps, answer, taken });
      run.left = by?.left && new Set(by.left);
      const isTaken = await this.go(
        run,
        { ...record, id },
        () => this.functions.dispatch(run, record.start),
      );
      return isTaken ? run : undefined;
    });
  }

  /**
   * Waits for what a conversation has taken for its answer, here or before a crash;
   * if that does not come, no more.
   */
  async #afterTaken(id: string, at: number, deliveryId: string | undefined): Promise<void> {
    const { sessions } = this.#client;
    const { record } = await sessions.read(CONVERSATIONS, id) ?? {};
    const { taken } = record ?? {};
    if (record?.wait.at !== at || taken === undefined || taken === deliveryId) return;
    if (!await this.waits.again(taken)) await forgetTaken(this.#client, id, taken);
  }

  /**
   * Begins a conversation with an event that is no answer, or goes on with one.
   *
   * @param conversation It, if the functions ask.
   * @param functions Calls them.
   * @returns Whether the run was what was wanted: not if the answer was refused.
   * @throws What they throw.
   */
  async go(run: Run, conversation: Conversation, functions: () => Promise<unknown>): Promise<boolean> {
    run.conversation = conversation;
    this.waits.begin(run);
    try {
      const end = await run.call(functions);
      if (end.kind === "refused") return false;
      if (end.kind === "done") checkReplayed(run);
      this.waits.asked(run);
      if (end.kind === "waits" || conversation.wait !== undefined) await this.#note(run, conversation, end);
      this.#sessions.commit(run);
      await run.context.settle();
      this.#once.ended(run);
      return true;
    } catch (error) {
      if (isCutOff(error)) throw error;
      await this.#once.failed(run);
      if (conversation.wait === undefined) {
        await this.waits.failed(run);
        throw error;
      }
      this.waits.asked(run);
      await this.#note(run, conversation, { kind: "done" }); // it has failed, and does not wait any more
      await run.context.settle();
      if (error instanceof ConversationEndedError) return true;
      throw error;
    } finally {
      this.waits.end(run);
      for (const call of run.atEnd) call();
    }
  }

  /** Notes what a run waits for, in place of what was before. */
  async #note(
    run: Run,
    { id: known, start, owner, command, timer: before, wait: old }: Conversation,
    end: Exclude<RunEnd, { kind: "refused" }>,
  ): Promise<void> {
    const { context } = run;
    const timers = this.#timers;
    const id = known ?? crypto.randomUUID();
    if (before !== undefined) timers.remove(context, before);
    if (old !== undefined && (end.kind === "done" || end.wait.room !== old.room)) {
      this.waits.remove(context, old.room, id);
    }
    if (end.kind === "done") {
      context.updateSession(CONVERSATIONS, id, () => null);
      return;
    }
    const { wait } = end;
    if (run.isTooLong) {
      throw new ConversationError(
        "Cannot go on with a conversation: it has too many steps; end it, and begin another",
      );
    }
    const late = { kind: "wait", conversation: id, at: wait.at, end: "timeout" } as const;
    const timer = timers.add(context, wait.until, late);
    run.atEnd.push(() => timers.wake());
    const record: ConversationRecord = { start, owner, command, steps: run.steps, wait, timer };
    context.updateSession(CONVERSATIONS, id, () => ({ record }));
    const entry: WaitEntry = { id, owner, command, wait };
    this.waits.add(run, entry);
    if (run.left?.has(wait.room) === true) this.#endSoon(context, entry, "left");
    else if (old === undefined) await this.#replace(context, entry);
  }

  /** Has conversations ended that a new one takes the place of. */
  async #replace(context: HandlerContext, { owner, command, wait }: WaitEntry): Promise<void> {
    const own = (await this.waits.now(wait.room)).filter((each) => each.owner === owner);
    const isSame = (each: WaitEntry) =>
      command !== "" && each.command === command && each.wait.thread === wait.thread;
    const tooMany = own.slice(0, Math.max(0, own.length + 1 - MAX_OF_USER));
    for (const each of new Set([...own.filter(isSame), ...tooMany])) this.#endSoon(context, each, "replaced");
  }

  /** Has a conversation ended, which gets no answer from now on. */
  #endSoon(context: HandlerContext, { id, wait }: WaitEntry, end: ConversationEnding): void {
    const timer = { kind: "wait", conversation: id, at: wait.at, end } as const;
    this.waits.remove(context, wait.room, id);
    // Two that would end it are one: what that says is said again under the same transaction ID.
    this.#timers.add(context, 0, timer, `${id} ${wait.at}`);
  }
}
