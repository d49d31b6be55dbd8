/**
 * What each room waits for: the questions that are put, and those that are being put right now.
 *
 * A question for a user whose events can be handled at the same time is listed before it is sent. Its
 * answer may come before the handler has ended, and so before the wait is committed; it may come while
 * a crash makes the handler run again. Who handles the answer finds the question in the list, and waits
 * until it is put.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import type { Run } from "./run.ts";
import type { Wait } from "./run_record.ts";

/** A conversation in the list of its room. */
export interface WaitEntry {
  /** The conversation; of a question that is being put, the handler that puts it. */
  readonly id: string;
  /** Whose it is. */
  readonly owner: UserID;
  /** The command that began it; empty: none did. */
  readonly command: string;
  readonly wait: Wait;
  /** Whether the question is still being put, so that it can't be answered yet. Default: no. */
  readonly isAsking?: true;
  /**
   * Deliveries that were in hand before the question was put. A crash may bring them again, when the
   * question is listed: they were said before it. Default: none.
   */
  readonly before?: readonly string[];
}

/** Where and by whom an event was sent. */
export interface EventPlace {
  readonly room: RoomID;
  readonly sender: UserID;
  /** The first event of its thread; empty: none; undefined: it is not known yet. */
  readonly thread: string | undefined;
  /** The event that it is a reaction to; undefined: it is none. */
  readonly reactionTo: string | undefined;
}

const WAITS = defineSession({
  name: "bot.waits",
  per: "room",
  initial: (): { waits: readonly WaitEntry[] } => ({ waits: [] }),
});

/** How much is kept of what was in hand before questions of one conversation. */
const MAX_BEFORE = 100;
/** How many conversations may wait in a room; the oldest are forgotten. */
const MAX_OF_ROOM = 1_000;
/**
 * How long to wait for a handler that was putting a question when its process ended, in milliseconds.
 * It is called again with what the client receives first, and timers soon after that.
 */
const PATIENCE = 15_000;

/** What rooms wait for. */
export class Waits {
  readonly #client: Client;
  /** The handlers that run. */
  readonly #running = new Set<Run>();
  /** Those whose events have come, until they have ended; some wait for others. */
  readonly #heard = new Set<Run>();
  /** Those that have begun to look for what waits, until they have ended. */
  readonly #inHand = new Set<Run>();
  /** Those that are waited for until they run, by their deliveries. */
  readonly #expected = new Map<string, PromiseWithResolvers<void>>();
  /** Rooms that the bot has left, until what they wait for is recorded as over. */
  readonly #leaving = new Map<RoomID, Promise<void>>();
  /** Where runs put questions, and what was in hand before. */
  readonly #asking = new WeakMap<Run, Map<RoomID, readonly string[]>>();

  /** @param client Stores them. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * What a room waits for, the latest first, once none of it is being put any more,
   * nor over since the bot has left the room.
   *
   * @param concerns Which of it.
   * @param deliveryId The delivery that asks: it does not wait for itself.
   */
  async of(
    room: RoomID,
    concerns: (entry: WaitEntry) => boolean,
    deliveryId: string | undefined,
  ): Promise<readonly WaitEntry[]> {
    if (this.#leaving.size > 0) await this.#leaving.get(room);
    return await this.#of(room, concerns, deliveryId);
  }

  async #of(
    room: RoomID,
    concerns: (entry: WaitEntry) => boolean,
    deliveryId: string | undefined,
  ): Promise<readonly WaitEntry[]> {
    for (;;) {
      const { waits = [] } = await this.#client.sessions.read(WAITS, room) ?? {};
      const mayFit = ({ id, before }: WaitEntry) =>
        deliveryId === undefined || (id !== deliveryId && before?.includes(deliveryId) !== true);
      const found = waits.filter((each) => mayFit(each) && concerns(each)).toReversed();
      const asking = found.find(({ isAsking }) => isAsking);
      if (asking === undefined) return found;
      await this.#put(room, asking.id);
    }
  }

  /** Returns what a room waits for now, without questions that are being put. */
  async now(room: RoomID): Promise<readonly WaitEntry[]> {
    const { waits = [] } = await this.#client.sessions.read(WAITS, room) ?? {};
    return waits.filter(({ isAsking }) => !isAsking);
  }

  /** Lists what a conversation waits for since a run, in place of what was before. */
  add(run: Run, entry: WaitEntry): void {
    const { room } = entry.wait;
    const inHand = this.#asking.get(run)?.get(room) ?? [];
    run.context.updateSession(WAITS, room, ({ waits }) => {
      const before = [...waits.find(({ id }) => id === entry.id)?.before ?? [], ...inHand].slice(-MAX_BEFORE);
      return { waits: withEntry(waits, before.length === 0 ? entry : { ...entry, before }) };
    });
  }

  /** Takes a conversation off the list. */
  remove(context: HandlerContext, room: RoomID, id: string): void {
    context.updateSession(WAITS, room, ({ waits }) => without(waits, id));
  }

  /** Has a handler know from its event on that the bot has left a room: it may wait before it begins. */
  hear(run: Run): void {
    this.#heard.add(run);
  }

  /** Notes that a handler has ended whose event has come. */
  forget(run: Run): void {
    this.#heard.delete(run);
  }

  /** Notes that a handler has something in hand, which is no answer to a question that is put from now on. */
  take(run: Run): void {
    this.#inHand.add(run);
  }

