/**
 * Judges the writers: never two at a time, and a process that was paused past its lease has ended
 * with the reason.
 *
 * @module
 */

import type { Setup } from "../kill/setup.ts";
import { entriesOf } from "../kill/ledger.ts";
import { openStore } from "../kill/store_place.ts";
import { HISTORY, type HistoryRecord } from "./history_store.ts";

/** The error of a process that has lost the device. */
const LOST =
  /StoreInUseError: Cannot write to the store of .+ has taken it over, since this process was stopped, or paused past its lease/;

/** Judges, by what the database says of the order of the commits. */
export async function judgeWriters(setup: Setup, problems: string[]): Promise<Record<string, number>> {
  const store = await openStore(setup.place.orders());
  const commits: (HistoryRecord & { readonly versionstamp: string })[] = [];
  for await (const { value, versionstamp } of store.list([HISTORY])) {
    commits.push({ ...value as HistoryRecord, versionstamp }); // as historyStore() has written it
  }
  await store.close();
  commits.sort((one, other) => one.versionstamp < other.versionstamp ? -1 : 1);
  const writers = new Map<number, string>();
  let epoch = 0;
  for (const commit of commits) {
    if (commit.epoch < epoch) {
      problems.push(
        `${commit.process} has written as number ${commit.epoch} after ${
          writers.get(epoch)
        }, number ${epoch}`,
      );
    }
    epoch = Math.max(epoch, commit.epoch);
    const writer = writers.get(commit.epoch) ?? commit.process;
    if (writer !== commit.process) {
      problems.push(`${writer} and ${commit.process} have both written as number ${commit.epoch}`);
    }
    writers.set(commit.epoch, writer);
  }
  const ended = entriesOf(setup.ledger.entries, "ended");
  for (const { process, error } of ended) {
    if (!LOST.test(error)) problems.push(`${process} ended for another reason than the lease: ${error}`);
  }
  return { "commits": commits.length, "the device was taken": writers.size, "processes ended": ended.length };
}
