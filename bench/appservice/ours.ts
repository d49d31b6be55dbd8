/**
 * Our application service, which counts the messages that it is sent.
 *
 * Arguments: the homeserver's address, the port, the two tokens, after how many messages it says
 * so, and the store: `memory`, or a file of SQLite or of Deno KV.
 *
 * @module
 */

import { MemoryStore } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const [baseUrl = "", port = "0", as_token = "", hs_token = "", counts = "", path = "memory"] = Deno.args;
const left = counts.split(",").map(Number);
const store = path === "memory"
  ? new MemoryStore()
  : await (path.endsWith(".kv") ? KvStore : SqliteStore).open(path);
const made = createRegistration({ id: "bench", url: `http://127.0.0.1:${port}`, serverName: "localhost" });
const registration = { ...made, as_token, hs_token };
const appservice = new Appservice({ registration, serverName: "localhost", baseUrl, store, log: false });
appservice.on("m.room.message", () => {
  left[0] = (left[0] ?? 0) - 1;
  if (left[0] > 0) return;
  left.shift();
  console.log("done");
});
Deno.serve({ port: Number(port), hostname: "127.0.0.1", onListen() {} }, appservice.fetch);
const done = appservice.start({ ping: false });
console.log("ready");
await done;
