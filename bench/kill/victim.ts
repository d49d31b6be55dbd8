/**
 * The victim: a bot that talks in encrypted rooms, and answers in all, until it is killed, and goes
 * on when it is started again.
 *
 * Before it sends a message of its own, it writes down its number, which is its transaction ID too;
 * whatever is not known to have arrived, it sends again, with that ID, when it starts. It answers
 * each message of a peer from a handler. It stops in good order when its standard input ends.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import { answerMessages, describe } from "./answering.ts";
import { Ledger } from "./ledger.ts";
import { ledgerLogger } from "./ledger_logger.ts";
import { openStore, type StoreOrders } from "./store_place.ts";
import { tell, tellingFetch, tellingStore } from "./telltale.ts";

/** The victim's orders, its only argument. */
export interface VictimOrders {
  readonly baseUrl: string;
  readonly token: string;
  /** The user's ID: who else talks is answered. */
  readonly userId: string;
  /** Where Greenroom's store is. */
  readonly store: StoreOrders;
  /** The file of the ledger. */
  readonly ledger: string;
  /** Where it talks by itself. */
  readonly rooms: readonly RoomID[];
  /** What may not have arrived: numbers and rooms. */
  readonly unknown: readonly (readonly [number: number, roomId: string])[];
  /** The number of its next message. */
  readonly next: number;
  /** Whether it has nothing more to say by itself, but for what has not arrived. */
  readonly quiet: boolean;
}

/**
 * How long a restart waits for the device if the store is on a server, which has no locks, in
 * milliseconds.
 */
const LEASE_MS = 1_000;
/** How long it waits between its own messages, at most, in milliseconds. */
const PAUSE_MS = 2_000;
/** How often it sends several messages at once. */
const BURSTS = 0.2;
const BURST = 3;
/** How long it waits before it tries once more what failed, in milliseconds. */
const AGAIN_MS = 100;

class Victim {
  readonly #orders: VictimOrders;
  readonly #client: Client;
  readonly #ledger: Ledger;
  #next: number;
  #stopping = false;

  constructor(orders: VictimOrders, client: Client, ledger: Ledger) {
    this.#orders = orders;
    this.#client = client;
    this.#ledger = ledger;
    this.#next = orders.next;
    this.#listen();
  }

  /** Sends what may not have arrived, and then what is new. */
  async talk(): Promise<void> {
    const { rooms, unknown, quiet } = this.#orders;
    await Promise.all(rooms.map(async (roomId) => {
      const mine = unknown.filter(([, room]) => room === roomId);
      await Promise.all(mine.map(([number]) => this.#send(roomId, number)));
      if (quiet) return;
      for (;;) {
        await delay(Math.random() * PAUSE_MS);
        if (this.#stopping) return;
        const count = Math.random() < BURSTS ? BURST : 1;
        await Promise.all(Array.from({ length: count }, () => this.#sendNext(roomId)));
      }
    }));
  }

  stop(): void {
    this.#stopping = true;
  }

  #listen(): void {
    const note = this.#ledger.write.bind(this.#ledger);
    answerMessages(this.#client, { userId: this.#orders.userId, note, tell });
  }

  async #sendNext(roomId: RoomID): Promise<void> {
    const number = this.#next++;
    this.#ledger.write({ kind: "begin", number, roomId });
    await this.#send(roomId, number);
  }

  async #send(roomId: RoomID, number: number): Promise<void> {
    for (;;) {
      try {
        const eventId = await this.#client.sendText(roomId, `victim ${number}`, { txnId: `kill-${number}` });
        this.#ledger.write({ kind: "done", number, eventId });
        return;
      } catch (error) {
        this.#ledger.write({ kind: "failed", what: `send ${number}`, error: describe(error) });
        if (this.#stopping) return;
        await delay(AGAIN_MS);
      }
    }
  }
}

async function main(orders: VictimOrders): Promise<void> {
  using ledger = new Ledger(orders.ledger);
  const note = ledger.write.bind(ledger);
  note({ kind: "start" });
  tell("begins open");
  const { baseUrl, token } = orders;
  const store = await openStore(orders.store);
  tell("ends open");
  const client = new Client({
    baseUrl,
    token,
    encryption: true,
    store: tellingStore(store, note),
    lease: orders.store.kind === "denokv" ? { duration: LEASE_MS } : {},
    fetch: tellingFetch(note),
    log: ledgerLogger(note),
  });
  client.done.catch((error) => {
    ledger.write({ kind: "failed", what: "client", error: describe(error) });
    Deno.exit(3);
  });
  const victim = new Victim(orders, client, ledger);
  tell("begins take");
  const syncing = client.start({ fillGaps: true });
  const talking = victim.talk();
  syncing.catch(() => {}); // `done` rejects too, and says why
  await Array.fromAsync(Deno.stdin.readable);
  victim.stop();
  await talking;
  await client.stop();
  await syncing;
  await client.close();
  await store.close();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
