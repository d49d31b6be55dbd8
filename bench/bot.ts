/**
 * What the bot kit costs: `deno run -A --v8-flags=--expose-gc bench/bot.ts`.
 *
 * A command through the kit beside a bare handler of the client that answers the same, in turns in
 * one run; a conversation's question and answer; and the memory of 1,000 open conversations. The
 * homeserver is a function that has its answers ready, so that no network is in it.
 *
 * @module
 */

import { Client, defineSession, MemoryStore, type Store } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { memoryInUse } from "./support/process.ts";
import { median } from "./support/statistics.ts";

const ME = "@bot:localhost";
const BATCH = 50;
const BATCHES = 40;
const ROUNDS = 9;
const CONVERSATIONS = 1_000;
/** Turns of the event loop before memory is looked at. */
const TURNS = 100;
const MEMORY_ROUNDS = 6;
const NONE = defineSession({ name: "none", per: "room", initial: () => ({}) });

/** A homeserver that says the same texts again and again, and takes what is sent. */
class Script {
  sent = 0;
  readonly done = Promise.withResolvers<void>();
  readonly #expected: number;
  readonly #texts: (
    index: number,
  ) => { readonly room: string; readonly sender: string; readonly body: string };
  #batch = 0;
  #held = Promise.withResolvers<void>();

  constructor(expected: number, texts: (index: number) => { room: string; sender: string; body: string }) {
    this.#expected = expected;
    this.#texts = texts;
  }

  readonly fetch: typeof fetch = async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname.endsWith("/sync")) return Response.json(await this.#sync());
    if (pathname.includes("/send/")) {
      if (++this.sent === this.#expected) this.done.resolve();
      return Response.json({ event_id: `$sent${this.sent}` });
    }
    if (pathname.endsWith("/versions")) return Response.json({ versions: ["v1.11"] });
    if (pathname.endsWith("/whoami")) return Response.json({ user_id: ME, device_id: "BENCH" });
    return Response.json({ filter_id: "1", errcode: "M_NOT_FOUND" });
  };

  /** Ends the wait of the last request. */
  end(): void {
    this.#held.resolve();
  }

  async #sync(): Promise<object> {
    const batch = this.#batch++;
    if (batch > BATCHES) await this.#held.promise;
    const join: Record<string, { timeline: { events: object[] }; state?: object }> = {};
    for (let index = 0; batch > 0 && batch <= BATCHES && index < BATCH; index++) {
      const number = (batch - 1) * BATCH + index;
      const { room, sender, body } = this.#texts(number);
      const event = {
        type: "m.room.message",
        event_id: `$event${number}`,
        sender,
        origin_server_ts: number,
        content: { msgtype: "m.text", body },
      };
      (join[room] ??= { timeline: { events: [] } }).timeline.events.push(event);
    }
    return { next_batch: `s${batch}`, rooms: { join } };
  }
}

const many = (body: string) => (index: number) => ({
  room: `!room${index % 10}:localhost`,
  sender: `@user${index % BATCH}:localhost`,
  body,
});
const options = (script: Script) => ({
  baseUrl: "http://localhost",
  accessToken: "t",
  mxid: ME,
  deviceId: "BENCH",
  fetch: script.fetch,
  store: new MemoryStore(),
  log: false,
} as const);

/** Milliseconds from the start until everything is answered. */
async function timed(script: Script, begin: () => Promise<void>, stop: () => Promise<void>): Promise<number> {
  const start = performance.now();
  const running = begin();
  await script.done.promise;
  const took = performance.now() - start;
  script.end();
  await stop();
  await running;
  return took;
}

/** A bare handler that answers. */
async function bare(): Promise<number> {
  const script = new Script(BATCH * BATCHES, many("!ping"));
  const client = new Client(options(script));
  client.on("m.room.message", async ({ sender, room_id, event_id, content }) => {
    if (sender === client.mxid || content.msgtype !== "m.text" || content.body !== "!ping") return;
    await client.sendMessage(room_id, {
      msgtype: "m.notice",
      body: "pong",
      "m.mentions": { user_ids: [sender] },
      "m.relates_to": { "m.in_reply_to": { event_id } },
    });
  });
  return await timed(script, () => client.start({ ignoreInitialSync: true }), () => client.close());
}

