/**
 * Has the victim say what it is at, so that it can be killed right there: requests and commits,
 * when they begin and end.
 *
 * @module
 */

import type { KvMutation, KvStore } from "@greenroom/matrix";
import type { LedgerEntry } from "./ledger.ts";
import { ratchetUses } from "./ratchet.ts";

/** What one line of the victim says. */
export type Telltale = `${"begins" | "ends"} ${string}`;

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

/** Says it; at once, since the next moment may be the last. */
export function tell(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/**
 * A store that says when it commits, and when the device has been taken, and notes the first sync
 * that it keeps.
 */
export function tellingStore(store: KvStore, note: (entry: LedgerEntry) => void): KvStore {
  const noteKept = notingSynced(note);
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    lock: store.lock?.bind(store),
    close: () => store.close(),
    async commit(mutations, checks) {
      tell("begins commit");
      const held = await store.commit(mutations, checks);
      tell("ends commit");
      if (held && mutations.some(({ key }) => key.at(-1) === "owner")) tell("ends take");
      if (held) noteKept(mutations);
      return held;
    },
  };
}

/**
 * Notes the first sync.
 *
 * @returns Is to be called with each commit that held.
 */
export function notingSynced(note: (entry: LedgerEntry) => void): (mutations: readonly KvMutation[]) => void {
  let synced = false;
  return (mutations) => {
    if (synced || !mutations.some(saysSynced)) return;
    synced = true;
    note({ kind: "synced" });
  };
}

/** Whether a change is of the position in the sync, and has a token. */
function saysSynced(mutation: KvMutation): boolean {
  if (mutation.type !== "set" || mutation.key.at(-1) !== "sync") return false;
  return (mutation.value as { nextBatch?: string }).nextBatch !== undefined;
}

/** A fetch that says what it does, and writes down what it encrypted, and what was refused. */
export function tellingFetch(note: (entry: LedgerEntry) => void): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const name = OPERATIONS.find((operation) => pathname.includes(`/${operation}`)) ?? "other";
    if (typeof init?.body === "string" && pathname.includes("/m.room.encrypted/")) {
      const txnId = pathname.split("/").at(-1) ?? "";
      for (const use of ratchetUses(JSON.parse(init.body))) note({ kind: "use", txnId, ...use });
    }
    tell(`begins ${name}`);
    const response = await fetch(input, init);
    tell(`ends ${name}`);
    if (response.status >= 400 && response.status !== 404) {
      const answer = await response.clone().text();
      const request = `${init?.method ?? "GET"} ${pathname}`;
      note({ kind: "refused", status: response.status, request, answer: answer.slice(0, 300) });
    }
    return response;
  };
}
