/**
 * Prunes records that need not be kept any more, in small steps.
 *
 * Used group sessions of other devices are kept forever, so that history can be read, and with
 * them the log that refuses replays. Nothing that is pruned would make a message count twice, or be
 * lost.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import type { DeviceLists } from "../devices/mod.ts";
import type { UndecryptableEvents } from "../megolm/mod.ts";
import type { OlmChannels } from "../olm/olm.ts";
import {
  duePruning,
  GONE_PEER_DAYS,
  LEFT_PEER_DAYS,
  pruningDone,
  RECORDS_A_STEP,
  type ScheduledPruning,
  schedulePruning,
  type Transaction,
} from "../records/mod.ts";
import type { OutboundSessions } from "../sharing/mod.ts";
import type { CryptoContext } from "../context/context.ts";

/** The parts that it prunes. */
export interface PrunerOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** Others' devices. */
  readonly devices: DeviceLists;
  readonly olm: OlmChannels;
  /** The own Megolm sessions. */
  readonly outbound: OutboundSessions;
  /** Events that wait for their key. */
  readonly undecryptable: UndecryptableEvents;
}

/** What a call of `prune` has done. */
export interface PruneReport {
  /** Whether nothing is left to do for today; else call it again. */
  readonly done: boolean;
  /** How many records were removed, by their kind. */
  readonly removed: Readonly<Record<string, number>>;
}

/** A task of pruning; whether it has more to do. */
type PruneTask = (tx: Transaction) => Promise<"done" | "more">;

/** How many tasks a step runs, which may all find nothing. */
const TASKS_A_STEP = 200;

/**
 * Prunes in steps; the client's housekeeping says when. Its progress is in memory only: the next
 * process begins again, and finds less to do.
 */
export class Pruner {
  readonly #options: PrunerOptions;
  /** The tasks that are left, the next one last; undefined: none was begun. */
  #tasks: PruneTask[] | undefined;

  /** @param options The parts that it prunes. */
  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  /** Does a part of it; the first call after one that was done starts again. */
  async step(tx: Transaction): Promise<PruneReport> {
    const tasks = [...this.#tasks ?? this.#begin()];
    let done = false;
    for (let count = 0; count < TASKS_A_STEP && tx.changes < RECORDS_A_STEP; count++) {
      const task = tasks.at(-1);
      if (task === undefined && tx.changes > 0) break; // the changes of this step would not show
      done = task === undefined && !await this.#addDue(tx, tasks);
      if (done) break;
      if (task !== undefined && await task(tx) === "done") tasks.pop();
    }
    tx.onCommit(() => this.#tasks = done ? undefined : tasks);
    return { done, removed: tx.removals };
  }

  #begin(): PruneTask[] {
    const { olm: { housekeeping }, outbound, undecryptable } = this.#options;
    return [
      ...outbound.sessionRooms().map((roomId: RoomID): PruneTask => (tx) => outbound.pruneRoom(tx, roomId)),
      ...housekeeping.wanted().map((device) => one((tx) => housekeeping.pruneWanted(tx, device))),
      ...housekeeping.unknownDevices().map((unknown) =>
        one((tx) => housekeeping.pruneUnknownDevice(tx, unknown))
      ),
      (tx) => Promise.resolve(undecryptable.forgetOld(tx, RECORDS_A_STEP)),
    ];
  }

  /** Adds tasks for the next users who are due; whether there are any. */
  async #addDue(tx: Transaction, tasks: PruneTask[]): Promise<boolean> {
    const due = await duePruning(tx, { now: this.#options.context.clock.now(), limit: TASKS_A_STEP });
    for (const leftover of due) tasks.push((tx) => this.#pruneUser(tx, leftover));
    return due.length > 0;
  }

  async #pruneUser(tx: Transaction, leftover: ScheduledPruning): Promise<"done" | "more"> {
    const { devices, olm, context: { clock } } = this.#options;
    const { userId } = leftover;
    const days = devices.isTracked(userId) ? GONE_PEER_DAYS : LEFT_PEER_DAYS;
    await devices.pruneUser(tx, userId); // first: sessions with devices that go may go with them
    const outcome = await olm.housekeeping.pruneUser(tx, userId, days);
    if (outcome === "more") return "more";
    pruningDone(tx, leftover);
    if (outcome === "later") schedulePruning(tx, userId, { now: clock.now(), days: GONE_PEER_DAYS });
    return "done";
  }
}

function one(task: (tx: Transaction) => Promise<void> | void): PruneTask {
  return async (tx) => {
    await task(tx);
    return "done";
  };
}
