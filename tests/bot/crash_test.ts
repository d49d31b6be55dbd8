import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { Bot, defineSession } from "@greenroom/matrix/bot";
import type { FaultPlan } from "../client/support/crash.ts";
import { RestartingBot } from "../client/support/restarting_bot.ts";
import { clientStage } from "../client/support/stage.ts";
import { EVERYBODY } from "../support/everybody.ts";

const orders = defineSession({ name: "orders", per: "user", initial: () => ({ count: 0 }) });
const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };
const BREWING = 2_000;

/** A bot that takes orders, and lives in the client of a process that crashes. */
function taking(client: Client): void {
  const forever = new Promise<void>(() => {});
  const bot = new Bot({
    appservice: {
      bot: client,
      fetch: () => Promise.reject(new TypeError("nobody asks")),
      start: () => forever,
      stop: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  });
  bot.command("order", async (c) => {
    const what = await c.ask("What?");
    const mine = await c.session(orders);
    mine.count++;
    const count = await c.ask("How many?", {
      check: ({ text }) => text === "many" ? "A number." : undefined,
    });
    const taken = await c.session(orders);
    await c.reply(`${count} × ${what}, order ${taken.count}`);
    await c.remind(BREWING, `Your ${what} is ready`);
  });
  bot.start();
}

const SCRIPT = [
  ["!order", "What?"],
  ["tea", "How many?"],
  ["many", "A number."],
  ["2", "2 × tea, order 1"],
] as const;

/** An order from a bot that ends where it is planned, and goes on. */
async function order(isEncrypted: boolean, plans: readonly FaultPlan[]): Promise<string[]> {
  await using here = clientStage();
  const encryption = isEncrypted && EVERYBODY;
  const alice = here.client("alice", { encryption });
  const heard: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") heard.push(content.body);
  });
  alice.start();
  await here.settle();
  const bot = new RestartingBot(here, { plans, setUp: taking, client: { encryption } });
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
  await bot.client.close();
  await here.clock.tick(10_000); // what crashed processes have begun has an end too
  const left = (await bot.records("session")).map(({ key, value }) => [key.at(-2), value]);
  const inviter = left.filter(([kind]) => kind === "bot.inviters");
  assertEquals(left.filter((each) => !inviter.includes(each)), [["orders", { count: 1 }]], name);
  return bot.crashes;
}

for (const where of ["plain", "encrypted"] as const) {
  for (const operation of ["commit", "request"] as const) {
    for (const takesEffect of [false, true]) {
      const when = `${takesEffect ? "after" : "before"} any ${operation}`;
      Deno.test(`A conversation and a reminder in a ${where} room survive a crash ${when}: each step once`, async () => {
        const crashes: string[] = [];
        for (let at = 1;; at++) {
          const [crash] = await order(where === "encrypted", [{ operation, takesEffect, at }]);
          if (crash === undefined) break;
          crashes.push(crash);
        }
        const part = operation === "commit" ? "bot.conversations" : "send/m.room";
        assert(crashes.some((crash) => crash.includes(part)), crashes.join("\n"));
      });
    }
  }
}
