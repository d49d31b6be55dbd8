// MATRIX_URL=https://matrix.example.org MATRIX_TOKEN=… deno run --unstable-kv --allow-net --allow-env main.ts
import { Bot } from "@greenroom/matrix/bot";
import { feed } from "./feed.ts";

const { PORT = "8000", BOT_URL, FEED_ALLOW, FEED_SCHEDULE: schedule, DENO_TIMELINE: timeline } = Deno.env
  .toObject();
const address = BOT_URL ?? `http://localhost:${PORT}`;
const bot = Bot.fromEnv({ admins: { powerLevel: 50 } });
const answer = feed(bot, { address, schedule, allow: FEED_ALLOW?.split(/[\s,]+/) });
const server = Deno.serve({ port: Number(PORT) }, answer);

if (timeline === undefined) {
  await bot.start();
  await server.shutdown();
} else { // no process stays on Deploy: the homeserver wakes the bot, and cron has it look at feeds
  let isRegistered = false;
  if (timeline === "production") { // previews must not answer as well
    Deno.cron("look at feeds", "* * * * *", async () => {
      await bot.syncOnce({ passTimeout: 50_000 });
      if (!isRegistered) await bot.client.registerWake(address);
      isRegistered = true;
    });
  }
  Deno.addSignalListener("SIGINT", () => void bot.close().then(() => Deno.exit(130)));
}
