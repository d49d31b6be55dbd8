/**
 * Has the victim say what it is at, so that it can be killed right there: requests and commits, when they begin and end.
 *
 * @module
 */

import type { KvMutation, KvStore } from "@greenroom/matrix";
import type { LedgerEntry } from "./ledger.ts";
import { ratchetUses } from "./ratchet.ts";

/** What one line of the victim says. */
export type Telltale = `${"begins" | "ends"} ${string}`;

/** From how many tries on an event must not be tried in vain once more: it would be left out, as one that ends every process. */
export const MANY_TRIES = 2;

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

/** A store that says when it commits, and when the device has been taken, and notes the first sync that it keeps. */
export function tellingStore(store: KvStore, note: (entry: LedgerEntry) => void): KvStore {
  const noteKept = keptNotes(note);
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix) => store.list(prefix),
    lock: store.lock?.bind(store),
    close: () => store.close(),
    async commit(mutations, checks) {
      tell("begins commit");
      const held = await store.commit(mutations, checks);
      tell("ends commit");
      if (held && mutations.some(({ key }) => key.at(-1) === "owner")) tell("ends take");
      const tries = held ? noteKept(mutations) : undefined;
      if (tries !== undefined && tries < MANY_TRIES) tell("ends tries");
      return held;
    },
  };
}

/**
 * Notes of what is committed how often an event was begun, and the first sync.
 *
 * @returns Is to be called with each commit that held, and gives how often an event was begun, if the commit says so.
 */
export function keptNotes(
  note: (entry: LedgerEntry) => void,
): (mutations: readonly KvMutation[]) => number | undefined {
  let synced = false;
  return (mutations) => {
    const tries = triesIn(mutations);
    if (tries !== undefined) note({ kind: "tries", most: tries });
    if (!synced && mutations.some(saysSynced)) {
      synced = true;
      note({ kind: "synced" });
    }
    return tries;
  };
}

/** How often the one event was begun that was begun most often and is not known to have ended; undefined if a commit does not say. */
function triesIn(mutations: readonly KvMutation[]): number | undefined {
  const change = mutations.findLast(({ key }) => key.at(-1) === "attempts");
  if (change === undefined) return undefined;
  return change.type === "delete" ? 0 : Math.max(0, ...Object.values(change.value as Record<string, number>));
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
