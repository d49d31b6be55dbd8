/**
 * What a device has lost: when an old copy of its disk was put back, when messages to it can't be
 * read, and when the server does not show it a part of a timeline.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import type { Disk, DiskCopy } from "./disk.ts";

/** A copy of a device's disk. */
export interface Backup {
  readonly disk: DiskCopy;
  /** When it was made. */
  readonly at: number;
  /** What the device had seen then. */
  readonly seen: number;
  /** How much it had noted. */
  readonly noted: number;
}

/** An event that a device may not be able to read. */
export interface LostEvent {
  readonly event_id: string;
  readonly origin_server_ts: number;
  readonly content: { readonly session_id?: unknown };
}

/** How long what a device had encrypted may be on its way, in milliseconds. */
const ON_ITS_WAY = 1_000;

/** What a device has lost. */
export class Loss {
  /** A copy of its disk, if there is one. */
  backup: Backup | undefined;
  /** Whether that was put back. */
  isSuffered = false;
  /** Whether a copy of it was in use at the same time. */
  #isForked = false;
  /** When that was. */
  #sufferedAt = Infinity;
  /** Until when it may use again what it had used: its first response behind it says what that was. */
  #blindUntil = -Infinity;
  /** When the device last noticed it. */
  noticedAt = Infinity;
  /** Since when others may have used keys for it that it has not; infinity: none have. */
  #hurtAt = Infinity;
  /** By room, until when the server has not shown it what was said. */
  readonly #gaps = new Map<RoomID, number>();
  /** When everybody had had the time to find that out. */
  healedAt = Infinity;
  /** The rooms and IDs of sessions whose keys were lost. */
  readonly #sessions = new Set<string>();
  /** The events that it had noted, and does not know of any more. */
  readonly #events = new Set<string>();

  /** Puts a copy of the disk in place of what is there. */
  async suffer(
    disk: Disk,
    { backup, noted, at }: { backup: Backup; noted: readonly string[]; at: number },
  ): Promise<void> {
    const present = await disk.sessions();
    for (const session of present.difference(backup.disk.sessions)) this.#sessions.add(session);
    for (const event of noted) this.#events.add(event);
    await disk.putBack(backup.disk);
    this.isSuffered = true;
    this.#sufferedAt = Math.min(this.#sufferedAt, at);
    this.noticedAt = Infinity;
    this.#blindUntil = Infinity;
  }

  /** Notes that a copy of the disk is in use, too: what goes to the one does not go to the other. */
  fork(backup: Backup): void {
    this.backup = backup;
    this.isSuffered = true;
    this.#isForked = true;
    this.#sufferedAt = backup.at;
  }

  /** Notes the rooms and IDs of sessions whose keys may have gone to a copy of the disk. */
  lose(sessions: readonly string[]): void {
    for (const session of sessions) this.#sessions.add(session);
  }

  /** Notes that the device has been told by the server what is new. */
  told(at: number): void {
    this.#blindUntil = Math.min(this.#blindUntil, at + ON_ITS_WAY);
  }

  /** Whether an old copy was put back, of which the server has not told the device yet. */
  isBlind(at: number): boolean {
    return at <= this.#blindUntil;
  }

  /** Whether it needs time, and to be talked to, before it reads everything again. */
  get needsHealing(): boolean {
    return this.isSuffered || this.#hurtAt < Infinity;
  }

  /** Has others use keys for it that it has not. */
  hurt(at: number): void {
    this.#hurtAt = Math.min(this.#hurtAt, at);
  }

  /** Has the server not show it what was said in a room so far. */
  leaveOut(room: RoomID, until: number): void {
    this.#gaps.set(room, until);
  }

  /** Whether the server has not shown it what was said in a room for a while. */
  hasGap(room: RoomID): boolean {
    return this.#gaps.has(room);
  }

  /** Whether an event was not shown to it, or its key may have come in a message that it can't read. */
  mayLack(room: RoomID, { origin_server_ts: at }: LostEvent): boolean {
    return at <= (this.#gaps.get(room) ?? -1) || (at >= this.#hurtAt && at < this.healedAt);
  }

  /**
   * Whether an event was noted and is forgotten, had its key lost, or may have been encrypted for what
   * was lost.
   */
  mayMiss(room: RoomID, { event_id: id, origin_server_ts: at, content }: LostEvent): boolean {
    if (!this.isSuffered || this.backup === undefined) return false;
    return this.#events.has(id) || this.#sessions.has(`${room} ${content.session_id}`) ||
      (at >= this.backup.at && at < this.healedAt);
  }

  /** Whether an event's key may have been sent by old ratchets, before the device noticed. */
  maySendInVain({ origin_server_ts: at }: LostEvent): boolean {
    const end = this.#isForked ? Infinity : this.noticedAt + ON_ITS_WAY;
    return at >= this.#sufferedAt && at < Math.min(end, this.healedAt);
  }
}
