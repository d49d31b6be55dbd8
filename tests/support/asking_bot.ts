/**
 * Has a bot ask, and prints what of the functions that asked it still holds while it
 * waits. A program of its own, for it collects its garbage.
 *
 * @module
 */

import { Bot } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";

const { gc } = globalThis as unknown as { gc: () => void }; // by --expose-gc
const ROUNDS = 200;
const KINDS = ["asks", "goes on after the end"] as const;

const seen = new Map<string, WeakRef<object>>();
await using tester = new BotTester((options) => {
  const bot = new Bot(options);
  bot.command("ask", async (c) => {
    const local = { kind: KINDS[0] };
    seen.set(local.kind, new WeakRef(local));
    await c.ask("What?");
    await c.reply(local.kind);
  });
  bot.command("both", async (c) => {
    const local = { kind: KINDS[1] };
    seen.set(local.kind, new WeakRef(local));
    const late = tester.clock.delay(1_000).then(() => c.send(local.kind)); // the run waits by then
    await c.ask("And?");
    await late;
  });
  return bot;
});
for (const command of ["!ask", "!both"]) await (await tester.room("alice")).say(command);
await tester.settle();
await tester.pass(2_000);

const held = () => [...seen].filter(([, object]) => object.deref() !== undefined).map(([kind]) => kind);
for (let round = 0; round < ROUNDS && held().length > 0; round++) {
  await new Promise((resolve) => setTimeout(resolve)); // only what is not looked at in this turn can go
  gc();
}
console.log(JSON.stringify({ seen: [...seen.keys()], held: held() }));
