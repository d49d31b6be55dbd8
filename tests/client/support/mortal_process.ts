/**
 * A bot in a process of its own, on a file of SQLite, which a test kills. It says what it does, line by line.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { ProcessSettings } from "./process_bot.ts";

/** A process that is killed can't let go of the device: the next has it that soon. */
const LEASE = { duration: 1_000 };

if (import.meta.main) {
  const { baseUrl, token, path, says, encryption }: ProcessSettings = JSON.parse(Deno.args[0] ?? "");
  const say = (line: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  const store = await SqliteStore.open(path);
  const bot = new Client({ baseUrl, token, store, encryption, lease: LEASE });
  bot.on("m.room.message", async ({ room_id, sender, content: { body } }) => {
    if (sender === (await bot.whoami()).user_id) return;
    if (body === "question") say(`said ${await bot.sendNotice(room_id, says ?? "")}`);
    else say(`heard ${body}`);
    if (body === "question" || body === "slow") await new Promise(() => {}); // until it is killed
  });
  await bot.crypto?.start(); // from then on others can encrypt for it
  say("up");
  await bot.start();
}