/** The same by the kit. */
async function kit(): Promise<number> {
  const script = new Script(BATCH * BATCHES, many("!ping"));
  const bot = new Bot({ ...options(script), rateLimit: false });
  bot.command("ping", (c) => c.reply("pong"));
  return await timed(script, () => bot.start({ signals: false }), () => bot.close());
}

/** A conversation of a question and an answer for each two messages. */
async function asking(): Promise<number> {
  const script = new Script(BATCH * BATCHES, (index) => ({
    room: `!room${index % BATCH}:localhost`,
    sender: "@user:localhost",
    body: Math.floor(index / BATCH) % 2 === 0 ? "!ask" : "tea",
  }));
  const bot = new Bot({ ...options(script), rateLimit: false });
  bot.command("ask", async (c) => {
    const answer = await c.ask("What?");
    await answer.reply(`One ${answer}`);
  });
  return await timed(script, () => bot.start({ signals: false }), () => bot.close());
}

/** Bytes of the heap that a bot has for each command that it has heard, and answers or asks back. */
async function memory(store: Store, what: "asks back" | "answers"): Promise<number> {
  const used = () => memoryInUse().heap;
  const script = new Script(CONVERSATIONS, (index) => ({
    room: `!room${index % BATCH}:localhost`,
    sender: `@user${Math.floor(index / BATCH)}:localhost`,
    body: index < CONVERSATIONS ? "!ask" : "-",
  }));
  const bot = new Bot({ ...options(script), store, rateLimit: false });
  bot.command("ask", (c) => what === "asks back" ? c.ask("What?") : c.reply("What?"));
  const before = used();
  const running = bot.start({ signals: false });
  await script.done.promise;
  await bot.client.sessions.list(NONE).next(); // after all commits
  // What has settled is let go in later turns.
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
  const after = used();
  script.end();
  await bot.close();
  await running;
  return (after - before) / CONVERSATIONS;
}

/** Bytes of the heap that a conversation takes while it waits, beyond a command that was answered. */
async function waiting(store: () => Promise<Store>): Promise<number> {
  const each: number[] = [];
  for (let round = 0; round < MEMORY_ROUNDS; round++) {
    const stores = [await store(), await store()] as const;
    each.push(await memory(stores[0], "asks back") - await memory(stores[1], "answers"));
    for (const one of stores) await one.close();
  }
  return median(each.slice(1)); // the first warms up
}

const folder = await Deno.makeTempDir();
const stores = [
  ["a store in memory", () => Promise.resolve(new MemoryStore())],
  ["SQLite", () => SqliteStore.open(`${folder}/${crypto.randomUUID()}.db`)],
] as const;
for (const [where, store] of stores) {
  console.log(`an open conversation         ${(await waiting(store) / 1_000).toFixed(1)} kB with ${where}`);
}
await Deno.remove(folder, { recursive: true });
const times = { bare: new Array<number>(), kit: new Array<number>(), asking: new Array<number>() };
for (let round = 0; round < ROUNDS; round++) {
  times.bare.push(await bare());
  times.kit.push(await kit());
  times.asking.push(await asking());
}
/** The middle of the ratios of two that were measured in turns, so that both had the same machine. */
const ratio = (some: number[]) =>
  median(some.slice(1).map((took, index) => took / (times.bare[index + 1] ?? NaN)));
/** The first value warms up. */
const perMessage = (values: number[]) => median(values.slice(1)) / (BATCH * BATCHES) * 1_000;
const [plain, command, step] = [perMessage(times.bare), perMessage(times.kit), perMessage(times.asking)];
console.log(`a bare handler that answers  ${plain.toFixed(0)} µs`);
console.log(`a command of the kit         ${command.toFixed(0)} µs, ${ratio(times.kit).toFixed(2)} ×`);
console.log(`a step of a conversation     ${step.toFixed(0)} µs, ${ratio(times.asking).toFixed(2)} ×`);
