// MATRIX_ADMINS=@you:example.org POLICY_ROOM='!list:example.org' MATRIX_URL=… MATRIX_TOKEN=… deno run --unstable-kv --allow-net=matrix.example.org --allow-env main.ts
import { Bot } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { moderation } from "./moderation.ts";

const bot = Bot.fromEnv();
moderation(bot, Deno.env.get("POLICY_ROOM") as RoomID);
await bot.start();
