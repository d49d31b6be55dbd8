/**
 * A bot of the kit that is killed: it asks in several steps, confirms, counts in sessions, reminds,
 * streams, and says each minute that it has begun.
 *
 * It closes when its standard input ends.
 *
 * @module
 */

import { ValueError } from "@greenroom/matrix";
import { Appservice } from "@greenroom/matrix/appservice";
import { Bot, type BotBehaviour, defineSession } from "@greenroom/matrix/bot";
import { delay } from "@std/async/delay";
import { EVERYBODY } from "../../../tests/support/everybody.ts";
import type { BotOrders } from "../bot.ts";
import { Ledger } from "../ledger.ts";
import { ledgerLogger } from "../ledger_logger.ts";
import { report, reportingFetch, reportingStore } from "../progress.ts";
import { openStore } from "../store_place.ts";
import { kitSays } from "./script.ts";

/** How long a restart waits for the device if the store has no locks, in milliseconds. */
const LEASE_MS = 1_000;
/** How often one that does not stay makes a pass, as cron would, in milliseconds. */
const TICK_MS = 2_000;
const PASS_MS = 10_000;
/** How often it looks for what was quarantined, in milliseconds. */
const REDELIVERY_MS = 2_000;
/** When a reminder is due at the latest, in milliseconds. */
const BREWING_MS = 6_000;
/** The most time between two pieces of a stream, and between its edits, in milliseconds. */
const PIECE_MS = 150;
const EDIT_MS = 200;

const orders = defineSession({ name: "orders", per: "room", initial: () => ({ taken: 0 }) });

function teach(bot: Bot, { ledger, minuteRoom }: { ledger: Ledger; minuteRoom: BotOrders["rooms"][number] }) {
  const note = ledger.write.bind(ledger);
  bot.use(async (c, next) => {
    report("begins answer");
    await next();
    report("ends answer");
    if ("event_id" in c.event) {
      note({ kind: "answered", eventId: String(c.event.event_id), text: c.text, replyId: "" });
    }
  });
  bot.command("order <number>", async (c) => {
    const number = Number(c.args.number);
    const token = await c.step(() => {
      const value = crypto.randomUUID().slice(0, 8);
      note({ kind: "once", number, value });
      return value;
    });
    const what = await c.ask(kitSays.asks(number, token));
    const room = await c.getSession(orders);
    const count = ++room.taken;
    const question = kitSays.confirms(number, { what: what.text, count });
    const isSure = await c.confirm(question, { clearReactions: true }); // half of the people answer so
    await c.reply(kitSays.takes(number, { token, count, isSure }));
    const after = Math.random() * BREWING_MS;
    note({ kind: "reminds", number, due: Date.now() + after });
    await c.remind({ in: after }, { name: "ready", data: number });
  });
  bot.reminder("ready", (c) => c.send(kitSays.reminds(Number(c.data), c.due)));
  bot.command("tell <number>", async (c) => {
    const variant = crypto.randomUUID().slice(0, 8); // no model says the same twice
    await c.stream(
      (async function* () {
        for (const piece of kitSays.tells(Number(c.args.number), variant)) {
          yield piece;
          await delay(Math.random() * PIECE_MS);
        }
      })(),
      { interval: EDIT_MS },
    );
  });
  bot.every("* * * * *", (c) => c.in(minuteRoom).send(kitSays.minute(c.due)));
  bot.client.on("m.room.message", ({ sender, event_id: eventId, content: { body } }) => {
    if (sender !== bot.client.mxid) note({ kind: "received", eventId, body });
  });
  bot.client.on("UNDECRYPTABLE", ({ event: { event_id: eventId }, code, reason }) => {
    note({ kind: "undecryptable", eventId, code, reason: reason.message });
  });
  bot.client.on("EVENT_QUARANTINED", ({ id: eventId, attempts }) => {
    note({ kind: "quarantined", eventId, attempts });
  });
}

async function main(order: BotOrders): Promise<void> {
  using ledger = new Ledger(order.ledger);
  const note = ledger.write.bind(ledger);
  note({ kind: "start" });
  report("begins open");
  const store = await openStore(order.store);
  report("ends open");
  const { baseUrl, token, port, registration, stays } = order;
  const behaviour: BotBehaviour = { rateLimit: false };
  const options = {
    baseUrl,
    encryption: EVERYBODY,
    store: reportingStore(store, note),
    lease: order.store.kind === "denokv" ? { duration: LEASE_MS } : {},
    fetch: reportingFetch(note),
    log: ledgerLogger(note),
  };
  const wake = { secret: "a secret of the killed bot", passTimeout: PASS_MS };
  const bot = registration === undefined
    ? new Bot({ ...options, ...behaviour, accessToken: token, wake, sync: order.sync })
    : new Bot({
      ...behaviour,
      appservice: new Appservice({
        ...options,
        registration,
        serverName: "localhost",
        transactionTimeout: PASS_MS,
      }),
    });
  const [minuteRoom] = order.rooms;
  if (minuteRoom === undefined) throw new Error("Cannot run the bot: it needs a room");
  teach(bot, { ledger, minuteRoom });
  bot.client.done.catch((error) => {
    note({ kind: "failed", what: "client", error: String(error) });
    Deno.exit(3);
  });
  report("begins take");
  const ending = new AbortController();
  const running = (registration === undefined ? port === undefined : stays)
    ? started(bot, port, ending.signal)
    : woken(bot, { port, isPushed: registration !== undefined, ending: ending.signal });
  running.catch(() => {}); // `done` rejects too, and says why
  if (order.redelivers) redeliver(bot, ending.signal);
  await Array.fromAsync(Deno.stdin.readable);
  ending.abort();
  await running;
  await bot.close();
  await store.close();
}

/**
 * Has what was quarantined, since so many processes were killed in it, delivered again, as an operator would.
 */
async function redeliver({ client }: Bot, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    for (const { id } of await client.quarantine.list()) {
      await client.quarantine.redeliver(id).catch((error) => {
        if (!(error instanceof ValueError)) throw error; // it has been tried by itself meanwhile
      });
    }
    await delay(REDELIVERY_MS, { signal: ending }).catch(() => {});
  }
}

function serve(bot: Bot, port: number | undefined): Deno.HttpServer | undefined {
  return port === undefined
    ? undefined
    : Deno.serve({ port, hostname: "127.0.0.1", onListen: () => {} }, bot.fetch);
}

/** Polls, or is sent transactions and stays. */
async function started(bot: Bot, port: number | undefined, ending: AbortSignal): Promise<void> {
  const server = serve(bot, port);
  ending.addEventListener("abort", () => void bot.stop());
  await bot.start({ signals: false });
  await server?.shutdown();
}

/** Has each request bring what is new, and makes passes as cron would. */
async function woken(
  bot: Bot,
  { port, isPushed, ending }: {
    readonly port: number | undefined;
    readonly isPushed: boolean;
    readonly ending: AbortSignal;
  },
): Promise<void> {
  const server = serve(bot, port);
  let isRegistered = isPushed;
  while (!ending.aborted) {
    try {
      if (isPushed) await bot.fetch(new Request(`http://127.0.0.1:${port}/tick`));
      else await bot.syncOnce({ passTimeout: PASS_MS });
      if (!isRegistered) await bot.client.registerWake(`http://127.0.0.1:${port}`);
      isRegistered = true;
    } catch {
      // The log has it; the next one may go well.
    }
    await delay(TICK_MS, { signal: ending }).catch(() => {});
  }
  await server?.shutdown();
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));
