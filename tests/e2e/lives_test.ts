import { Synapse } from "../../tools/synapse.ts";
import { stories } from "../lives/stories/all.ts";
import { tell } from "../lives/world.ts";
import { synapseHost } from "./support/host.ts";
import { synapseTest } from "./support/synapse.ts";

for (const story of stories) {
  for (const rooms of story.rooms) {
    synapseTest(`Synapse: ${story.name} (rooms ${rooms})`, async (server) => {
      await using own = story.restarts === true ? await Synapse.start() : undefined;
      const restart = async () => await own?.restart();
      await tell(story, rooms === "encrypted", { ...synapseHost(own ?? server), restart });
    });
  }
}