  /** Notes that a handler runs, with all that it asks. */
  begin(run: Run): void {
    this.#running.add(run);
    if (this.#expected.size > 0) this.#expected.get(run.id)?.resolve();
  }

  /** Notes that a handler has ended. */
  end(run: Run): void {
    this.#running.delete(run);
    this.#inHand.delete(run);
  }

  /**
   * Has the handlers that run, or are about to, know that the bot is not in a room any more.
   * What comes later is no answer to what the room waits for.
   *
   * @param end Has that recorded as over.
   */
  async left(
    room: RoomID,
    { deliveryId }: Pick<HandlerContext, "deliveryId">,
    end: (waits: readonly WaitEntry[]) => Promise<void>,
  ): Promise<void> {
    for (const run of this.#running.union(this.#heard)) (run.left ??= new Set()).add(room);
    const ended = this.#of(room, () => true, deliveryId).then(end);
    // The handler says why.
    const over = Promise.all([this.#leaving.get(room), ended]).then(() => {}, () => {});
    this.#leaving.set(room, over);
    try {
      await ended;
    } finally {
      if (this.#leaving.get(room) === over) this.#leaving.delete(room);
    }
  }

  /** Lists a question that a run is about to put, before anybody can answer it. */
  async ask(
    run: Run,
    { owner, command, wait }: Pick<WaitEntry, "owner" | "command"> & { wait: Omit<Wait, "at"> },
  ): Promise<void> {
    const { room } = wait;
    const rooms = this.#asking.get(run) ?? new Map<RoomID, readonly string[]>();
    this.#asking.set(run, rooms.set(room, []));
    const asking = { id: run.id, owner, command, wait: { ...wait, at: run.at }, isAsking: true } as const;
    await this.#client.sessions.update(WAITS, room, ({ waits }) => {
      // What is in hand when an earlier process has put the question may be its answer.
      const { before } = waits.find(({ id }) => id === run.id) ?? { before: this.#inHandBefore(run, wait) };
      if (before !== undefined) rooms.set(room, before);
      return { waits: withEntry(waits, before === undefined ? asking : { ...asking, before }) };
    });
  }

  /** Has the questions of a run taken off the list, in the commit of what became of them. */
  asked(run: Run): void {
    for (const room of this.#asking.get(run)?.keys() ?? []) this.remove(run.context, room, run.id);
  }

  /** Takes the questions of a run off the list that has failed. */
  async failed(run: Run): Promise<void> {
    for (const room of this.#asking.get(run)?.keys() ?? []) await this.#forget(room, run.id);
  }

  /**
   * The deliveries in hand that would be taken for answers to a question of a run; undefined: there are none.
   */
  #inHandBefore(run: Run, { room, from }: Omit<Wait, "at">): readonly string[] | undefined {
    const isOf = (queue = ""): boolean =>
      from === undefined ? queue.startsWith(`${room} `) : queue === queueOf(room, from);
    const found = [...this.#inHand].flatMap(({ queue, context: { deliveryId } }) =>
      deliveryId !== undefined && deliveryId !== run.id && isOf(queue) ? [deliveryId] : []
    );
    return found.length === 0 ? undefined : found;
  }

  /** Waits until a question is put, or never will be. */
  async #put(room: RoomID, id: string): Promise<void> {
    if (!await this.again(id)) await this.#forget(room, id);
  }

  /**
   * Waits for a handler to end that runs, or that ran when its process ended.
   *
   * @param id Its delivery.
   * @returns Whether it runs, or did so: not if it is not called again.
   */
  async again(id: string): Promise<boolean> {
    const running = this.#running.values().find((each) => each.id === id);
    if (running !== undefined) {
      await new Promise<void>((resolve) => running.atEnd.push(resolve));
      return true;
    }
    const expected = this.#expected.get(id) ?? Promise.withResolvers<void>();
    this.#expected.set(id, expected);
    const ended = new AbortController();
    const late = this.#client.api.clock.delay(PATIENCE, { signal: ended.signal });
    const isLate = await Promise.race([
      expected.promise.then(() => false),
      late.then(() => true, () => true),
    ]);
    ended.abort();
    await late.catch(() => {});
    this.#expected.delete(id);
    return !isLate;
  }

  async #forget(room: RoomID, id: string): Promise<void> {
    await this.#client.sessions.update(WAITS, room, ({ waits }) => without(waits, id));
  }
}

/** Names the queue of an event: those of one queue are handled one after the other. */
export function queueOf(room: RoomID, sender: string): string {
  return `${room} ${sender}`;
}

/** Returns whether an event may be what a conversation waits for. */
export function fits(
  { wait, isAsking }: WaitEntry,
  place: EventPlace,
  queries: ReadonlySet<string>,
): boolean {
  if (wait.from !== undefined && wait.from !== place.sender) return false;
  if (place.reactionTo !== undefined) {
    return queries.has("reaction") && wait.queries.includes("reaction") &&
      (isAsking === true || wait.reactionTo === place.reactionTo); // the question's ID is not known yet
  }
  if (!wait.queries.some((each) => each !== "reaction" && queries.has(each))) return false;
  return wait.thread === undefined || place.thread === undefined || wait.thread === place.thread;
}

function withEntry(waits: readonly WaitEntry[], entry: WaitEntry): readonly WaitEntry[] {
  return [...waits.filter(({ id }) => id !== entry.id), entry].slice(-MAX_OF_ROOM);
}

function without(waits: readonly WaitEntry[], id: string): { waits: readonly WaitEntry[] } | null {
  const others = waits.filter((each) => each.id !== id);
  return others.length === 0 ? null : { waits: others };
}
