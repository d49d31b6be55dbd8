import { InProcessStories } from "./in_process_host.ts";
import { stories } from "./stories/all.ts";
import { tell } from "./world.ts";

for (const story of stories) {
  for (const rooms of story.rooms) {
    for (const transport of story.transports ?? ["polling"]) {
      const by = transport === "polling" ? "" : `, by ${transport}`;
      Deno.test(`${story.name} (rooms ${rooms}${by})`, async () => {
        await using host = new InProcessStories();
        await tell(story, { encrypted: rooms === "encrypted", transport }, host);
      });
    }
  }
}
