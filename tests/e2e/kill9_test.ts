/**
 * A bot in encrypted rooms is killed at random moments; `deno task kill 200` does the same for longer.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { killRun } from "../../bench/kill/run.ts";
import { peerTest } from "./support/peer_test_case.ts";

const KILLS = 10;
const SEED = 5;

peerTest(
  "A bot that is killed at random moments loses nothing, sends nothing twice and uses no ratchet index twice",
  ["nio"],
  async (server) => {
    const { counts, problems } = await killRun(server, { kills: KILLS, seed: SEED, print() {} });
    assertEquals(problems, []);
    assert(Number(counts["messages of the victim"]) > 0 && Number(counts["messages of peers"]) > 0);
  },
);
