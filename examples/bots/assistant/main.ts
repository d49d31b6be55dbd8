// MODEL_URL=http://localhost:11434/v1 MODEL=llama3.2 MATRIX_URL=… MATRIX_TOKEN=… deno run --unstable-kv --allow-net --allow-env main.ts
import { Bot } from "@greenroom/matrix/bot";
import { assistant } from "./assistant.ts";

const { MODEL_URL: url = "http://localhost:11434/v1", MODEL: model = "llama3.2", MODEL_KEY: key } = Deno.env
  .toObject();
const bot = Bot.fromEnv();
assistant(bot, { url, model, key });
await bot.start();
