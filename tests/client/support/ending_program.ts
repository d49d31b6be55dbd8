/**
 * A program of one kind that says when it has started, and what follows its start.
 *
 * Arguments: the kind, the homeserver's address, and an access token.
 */

import { type Logger, MemoryStore } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const [kind, baseUrl = "", accessToken = ""] = Deno.args;
const file = await Deno.makeTempFile();
const said = (message: string) => {
  if (/The bot has started|can't log in yet|homeserver can't be reached/.test(message)) {
    console.log("started");
  }
};
const log: Logger = { debug() {}, info: said, warn: said, error: said };

if (kind === "Appservice") {
  const url = "http://127.0.0.1:1";
  const registration = createRegistration({ id: "toy", url, serverName: "localhost", userPrefix: "toy_" });
  const store = new MemoryStore();
  await new Appservice({ registration, baseUrl: url, serverName: "localhost", store, log }).start({
    signals: true,
  });
} else {
  const store = await SqliteStore.open(file);
  const account = kind === "Bot that waits for its homeserver"
    ? { baseUrl: "http://127.0.0.1:1", mxid: "@bot:localhost", password: "secret" } as const
    : { baseUrl, accessToken };
  await new Bot({ ...account, store, log }).start();
  if (kind === "Bot after bot") await new Bot({ ...account, store, log }).start();
  store.close();
  await Deno.remove(file);
}
console.log("after start(), with a free store");
