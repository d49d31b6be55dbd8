// MATRIX_URL=https://matrix.example.org MATRIX_TOKEN=… deno run --unstable-kv --allow-net=matrix.example.org --allow-env main.ts
import { Bot } from "@greenroom/matrix/bot";
import { reminders } from "./reminders.ts";

const bot = Bot.fromEnv();
reminders(bot);
await bot.start();
