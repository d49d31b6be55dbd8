// MATRIX_ADMINS=@you:example.org POLICY_ROOM='!list:example.org' MATRIX_URL=… MATRIX_TOKEN=… deno run --unstable-kv --allow-net=matrix.example.org --allow-env main.ts
import { toRoomId } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { moderation } from "./moderation.ts";

const bot = Bot.fromEnv();
moderation(bot, toRoomId(Deno.env.get("POLICY_ROOM")));
await bot.start();
