/**
 * One of several processes of the same device: it answers messages whenever it has the device, and
 * waits when it has not. It stops in good order when its standard input ends.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { answerMessages, describe } from "../kill/answering.ts";
import { Ledger, type LedgerEntry } from "../kill/ledger.ts";
import { ledgerLogger } from "../kill/ledger_logger.ts";
import { openStore } from "../kill/store_place.ts";
import { tell, tellingFetch } from "../kill/telltale.ts";
import type { VictimOrders } from "../kill/victim.ts";
import { historyStore } from "./history_store.ts";

/** The orders of a process, its only argument. */
export interface WorkerOrders
  extends Pick<VictimOrders, "baseUrl" | "token" | "userId" | "store" | "ledger"> {
  /** What it is called. */
  readonly process: string;
}

/** How long the others leave the device alone after a sign of life, in milliseconds. */
export const LEASE_MS = 2_000;

async function main({ baseUrl, token, userId, store: place, ledger: path, process }: WorkerOrders) {
  using ledger = new Ledger(path);
  let isRefused = false;
  const note = (entry: LedgerEntry): void => {
    // Whatever was under way fails when another has taken the device; what counts is how the client
    // ends.
    if (isRefused && (entry.kind === "failed" || entry.kind === "log")) return;
    ledger.write(entry);
  };
  note({ kind: "start" });
  const store = await openStore(place);
  const onRefused = () => {
    isRefused = true;
  };
  const client = new Client({
    baseUrl,
    token,
    encryption: true,
    store: historyStore(store, { process, note, onRefused }),
    lease: { duration: LEASE_MS, held: "wait", owner: process },
    fetch: tellingFetch(note),
    log: ledgerLogger(note),
  });
  client.done.catch((error) => {
    ledger.write({ kind: "ended", process, error: describe(error) });
    Deno.exit(3);
  });
  answerMessages(client, { userId, note, tell });
  const syncing = client.start({ fillGaps: true });
  syncing.catch(() => {}); // `done` rejects too, and says why
  await Array.fromAsync(Deno.stdin.readable);
  await client.stop();
  await syncing;
  await client.close();
  await store.close();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
