/**
 * A bot is killed at random moments; `deno task kill 500`, with `--kit` for one of the kit, does
 * the same for longer.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { appserviceSynapse } from "../../bench/kill/appservice_synapse.ts";
import { freePort } from "../../tools/free_port.ts";
import { killKitRun } from "../../bench/kill/kit/run.ts";
import { killRun } from "../../bench/kill/run.ts";
import type { Way } from "../../bench/kill/setup.ts";
import type { StoreKind } from "../../bench/kill/store_place.ts";
import { withoutDenokv } from "./support/denokv.ts";
import { peerTest } from "./support/peer/peer_test_case.ts";
import { type SynapseServer, synapseTest } from "./support/synapse.ts";

const KILLS = 10;

async function survives(
  server: SynapseServer,
  store: StoreKind,
  { seed, way }: { readonly seed: number; readonly way?: Way },
): Promise<void> {
  const { counts, problems } = await killRun(server, { kills: KILLS, seed, store, way, print() {} });
  assertEquals(problems, []);
  assert(Number(counts["messages of the bot"]) > 0 && Number(counts["messages of peers"]) > 0);
}

peerTest(
  "A bot that is killed at random moments answers each message once, loses nothing, and uses no ratchet index twice",
  ["nio"],
  (server) => survives(server, "kv", { seed: 5 }),
);

peerTest(
  "So does one that does not poll: the homeserver wakes it",
  ["nio"],
  (server) => survives(server, "kv", { seed: 7, way: { port: freePort() } }),
);

peerTest(
  "So does an application service, which is sent transactions",
  ["nio"],
  async () => {
    await using own = await appserviceSynapse(freePort());
    await survives(own.synapse, "kv", { seed: 8, way: own.way });
  },
);

if (!withoutDenokv) {
  peerTest(
    "So does one whose store is on a denokv, which is killed too",
    ["nio"],
    (server) => survives(server, "denokv", { seed: 6 }),
  );
}

async function keepsItsWord(server: SynapseServer, seed: number, way?: Way): Promise<void> {
  const { counts, problems } = await killKitRun(server, { kills: KILLS, seed, store: "kv", way, print() {} });
  assertEquals(problems, []);
  assert(Number(counts.orders) > 0 && Number(counts["messages of the bot"]) > 0);
}

synapseTest(
  "A bot of the kit that is killed at random moments takes each step of a conversation once, reminds once, and ends its streams",
  (server) => keepsItsWord(server, 5),
);

synapseTest(
  "So does one of the kit that does not poll",
  (server) => keepsItsWord(server, 7, { port: freePort() }),
);

synapseTest("So does one of the kit in an application service", async () => {
  await using own = await appserviceSynapse(freePort());
  await keepsItsWord(own.synapse, 8, own.way);
});
