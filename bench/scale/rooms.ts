/**
 * A bot in so many rooms: prints what a start after a stop takes, what memory, and what a command.
 *
 * The homeserver is a function that shows the rooms with the first sync, and then one message after the
 * other.
 *
 * @module
 */

import { Bot } from "@greenroom/matrix/bot";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { memoryInUse, processorTime } from "../support/process.ts";

const ME = "@bot:localhost";
const ALICE = "@alice:localhost";
const COMMANDS = 500;
/** Rooms in between two commands: nothing is at hand that would not be for a bot in as many rooms. */
const STEP = 7_919;

/** An account in rooms. */
class Account {
  readonly #rooms: number;
  /** Shows one message more to the sync that waits. */
  #show: ((response: Response) => void) | undefined;
  #shown = 0;
  #answered = Promise.withResolvers<void>();

  constructor(rooms: number) {
    this.#rooms = rooms;
  }

  readonly fetch: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    if (pathname.includes("/send/")) {
      this.#answered.resolve();
      return answer({ event_id: `$answer${this.#shown}` });
    }
    if (pathname.endsWith("/whoami")) return answer({ user_id: ME, device_id: "SCALE" });
    if (!pathname.endsWith("/sync")) return answer({ filter_id: "1", versions: ["v1.11"] });
    const since = searchParams.get("since");
    if (since === null) return answer(this.#all());
    if (since === "s0") return answer({ next_batch: "s1" });
    return new Promise((resolve, reject) => {
      this.#show = resolve;
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  };

  /** Says a command, and waits for its answer. */
  async command(): Promise<void> {
    while (this.#show === undefined) await new Promise((resolve) => setTimeout(resolve));
    const number = ++this.#shown;
    const event = message(`$command${number}`, "!ping");
    const room = `!room${number * STEP % this.#rooms}:localhost`;
    this.#answered = Promise.withResolvers();
    const show = this.#show;
    this.#show = undefined;
    show(
      Response.json({
        next_batch: `n${number}`,
        rooms: { join: { [room]: { timeline: { events: [event] } } } },
      }),
    );
    await this.#answered.promise;
  }

  #all(): object {
    const join = Object.fromEntries(Array.from({ length: this.#rooms }, (_, index) => {
      const state = [
        stateEvent(index, "m.room.create", "", { room_version: "11" }),
        stateEvent(index, "m.room.name", "", { name: `Stage ${index}` }),
        stateEvent(index, "m.room.power_levels", "", { users: { [ALICE]: 100 } }),
        stateEvent(index, "m.room.member", ALICE, { membership: "join" }),
        stateEvent(index, "m.room.member", ME, { membership: "join" }),
      ];
      const timeline = { events: [message(`$first${index}`, "hello")], limited: false };
      return [`!room${index}:localhost`, { state: { events: state }, timeline }];
    }));
    return { next_batch: "s0", rooms: { join } };
  }
}

function answer(body: object): Promise<Response> {
  return Promise.resolve(Response.json(body));
}

function message(eventId: string, body: string): object {
  const content = { msgtype: "m.text", body };
  return { type: "m.room.message", event_id: eventId, sender: ALICE, origin_server_ts: Date.now(), content };
}

function stateEvent(room: number, type: string, stateKey: string, content: object): object {
  return {
    ...{ type, state_key: stateKey, event_id: `$${type}${stateKey}${room}`, sender: ALICE },
    ...{ origin_server_ts: 1, content },
  };
}

/** Starts the bot, does something once it has synced, and closes it. */
async function withBot(account: Account, file: string, use: () => Promise<void>): Promise<void> {
  const store = await SqliteStore.open(file);
  const bot = new Bot({
    ...{
      baseUrl: "http://localhost",
      accessToken: "token",
      mxid: ME,
      deviceId: "SCALE",
      fetch: account.fetch,
    },
    ...{ store, rateLimit: false, log: false },
  });
  bot.command("ping", (c) => c.reply("pong"));
  const running = bot.start({ signals: false });
  await bot.client.ready;
  await use();
  await bot.close();
  await running;
  await store.close();
}

const rooms = Number(Deno.args[0]);
const folder = await Deno.makeTempDir({ prefix: "greenroom-scale-" });
const file = `${folder}/rooms.db`;
const warm = new Account(10);
await withBot(warm, `${folder}/warm.db`, async () => { // what runs for the first time costs more
  for (let command = 0; command < COMMANDS; command++) await warm.command();
});
await withBot(new Account(rooms), file, async () => {});
const account = new Account(rooms);
const start = processorTime();
await withBot(account, file, async () => {
  const started = processorTime() - start;
  const memory = memoryInUse().heap;
  const answering = processorTime();
  for (let command = 0; command < COMMANDS; command++) await account.command();
  const answered = processorTime() - answering;
  console.log(JSON.stringify({
    "restart, CPU ms": started,
    "heap, MB": memory / 1_000_000,
    "command, CPU µs": answered * 1_000 / COMMANDS,
  }));
});
await Deno.remove(folder, { recursive: true });
