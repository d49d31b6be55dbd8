/**
 * Installs what later steps of the gate need, while its first steps run: `.ci/run` starts it in the
 * background, with low priority, and ends it. A step that needs something which is not there yet waits for
 * its lock; one that can't be installed is reported by the steps that need it.
 *
 * @module
 */

import { installJsPeers } from "../../bench/peers/js_peers.ts";
import { installDenokv } from "../denokv.ts";
import { installPeers } from "../peers.ts";
import { installPython, LIBOLM } from "../python.ts";
import { installRuntimeTools } from "../runtimes.ts";
import { siteObstacle } from "../site.ts";
import { installSynapse } from "../synapse.ts";

/** In the order in which they are needed: most of the time they wait for the network. */
const DOWNLOADED = [
  () => installPython(LIBOLM, console.log),
  () => installPeers(console.log),
  () => installJsPeers(console.log),
  siteObstacle,
  () => installSynapse(console.log),
  installRuntimeTools,
];

async function downloads(): Promise<void> {
  for (const install of DOWNLOADED) await install().catch(console.log);
}

await Promise.all([downloads(), installDenokv(console.log).catch(console.log)]);
