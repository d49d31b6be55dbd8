/**
 * A store whose commits record which process made them. With the database's own versionstamps,
 * that shows the order of the writers.
 *
 * @module
 */

import type { Store, StoreMutation } from "@greenroom/matrix";
import type { LedgerEntry } from "../kill/ledger.ts";
import { notingSynced } from "../kill/progress.ts";

/** The first part of the records' keys. */
export const HISTORY = "history";

/** The record of a commit. */
export interface HistoryRecord {
  readonly process: string;
  /** How often the device had been taken when the process took it. */
  readonly epoch: number;
  /** How many commits the process had made. */
  readonly number: number;
}

/** Options of {@link historyStore}. */
export interface HistoryOptions {
  readonly process: string;
  readonly note: (entry: LedgerEntry) => void;
  /** Called if a commit of a former owner was refused. */
  readonly onRefused: () => void;
}

/** Wraps a store. */
export function historyStore(store: Store, { process, note, onRefused }: HistoryOptions): Store {
  let epoch: number | undefined;
  let number = 0;
  const noteStored = notingSynced(note);
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    close: () => store.close(),
    async commit(mutations, checks) {
      const taken = takenEpoch(mutations);
      const record: HistoryRecord = { process, epoch: taken ?? epoch ?? 0, number: number++ };
      const key = [HISTORY, process, String(record.number)];
      const held = await store.commit([...mutations, { type: "set", key, value: record }], checks);
      if (held && taken !== undefined) {
        epoch = taken;
        note({ kind: "took", process, epoch });
      }
      if (held) noteStored(mutations);
      if (!held && epoch !== undefined && taken === undefined) onRefused();
      return held;
    },
  };
}

/** The number that a taking of the device has, if that is what a commit does. */
function takenEpoch(mutations: readonly StoreMutation[]): number | undefined {
  const owner = mutations.find((mutation) => mutation.type === "set" && mutation.key.at(-1) === "owner");
  return owner?.type === "set" ? (owner.value as { epoch: number }).epoch : undefined;
}
