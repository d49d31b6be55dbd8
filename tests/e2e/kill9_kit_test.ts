/**
 * A bot of the kit is killed at random moments; `deno task kill 200 --kit` does the same for longer.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { appserviceSynapse } from "../../bench/kill/appservice_synapse.ts";
import { freePort } from "../../bench/kill/free_port.ts";
import { killKitRun } from "../../bench/kill/kit/run.ts";
import type { Way } from "../../bench/kill/setup.ts";
import { type SynapseServer, synapseTest } from "./support/synapse.ts";

const KILLS = 10;

async function survives(server: SynapseServer, seed: number, way?: Way): Promise<void> {
  const { counts, problems } = await killKitRun(server, { kills: KILLS, seed, store: "kv", way, print() {} });
  assertEquals(problems, []);
  assert(Number(counts.orders) > 0 && Number(counts["messages of the bot"]) > 0);
}

synapseTest(
  "A bot of the kit that is killed at random moments takes each step of a conversation once, reminds once, and ends its streams",
  (server) => survives(server, 5),
);

synapseTest(
  "So does one that does not poll: the homeserver wakes it",
  (server) => survives(server, 7, { port: freePort() }),
);

synapseTest("So does one in an application service, which is sent transactions", async () => {
  await using own = await appserviceSynapse(freePort());
  await survives(own.synapse, 8, own.way);
});
