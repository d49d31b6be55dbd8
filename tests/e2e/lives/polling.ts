/**
 * Stories of bots that poll, on Synapse: in several files, since a file is played one test after the other.
 *
 * @module
 */

import type { Kind } from "../../lives/transports/transport.ts";
import { Synapse } from "../../../tools/synapse.ts";
import { stories } from "../../lives/stories/all.ts";
import { casesOf } from "../../lives/story.ts";
import { type StoryHost, tell } from "../../lives/world.ts";
import { synapseHost } from "../support/host.ts";
import { synapseTest } from "../support/synapse.ts";

/** A Synapse that may be restarted: the one that the gate keeps for that, or else a new one. */
async function restartable(): Promise<StoryHost & AsyncDisposable> {
  const [baseUrl, sharedSecret, control] = ["URL", "SECRET", "CONTROL"].map((name) =>
    Deno.env.get(`GREENROOM_RESTARTABLE_${name}`)
  );
  if (baseUrl !== undefined && sharedSecret !== undefined && control !== undefined) {
    const server = { baseUrl, sharedSecret, serverName: "localhost" };
    return {
      ...synapseHost(server),
      restart: async () => void await (await fetch(control)).body?.cancel(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const own = await Synapse.start();
  return {
    ...synapseHost(own),
    restart: () => own.restart(),
    [Symbol.asyncDispose]: () => own.stop(),
  };
}

/**
 * Tells the stories in which the server is restarted, or else those with bots of a kind.
 *
 * @param by How they sync. Default: by the classic sync.
 */
export function tellPolling(which: "restarted" | Kind, by: "polling" | "sliding" = "polling"): void {
  for (const { story, rooms, transport, kind, name } of casesOf(stories)) {
    if (transport !== by) continue; // wakes_test.ts, transactions_test.ts
    if (which !== (story.restarts === true ? "restarted" : kind)) continue;
    synapseTest(`Synapse: ${name}`, async (server) => {
      await using own = story.restarts === true ? await restartable() : undefined;
      await tell(story, { encrypted: rooms === "encrypted", transport, kind }, own ?? synapseHost(server));
    });
  }
}
