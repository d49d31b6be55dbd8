/**
 * The bot: it sends messages in encrypted rooms, and answers in all, until it is killed, and goes
 * on when it is started again.
 *
 * Before it sends a message of its own, it records its number, which is also its transaction ID.
 * When it starts, it sends again, with that ID, what is not known to have arrived. It answers each
 * message of a peer from a handler. It closes its client when its standard input ends.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Appservice, type Registration } from "@greenroom/matrix/appservice";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import { answerMessages, describe } from "./answering.ts";
import { Ledger } from "./ledger.ts";
import { ledgerLogger } from "./ledger_logger.ts";
import { openStore, type StoreOrders } from "./store_place.ts";
import { report, reportingFetch, reportingStore } from "./progress.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** The bot's only argument. */
export interface BotOrders {
  readonly baseUrl: string;
  readonly token: string;
  /** The user's ID: messages of others are answered. */
  readonly userId: string;
  /** Greenroom's store. */
  readonly store: StoreOrders;
  /** The file of the ledger. */
  readonly ledger: string;
  /** The rooms of its own messages. */
  readonly rooms: readonly RoomID[];
  /** The messages that may not have arrived: numbers and rooms. */
  readonly unknown: readonly (readonly [number: number, roomId: string])[];
  /** The number of its next message. */
  readonly next: number;
  /** Whether it sends no new messages of its own. */
  readonly quiet: boolean;
  /** The loopback port where the homeserver wakes it, or sends transactions; absent: it polls. */
  readonly port?: number;
  /** The registration of the application service that it is. */
  readonly registration?: Registration;
  /** By which sync it reads; absent: by the classic one. An application service does not sync. */
  readonly sync?: "sliding";
  /** Whether that is started, or handles each transaction with its request. */
  readonly stays: boolean;
  /** Whether it has what was quarantined delivered again; absent: that comes again in its own time. */
  readonly redelivers?: boolean;
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

/** How often a bot that is woken makes a pass of its own, as cron would, in milliseconds. */
const TICK_MS = 3_000;
/** How long a pass may take, in milliseconds. */
const PASS_MS = 10_000;

class TalkingBot {
  readonly #orders: BotOrders;
  readonly #client: Client;
  readonly #ledger: Ledger;
  #next: number;
  #stopping = false;

  constructor(orders: BotOrders, client: Client, ledger: Ledger) {
    this.#orders = orders;
    this.#client = client;
    this.#ledger = ledger;
    this.#next = orders.next;
    this.#listen();
  }

  /** Sends what may not have arrived, and then new messages. */
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
    answerMessages(this.#client, { userId: this.#orders.userId, note, tell: report });
  }

  async #sendNext(roomId: RoomID): Promise<void> {
    const number = this.#next++;
    this.#ledger.write({ kind: "begin", number, roomId });
    await this.#send(roomId, number);
  }

  async #send(roomId: RoomID, number: number): Promise<void> {
    for (;;) {
      try {
        const eventId = await this.#client.sendText(roomId, `bot ${number}`, { txnId: `kill-${number}` });
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

/** A bot that gets what is new. */
interface Running {
  readonly client: Client;
  /** Runs until it is ended. */
  run(ending: AbortSignal): Promise<void>;
  /** Closes it. */
  close(): Promise<void>;
}

function serve(port: number, answer: (request: Request) => Promise<Response>): Deno.HttpServer {
  return Deno.serve({ port, hostname: "127.0.0.1", onListen: () => {} }, answer);
}

/** A client that polls, or is woken. */
function ofClient(client: Client, port: number | undefined): Running {
  return {
    client,
    run: port === undefined
      ? async (ending) => {
        ending.addEventListener("abort", () => void client.stop());
        await client.start({ fillGaps: true });
      }
      : (ending) => woken(client, port, ending),
    close: () => client.close(),
  };
}

/** An application service that is started, or handles each transaction with its request. */
function ofAppservice(appservice: Appservice, port: number, stays: boolean): Running {
  return {
    client: appservice.botClient,
    async run(ending) {
      const server = serve(port, appservice.fetch);
      ending.addEventListener("abort", () => void appservice.stop());
      if (stays) await appservice.start();
      else await handling(appservice, ending);
      await server.shutdown();
    },
    close: () => appservice.close(),
  };
}

/** Has the homeserver try again, and handles what is left, as cron would. */
async function handling(appservice: Appservice, ending: AbortSignal): Promise<void> {
  await appservice.ping().catch(() => {}); // it tries again by itself, later
  while (!ending.aborted) {
    await appservice.handlePending().catch(() => {}); // the log has it; the next one may go well
    await delay(TICK_MS, { signal: ending }).catch(() => {});
  }
}

/** Has the bot woken, and makes passes of its own now and then, until it is ended. */
async function woken(client: Client, port: number, ending: AbortSignal): Promise<void> {
  const server = serve(port, client.fetch);
  let isRegistered = false;
  while (!ending.aborted) {
    try {
      await client.syncOnce({ passTimeout: PASS_MS });
      if (!isRegistered) await client.registerWake(`http://127.0.0.1:${port}`);
      isRegistered = true;
    } catch {
      // The log has it; the next one may go well.
    }
    await delay(TICK_MS, { signal: ending }).catch(() => {});
  }
  await server.shutdown();
}

async function main(orders: BotOrders): Promise<void> {
  using ledger = new Ledger(orders.ledger);
  const note = ledger.write.bind(ledger);
  note({ kind: "start" });
  report("begins open");
  const { baseUrl, token } = orders;
  const store = await openStore(orders.store);
  report("ends open");
  const { port, registration, stays } = orders;
  const options = {
    baseUrl,
    encryption: EVERYBODY,
    store: reportingStore(store, note),
    lease: orders.store.kind === "denokv" ? { duration: LEASE_MS } : {},
    fetch: reportingFetch(note),
    log: ledgerLogger(note),
  };
  const wake = { secret: "a secret of the killed bot", passTimeout: PASS_MS };
  const bots = registration === undefined || port === undefined
    ? ofClient(new Client({ ...options, accessToken: token, wake, sync: orders.sync }), port)
    : ofAppservice(
      new Appservice({ ...options, registration, serverName: "localhost", transactionTimeout: PASS_MS }),
      port,
      stays,
    );
  const { client } = bots;
  client.done.catch((error) => {
    ledger.write({ kind: "failed", what: "client", error: describe(error) });
    Deno.exit(3);
  });
  const bot = new TalkingBot(orders, client, ledger);
  report("begins take");
  const ending = new AbortController();
  const syncing = bots.run(ending.signal);
  const talking = bot.talk();
  syncing.catch(() => {}); // `done` rejects too, and says why
  await Array.fromAsync(Deno.stdin.readable);
  bot.stop();
  await talking;
  ending.abort();
  await syncing;
  await bots.close();
  await store.close();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
