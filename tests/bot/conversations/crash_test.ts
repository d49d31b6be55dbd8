import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { defineSession } from "@greenroom/matrix/bot";
import type { FaultPlan, OperationLog } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { clientStage } from "../../client/support/stage.ts";
import type { RoomID } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";
import { living } from "./living.ts";

const orders = defineSession({ name: "orders", per: "user", initial: () => ({ count: 0 }) });
const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };
const BREWING = 2_000;

/** A bot that takes orders, and gives each a number, another one each time that it draws it. */
function taking(client: Client): void {
  const bot = living(client);
  bot.command("order", async (c) => {
    const drawn = await c.step(() => crypto.randomUUID());
    const what = await c.ask(`What? (${drawn})`);
    const mine = await c.getSession(orders);
    mine.count++;
    const count = await c.ask("How many?", {
      check: ({ text }) => text === "many" ? "A number." : undefined,
    });
    const taken = await c.getSession(orders);
    await c.reply(`${count} × ${what}, order ${taken.count} (${drawn})`);
    await c.remind({ in: BREWING }, `Your ${what} is ready`);
  });
  bot.start({ signals: false });
}

const SCRIPT = [
  ["!order", "What?"],
  ["tea", "How many?"],
  ["many", "A number."],
  ["2", "2 × tea, order 1"],
] as const;

/** An order from a bot that ends where it is planned, and goes on. */
async function order(isEncrypted: boolean, plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage();
  const encryption = isEncrypted && EVERYBODY;
  const alice = here.client("alice", { encryption });
  const heard: string[] = [];
  const drawn = new Set<string>();
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender !== "@bot:localhost") return;
    heard.push(content.body.replace(/ \((.*)\)$/, (_, value) => (drawn.add(value), "")));
  });
  alice.start();
  await here.settle();
  const bot = new RestartingBot(here, { plans: [plan], setUp: taking, client: { encryption } });
  const initialState = isEncrypted ? [{ type: "m.room.encryption", state_key: "", content: MEGOLM }] : [];
  const { requests } = here.homeserver;
  await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
  const room = await alice.createRoom({ invitees: ["@bot:localhost"], initialState });
  await bot.until(() => here.homeserver.room(room).membership("@bot:localhost") === "join");
  await bot.settle();
  for (const [text, answer] of SCRIPT) {
    await alice.sendText(room, text);
    await bot.until(() => heard.at(-1) === answer);
    await bot.settle();
  }
  await here.clock.tick(BREWING);
  await bot.until(() => heard.at(-1) === "Your tea is ready");
  await bot.settle();
  const name = bot.crashes.join("; ");
  assertEquals(heard, [...SCRIPT.map(([, answer]) => answer), "Your tea is ready"], name);
  const sent = here.homeserver.room(room).messages.filter(({ sender }) => sender === "@bot:localhost");
  assertEquals(sent.length, SCRIPT.length + 1, name); // also of undecryptable ones
  assertEquals(drawn.size, 1, name);
  await bot.client.close();
  await here.clock.tick(10_000); // what crashed processes have begun has an end too
  const left = (await bot.records("session")).map(({ key, value }) => [key.at(-2), value]);
  const inviter = left.filter(([kind]) => kind === "bot.inviters");
  assertEquals(left.filter((each) => !inviter.includes(each)), [["orders", { count: 1 }]], name);
  return bot.log;
}

for (const where of ["a plain", "an encrypted"]) {
  Deno.test(`A conversation and a reminder in ${where} room survive a crash at any moment: each step once`, async () => {
    const { names } = await atEachCrashPoint((plan) => order(where === "an encrypted", plan));
    assert(names.commit.some((name) => name.includes("bot.conversations")), names.commit.join("\n"));
    assert(names.request.some((name) => name.includes("send/m.room")), names.request.join("\n"));
  });
}

Deno.test("A stream that comes in other pieces after a crash at any moment reads whole in the end, in one message", async () => {
  await atEachCrashPoint(tell);
});

/** What is told by a process: the same, in pieces of its own. */
const TALES = [["one", " two", " three", " four"], ["one tw", "o thr", "ee f", "our"]] as const;

/** A tale of a bot that ends where it is planned, and goes on. */
async function tell(plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage();
  const alice = here.client("alice");
  alice.start();
  await here.settle();
  let room: RoomID | undefined;
  /** The bot's messages, as they read now. */
  const texts = (): string[] => {
    const now = new Map<string, string>();
    if (room === undefined) return [];
    for (const { sender, event_id, content } of here.homeserver.room(room).messages) {
      if (sender !== "@bot:localhost") continue;
      const { rel_type, event_id: target } = content["m.relates_to"] as Record<string, string>;
      const isEdit = rel_type === "m.replace" && target !== undefined;
      const { body } = (isEdit ? content["m.new_content"] : content) as { body: string };
      now.set(isEdit ? target : event_id, body);
    }
    return [...now.values()];
  };
  let lives = 0;
  const bot = new RestartingBot(here, {
    plans: [plan],
    setUp(client, process) {
      const pieces = TALES[lives++ % TALES.length] ?? [];
      const tale = living(client);
      tale.command("tell", (c) =>
        c.stream(
          (async function* () {
            for (const piece of pieces) {
              yield piece;
              const { log } = process;
              const sent = log.count("request");
              // The next piece comes when this one was sent.
              while (log.count("request") === sent) await client.api.clock.delay(1);
            }
          })(),
          { interval: 0 },
        ));
      tale.start({ signals: false });
    },
  });
  await bot.until(() =>
    here.homeserver.requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost")
  );
  const made = room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await bot.until(() => here.homeserver.room(made).membership("@bot:localhost") === "join");
  await bot.settle();
  await alice.sendText(made, "!tell");
  await bot.until(() => texts().includes("one two three four"));
  await bot.settle();
  await here.clock.tick(10_000);
  await bot.settle();
  assertEquals(texts(), ["one two three four"], bot.crashes.join("; "));
  await bot.client.close();
  return bot.log;
}
