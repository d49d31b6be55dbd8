/**
 * A bot in a process of its own, which writes what it receives, answers and logs to standard
 * output, one JSON array a line.
 *
 * Arguments: the homeserver's address; the class of the store and its file; `signals` if it is to
 * stop cleanly; and the access token of each bot.
 *
 * It answers messages; "slow" when it is sent SIGUSR1. After "stop" it stops, but the process goes
 * on, and after "stay" it goes on when a signal has ended the bots.
 */

import { Client, type Logger } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const [baseUrl, kind, path = "", signals, ...tokens] = Deno.args;
const encoder = new TextEncoder();
const say = (...line: unknown[]) => Deno.stdout.writeSync(encoder.encode(`${JSON.stringify(line)}\n`));
const logged = (message: string) => say("log", message);
const log: Logger = { debug() {}, info: logged, warn: logged, error: logged };

const told = Promise.withResolvers<void>();
Deno.addSignalListener("SIGUSR1", () => told.resolve());
const otherWork = setInterval(() => {}, 2 ** 30);
let staysAlive = false;

const store = await (kind === "SqliteStore" ? SqliteStore : KvStore).open(path);
for (const token of tokens) {
  const bot = new Client({ baseUrl, accessToken: token, store, log, closeTimeout: 600_000 });
  bot.on("m.room.message", async ({ room_id, sender, content: { body } }) => {
    if (sender === bot.mxid) return;
    say("heard", `${body} by ${bot.mxid}`);
    if (body === "slow") await told.promise;
    await bot.sendNotice(room_id, `${body}, said ${bot.mxid}`);
    say("answered", `${body} by ${bot.mxid}`);
    staysAlive ||= body === "stop" || body === "stay";
    if (body === "stop") bot.stop();
  });
  bot.start({ signals: signals === "signals" }).then(() => {
    say("stopped", `${bot.mxid}`);
    if (!staysAlive) clearInterval(otherWork);
  });
}
