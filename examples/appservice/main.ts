/**
 * A toy bridge: the network is this terminal. See README.md.
 *
 * @module
 */

import { createRegistration, parseRegistration, registrationToYaml } from "@greenroom/matrix/appservice";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { bridge } from "./bridge.ts";

const FILE = "registration.yaml";
const serverName = Deno.env.get("MATRIX_SERVER_NAME") ?? "localhost";
const baseUrl = Deno.env.get("MATRIX_URL") ?? "http://localhost:8008";
const url = Deno.env.get("BRIDGE_URL") ?? "http://localhost:9000";

if (Deno.args[0] === "register") {
  const made = createRegistration({ id: "toy", url, serverName, userPrefix: "toy_", aliasPrefix: "toy_" });
  await Deno.writeTextFile(FILE, registrationToYaml(made), { createNew: true, mode: 0o600 });
  console.log(`Add ${FILE} to app_service_config_files of the homeserver, and restart it`);
  Deno.exit();
}

const registration = parseRegistration(await Deno.readTextFile(FILE));
const store = await SqliteStore.open("toy.db");
const options = { registration, serverName, baseUrl, store };
const { appservice, alias, said } = bridge(options, {
  say: (name, text) => console.log(`<${name}> ${text}`),
});
console.log(`Join ${alias}; write "nick: text" here to speak there`);
readTerminal();
await appservice.start({ port: Number(new URL(url).port), signals: true });
await store.close();
Deno.exit(); // the terminal is still read

/** Says in the room what is written here. */
async function readTerminal(): Promise<void> {
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    for (const line of chunk.split("\n")) {
      const [, nick, text] = /^([^:]+): *(.+)$/.exec(line) ?? [];
      if (nick !== undefined && text !== undefined) await said(nick, text);
    }
  }
}
