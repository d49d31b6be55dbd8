/**
 * What a bot's functions for times are called with.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../../../types.ts";
import { REMIND } from "./inner.ts";
import type { BotParts } from "../bot_parts.ts";
import type { Run } from "../run/mod.ts";
import type { Due, Reminder } from "../timers/mod.ts";
import { RoomContext } from "./room_context.ts";

/** From when on a reminder's text says that it is late, in milliseconds: five minutes, as documented. */
const LATE = 300_000;

/**
 * Something that is due: a reminder, in the room that it is for, or what comes again and again, in
 * no room (`c.in()` goes to one).
 */
export class TimerContext extends RoomContext {
  /** When it was due. */
  readonly due: Date;
  /**
   * How late it is, in milliseconds, however little: the bot was not there, or had too much to do. A
   * reminder that is a text says when it was due from five minutes on.
   */
  readonly late: number;
  /** What the reminder was given. */
  readonly data: unknown;
  /** Who has asked for the reminder; undefined: nobody. */
  readonly by: UserID | undefined;
  readonly #event: EventID | undefined;

  /** @internal Contexts are made by the bot. */
  constructor(parts: BotParts, run: Run, { due, late }: Due, reminder?: Reminder) {
    super(parts, run, { room: reminder?.room ?? "" as RoomID, thread: reminder?.thread || undefined });
    this.due = new Date(due);
    this.late = late;
    this.data = reminder?.data;
    this.by = reminder?.by;
    this.#event = reminder?.event;
  }

  /**
   * Another room.
   *
   * @param room The room.
   * @param thread The first event of a thread in it. Default: none.
   */
  in(room: RoomID, thread?: EventID): RoomContext {
    return new RoomContext(this.parts, this.run, { room, thread });
  }

  /** @internal */
  protected override get asker(): string | undefined {
    return this.by;
  }

  /** @internal Says the reminder's text. */
  async [REMIND](): Promise<void> {
    const when = this.due.toISOString().slice(0, 16).replace("T", " ");
    const late = this.late > LATE ? ` (due ${when} UTC)` : "";
    const mentions = this.by === undefined ? [] : [this.by];
    const placing = { thread: this.thread, replyTo: this.#event };
    await this.sendTo(`${String(this.data)}${late}`, { mentions, sendKey: "reminder" }, placing); // how late it is may have changed
  }
}
