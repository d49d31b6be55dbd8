/**
 * The program of a killable process: a bot on a file of SQLite, which a test kills, or which kills
 * itself. It reports what it does, line by line.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { Client } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { ProcessSettings } from "./killable_process.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** How long the lease of a killed process lasts, in milliseconds. */
const LEASE_MS = 1_000;
/** How long the handler of `slow` takes, in milliseconds. */
const SLOW_MS = 20_000;

if (import.meta.main) {
  const { baseUrl, token, path, says, encryption, speed = 1 }: ProcessSettings = JSON.parse(
    Deno.args[0] ?? "",
  );
  const say = (line: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  const clock = {
    now: () => Date.now() * speed,
    delay: (ms: number, options?: { signal?: AbortSignal }) => delay(ms / speed, options),
  };
  const store = await SqliteStore.open(path);
  const lease = { duration: LEASE_MS * speed };
  const bot = new Client({
    baseUrl,
    accessToken: token,
    store,
    encryption: encryption && EVERYBODY,
    lease,
    clock,
    log: false,
  });
  const { user_id: own } = await bot.whoami();
  bot.on("m.room.message", async ({ room_id, sender, content: { body } }) => {
    if (sender === own) return;
    if (body === "question") {
      say(`said ${await bot.sendNotice(room_id, says ?? "")}`);
      await new Promise(() => {}); // until it is killed
    }
    say(`begins ${body}`);
    if (body === "poison") Deno.kill(Deno.pid, "SIGKILL");
    if (body === "slow") await clock.delay(SLOW_MS);
    say(`ends ${body}`);
    const [, ms] = /^throws after (\d+)/.exec(body) ?? [];
    if (ms !== undefined) setTimeout(() => reportError(`${body} ms`), Number(ms)); // which nothing catches
  });
  bot.on("EVENT_QUARANTINED", ({ attempts }) => say(`left out ${attempts}`));
  await bot.crypto?.start(); // publishes its keys
  say("up");
  await bot.start({ timeout: 1_000 }); // by the clock of the server
}
