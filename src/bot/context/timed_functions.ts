/**
 * Calls a bot's functions at their times.
 *
 * @module
 */

import { type HandlerContext, ValueError } from "../../../mod.ts";
import { platform } from "../../base/platform/mod.ts";
import type { Kit } from "../kit.ts";
import { isCutOff, Run, RunTime, sceneOf } from "../run/mod.ts";
import { type Due, readTimes, type Reminder } from "../timers/timers.ts";
import { WITH_SESSION } from "./handler_room.ts";
import { SAY, TimerContext } from "./timer_context.ts";

/**
 * A function that is called at a time.
 *
 * @typeParam Data What the reminder was set with.
 */
export type ReminderHandler<Data = unknown> = (context: TimerContext & { readonly data: Data }) => unknown;

/** Options of {@linkcode Bot.every}. */
export interface EveryOptions {
  /** Names the schedule in the store: it is found by that after a restart. Default: the pattern. */
  name?: string;
  /** The IANA time zone of a pattern of cron, like `Europe/Rome`. Default: `UTC`. */
  timezone?: string;
}

/** Calls a bot's functions at their times. */
export class TimedFunctions {
  readonly #kit: Kit;
  readonly #byName = new Map<string, ReminderHandler>([["", (c) => c[SAY]()]]);

  /** @param kit Of the bot. */
  constructor(kit: Kit) {
    this.#kit = kit;
    kit.timers.handle("remind", ({ reminder }, context, due) => this.#remind(reminder, context, due));
  }

  /**
   * Adds a function for reminders of a name.
   *
   * @throws {ValueError} If the name is taken.
   */
  add(name: string, handler: ReminderHandler): void {
    this.#kit.reminders.addName(name);
    this.#byName.set(name, handler);
  }

  /**
   * Adds a function for times that come again and again.
   *
   * @throws {ValueError} If the pattern can't be read, or the name is taken.
   */
  every(
    pattern: string | number,
    handler: ReminderHandler,
    { name = `${pattern}`, timezone }: EveryOptions,
  ): void {
    this.#kit.timers.schedule({
      name,
      pattern: `${pattern} ${timezone ?? "UTC"}`,
      next: readTimes(pattern, timezone),
      work: (context, due) =>
        this.#call(context, handler, (run) => new TimerContext(this.#kit, run, due), { every: name }),
    });
  }

  async #remind(reminder: Reminder, context: HandlerContext, due: Due): Promise<void> {
    const { name, room, by } = reminder;
    const { client, once } = this.#kit;
    const handler = this.#byName.get(name);
    if (handler === undefined) {
      throw new ValueError(`Cannot remind: the bot has no function "${name}"; add it with bot.reminder()`);
    }
    const make = async (run: Run) =>
      new TimerContext(this.#kit, run, due, reminder, once.sceneOf(run) ?? await sceneOf(client, room));
    await this.#call(context, handler, make, { reminder: name || undefined, room, by });
  }

  /** @param details What the log says of it. */
  async #call(
    context: HandlerContext,
    handler: ReminderHandler,
    make: (run: Run) => TimerContext | Promise<TimerContext>,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { client, once, patience, sessions } = this.#kit;
    const time = new RunTime(this.#kit.signal);
    const run = new Run({ context, time });
    run.queues = undefined; // a time that fails since the homeserver is away has all of it done again
    time.what = details;
    run.watch(details, { late: (message, step) => client.log.warn(message, { step, ...details }) });
    try {
      const called = run.call(async () => {
        const c = await make(run);
        await c[WITH_SESSION](async () => await handler(platform.inScope(c)));
      });
      await patience.until(called, time);
      if ((await called).kind !== "done") {
        throw new ValueError("Cannot ask in a function for a time: there is nobody to answer");
      }
      sessions.commit(run);
      await context.settle();
      once.ended(run);
    } catch (error) {
      if (!isCutOff(error)) await once.failed(run);
      throw error;
    } finally {
      for (const call of run.atEnd) call();
    }
  }
}
