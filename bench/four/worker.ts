/**
 * One of several processes of the same device: it answers messages while it has the device, and
 * waits while it has not. It stops cleanly when its standard input ends.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { answerMessages, describe } from "../kill/answering.ts";
import { Ledger, type LedgerEntry } from "../kill/ledger.ts";
import { ledgerLogger } from "../kill/ledger_logger.ts";
import { openStore } from "../kill/store_place.ts";
import { report, reportingFetch } from "../kill/progress.ts";
import type { BotOrders } from "../kill/bot.ts";
import { historyStore } from "./history_store.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** The only argument of a process. */
export interface WorkerOrders extends Pick<BotOrders, "baseUrl" | "token" | "userId" | "store" | "ledger"> {
  /** Its name. */
  readonly process: string;
}

/** How long the lease lasts, in milliseconds. */
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
    accessToken: token,
    encryption: EVERYBODY,
    store: historyStore(store, { process, note, onRefused }),
    lease: { duration: LEASE_MS, held: "wait", owner: process },
    fetch: reportingFetch(note),
    log: ledgerLogger(note),
  });
  client.done.catch((error) => {
    ledger.write({ kind: "ended", process, error: describe(error) });
    Deno.exit(3);
  });
  answerMessages(client, { userId, note, tell: report });
  const syncing = client.start({ fillGaps: true });
  syncing.catch(() => {}); // `done` rejects too, and says why
  await Array.fromAsync(Deno.stdin.readable);
  await client.stop();
  await syncing;
  await client.close();
  await store.close();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
