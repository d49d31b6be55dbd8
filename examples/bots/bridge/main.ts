// deno run --allow-env --allow-write main.ts register, and then: deno run --unstable-kv --allow-net --allow-env --allow-read main.ts
import {
  Appservice,
  createRegistration,
  parseRegistration,
  registrationToYaml,
} from "@greenroom/matrix/appservice";
import { KvStore } from "@greenroom/matrix/store/kv";
import { bridge, PREFIX } from "./bridge.ts";
import { ToyNetwork } from "./network.ts";

const {
  MATRIX_URL: baseUrl = "http://localhost:8008",
  MATRIX_SERVER_NAME: serverName = "localhost",
  MATRIX_STORE: path,
  BRIDGE_URL: url = "http://localhost:9000",
  BRIDGE_REGISTRATION: file = "registration.yaml",
  TOY_NETWORK: network,
} = Deno.env.toObject();

if (Deno.args[0] === "register") {
  const made = createRegistration({
    id: "toy",
    url,
    serverName,
    userPrefix: PREFIX,
    senderLocalpart: "toybridge",
  });
  await Deno.writeTextFile(file, registrationToYaml(made), { createNew: true, mode: 0o600 });
  console.log(`Add ${file} to app_service_config_files of the homeserver, and restart it`);
  Deno.exit();
}

const registration = parseRegistration(await Deno.readTextFile(file));
const store = await KvStore.open(path);
const appservice = new Appservice({ registration, serverName, baseUrl, store });
const [hostname = "localhost", port = "7000"] = network?.split(":") ?? [];
if (network === undefined) serveNetwork();

const { bot, start } = bridge(appservice, () => Deno.connect({ hostname, port: Number(port) }));
const server = Deno.serve({ port: Number(new URL(url).port) || 80 }, bot.fetch);
await start();
await server.shutdown();
store.close();

/** A toy network of its own, to try the bridge with. */
async function serveNetwork(): Promise<void> {
  const own = new ToyNetwork();
  console.log("The toy network listens: nc localhost 7000");
  for await (const connection of Deno.listen({ port: 7000 })) own.serve(connection).catch(() => {});
}
