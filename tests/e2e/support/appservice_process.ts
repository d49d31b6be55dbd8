/**
 * A process with an application service, which a test kills. It answers each message with its
 * number, as a ghost.
 *
 * Arguments: the registration's file, the homeserver's address, the store's file, the port, and
 * after how many transactions it kills itself, when one is durable and not answered; 0: never.
 *
 * @module
 */

import { defineSession, type Store } from "@greenroom/matrix";
import { Appservice, parseRegistration } from "@greenroom/matrix/appservice";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const [file = "", baseUrl = "", path = "", port = "0", killAfter = "0"] = Deno.args;
const registration = parseRegistration(await Deno.readTextFile(file));
const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });
const sqlite = await SqliteStore.open(path);
let left = Number(killAfter);
const store: Store = {
  getMany: (keys) => sqlite.getMany(keys),
  list: (prefix, options) => sqlite.list(prefix, options),
  lock: (key) => sqlite.lock(key),
  close: () => sqlite.close(),
  async commit(mutations, checks) {
    const isDone = await sqlite.commit(mutations, checks);
    const isTransaction = mutations.some(({ type, key }) => type === "set" && key.at(-2) === "in");
    if (isTransaction && --left === 0) Deno.kill(Deno.pid, "SIGKILL");
    return isDone;
  },
};
const appservice = new Appservice({ registration, baseUrl, serverName: "localhost", store, log: false });
appservice.on("m.room.message", async ({ room_id, content }, { session }) => {
  await appservice.intent("_echo_parrot").sendText(room_id, `${++session.count}: ${content.body}`);
}, { session: counter, sequential: true });
Deno.serve(
  { port: Number(port), hostname: "127.0.0.1", onListen: () => console.log("ready") },
  appservice.fetch,
);
await appservice.start();
