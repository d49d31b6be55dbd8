/**
 * The victim: a bot that talks and answers in encrypted rooms until it is killed, and goes on when it is started again.
 *
 * Before it sends a message of its own, it writes down its number, which is its transaction ID too; whatever it does not know to
 * have arrived, it sends again, with that ID, when it starts. It answers each message of a peer from a handler. It stops in good
 * order when its standard input ends.
 *
 * @module
 */

import { Client, type Logger, type RoomID } from "@greenroom/matrix";
import { DenoKvStore } from "@greenroom/matrix/store/kv";
import { delay } from "@std/async/delay";
import { entriesOf, Ledger, readLedger } from "./ledger.ts";
import { tell, tellingFetch, tellingStore } from "./telltale.ts";

/** What the victim is told, as its only argument. */
export interface VictimOrders {
  readonly baseUrl: string;
  readonly token: string;
  /** The user's ID: who else talks is answered. */
  readonly userId: string;
  /** The file of Greenroom's store. */
  readonly store: string;
  /** The file of the ledger. */
  readonly ledger: string;
  readonly rooms: readonly RoomID[];
  /** Whether it has nothing more to say by itself, but for what has not arrived. */
  readonly quiet: boolean;
}

/** How long it waits between its own messages, at most, in milliseconds. */
const PAUSE_MS = 150;
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

  constructor(orders: VictimOrders, client: Client, parts: { ledger: Ledger; next: number }) {
    this.#orders = orders;
    this.#client = client;
    this.#ledger = parts.ledger;
    this.#next = parts.next;
    this.#listen();
  }

  /** Sends what may not have arrived, and then what is new. */
  async talk(unknown: readonly { number: number; roomId: string }[]): Promise<void> {
    await Promise.all(this.#orders.rooms.map(async (roomId) => {
      const mine = unknown.filter((entry) => entry.roomId === roomId);
      await Promise.all(mine.map(({ number }) => this.#send(roomId, number)));
      while (!this.#orders.quiet && !this.#stopping) {
        const count = Math.random() < BURSTS ? BURST : 1;
        await Promise.all(Array.from({ length: count }, () => this.#sendNext(roomId)));
        await delay(Math.random() * PAUSE_MS);
      }
    }));
  }

  stop(): void {
    this.#stopping = true;
  }

  #listen(): void {
    const client = this.#client;
    const ledger = this.#ledger;
    client.on("m.room.message", async ({ sender, event_id: eventId, room_id: roomId, content: { body } }) => {
      if (sender === this.#orders.userId || !body.startsWith("peer ")) return;
      ledger.write({ kind: "received", eventId, body });
      try {
        ledger.write({ kind: "acked", eventId, ackId: await client.sendText(roomId, `ack ${eventId}`) });
      } catch (error) {
        ledger.write({ kind: "failed", what: `ack ${eventId}`, error: describe(error) });
      }
    });
    client.on("UNDECRYPTABLE", ({ event: { event_id: eventId }, code, reason }) => {
      ledger.write({ kind: "undecryptable", eventId, code, reason: reason.message });
    });
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` because of ${describe(error.cause)}`;
  return `${error.name}: ${error.message}${cause}`;
}

function ledgerLogger(ledger: Ledger): Logger {
  const at = (level: string) => (message: string, data: Record<string, unknown> = {}): void => {
    const shown = JSON.stringify(data, (_key, value) => value instanceof Error ? describe(value) : value);
    ledger.write({ kind: "log", level, message, data: shown });
  };
  return { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error") };
}

async function main(orders: VictimOrders): Promise<void> {
  const past = readLedger(orders.ledger);
  const ledger = new Ledger(orders.ledger);
  ledger.write({ kind: "start" });
  tell("begins open");
  const { baseUrl, token } = orders;
  const store = await DenoKvStore.open(orders.store);
  tell("ends open");
  const client = new Client({
    baseUrl,
    token,
    encryption: true,
    lease: { duration: 1_000 },
    store: tellingStore(store, ledger),
    fetch: tellingFetch(ledger),
    log: ledgerLogger(ledger),
  });
  client.done.catch((error) => {
    ledger.write({ kind: "failed", what: "client", error: describe(error) });
    Deno.exit(3);
  });
  const begun = entriesOf(past, "begin");
  const done = new Set(entriesOf(past, "done").map(({ number }) => number));
  const next = Math.max(-1, ...begun.map(({ number }) => number)) + 1;
  const victim = new Victim(orders, client, { ledger, next });
  const syncing = client.start({ fillGaps: true });
  const talking = victim.talk(begun.filter(({ number }) => !done.has(number)));
  await Array.fromAsync(Deno.stdin.readable);
  victim.stop();
  await talking;
  await client.stop();
  await syncing;
  await client.close();
  await store.close();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
