// MATRIX_URL=https://matrix.example.org MATRIX_TOKEN=… deno run --allow-net=matrix.example.org --allow-env examples/ping.ts
import { Bot } from "@greenroom/matrix/bot";
const bot = Bot.fromEnv();
bot.command("ping", (c) => c.reply("**pong**"));
await bot.start();
