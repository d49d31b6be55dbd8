/**
 * Reports of the bot's process on its progress, so that it can be killed at a chosen operation:
 * when requests and commits begin and end.
 *
 * @module
 */

import type { Store, StoreMutation } from "@greenroom/matrix";
import type { LedgerEntry } from "./ledger.ts";
import { ratchetUses } from "./ratchet.ts";

/** A line of the report. */
export type Progress = `${"begins" | "ends"} ${string}`;

const OPERATIONS = [
  "sync",
  "sendToDevice",
  "keys/upload",
  "keys/query",
  "keys/claim",
  "send",
  "members",
  "messages",
];

/** Writes a line, synchronously: the process may be killed next. */
export function report(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/**
 * A store that reports its commits, and when the device has been taken, and records the first sync
 * that it stores.
 */
export function reportingStore(store: Store, note: (entry: LedgerEntry) => void): Store {
  const noteStored = notingSynced(note);
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    lock: store.lock?.bind(store),
    close: () => store.close(),
    async commit(mutations, checks) {
      report("begins commit");
      const held = await store.commit(mutations, checks);
      report("ends commit");
      if (held && mutations.some(({ key }) => key.at(-1) === "owner")) report("ends take");
      if (held) noteStored(mutations);
      return held;
    },
  };
}

/**
 * Records the first sync.
 *
 * @returns A function to call with each commit that succeeded.
 */
export function notingSynced(
  note: (entry: LedgerEntry) => void,
): (mutations: readonly StoreMutation[]) => void {
  let synced = false;
  return (mutations) => {
    if (synced || !mutations.some(saysSynced)) return;
    synced = true;
    note({ kind: "synced" });
  };
}

/** Whether a change is of the position in the sync, and has a token. */
function saysSynced(mutation: StoreMutation): boolean {
  if (mutation.type !== "set" || mutation.key.at(-1) !== "sync") return false;
  return (mutation.value as { nextBatch?: string }).nextBatch !== undefined;
}

/** A `fetch` that reports its requests, and records ratchet uses and refusals. */
export function reportingFetch(note: (entry: LedgerEntry) => void): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const name = OPERATIONS.find((operation) => pathname.includes(`/${operation}`)) ?? "other";
    if (typeof init?.body === "string" && pathname.includes("/m.room.encrypted/")) {
      const txnId = pathname.split("/").at(-1) ?? "";
      for (const use of ratchetUses(JSON.parse(init.body))) note({ kind: "use", txnId, ...use });
    }
    report(`begins ${name}`);
    const response = await fetch(input, init);
    report(`ends ${name}`);
    // An application service registers its own user to see whether that is there. Synapse fails a ping
    // that has got through, if it was about to send a transaction again.
    const isExpected = response.status === 404 || /\/(register|ping)$/.test(pathname);
    if (response.status >= 400 && !isExpected) {
      const answer = await response.clone().text();
      const request = `${init?.method ?? "GET"} ${pathname}`;
      note({ kind: "refused", status: response.status, request, answer: answer.slice(0, 300) });
    }
    return response;
  };
}
