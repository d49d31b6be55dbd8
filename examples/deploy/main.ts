/**
 * A bot on Deno Deploy: it counts what is said in each room, encrypted rooms too.
 *
 * The homeserver wakes it with each event, and cron makes a pass every minute, for what nobody tells of. It
 * needs a database of Deno KV, and of the environment: `MATRIX_URL`, `MATRIX_TOKEN` (of a login of its own),
 * `MATRIX_WAKE_SECRET` (random, at least 16 characters), and `BOT_URL`, where it is deployed. With
 * `MATRIX_USER` and `MATRIX_DEVICE` a start makes one request less. Encryption is loaded beside the first
 * requests, and only by what needs it.
 *
 * @module
 */

import { Client, defineSession } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import type { UserID } from "@greenroom/matrix/types";

function needed(name: string): string {
  const value = Deno.env.get(name);
  if (value === undefined || value === "") {
    throw new TypeError(`Cannot start: set ${name} in the environment`);
  }
  return value;
}

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });

const bot = new Client({
  baseUrl: needed("MATRIX_URL"),
  accessToken: needed("MATRIX_TOKEN"),
  mxid: Deno.env.get("MATRIX_USER") as UserID | undefined,
  deviceId: Deno.env.get("MATRIX_DEVICE"),
  store: await KvStore.open(Deno.env.get("DENO_KV_URL")), // without it: the app's own database
  lease: { duration: 5_000 }, // so long do others wait if an instance is evicted in the middle of a pass
  encryption: true,
  wake: { secret: needed("MATRIX_WAKE_SECRET") },
});

bot.on("INVITE", async ({ room_id }) => void await bot.joinRoom(room_id));
bot.on("m.room.message", async ({ sender, room_id, content }, { session }) => {
  if (sender === bot.mxid || content.msgtype !== "m.text") return;
  await bot.sendNotice(room_id, `${++session.count}: ${content.body}`);
}, { session: counter, sequential: true });

Deno.serve(bot.fetch);

let isRegistered = false;
// Each timeline of a project runs its crons: previews of it must not answer as well.
if (Deno.env.get("DENO_TIMELINE") === "production") {
  Deno.cron("handle what nobody tells of", "* * * * *", async () => {
    await bot.syncOnce({ passTimeout: 50_000 });
    if (!isRegistered) await bot.registerWake(needed("BOT_URL"));
    isRegistered = true;
  });
}

// Before it stops an instance, Deploy says so. What is being handled comes again in another.
Deno.addSignalListener("SIGINT", () => void bot.close().then(() => Deno.exit(130)));
