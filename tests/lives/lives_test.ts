import { InProcessStories } from "./in_process_host.ts";
import { stories } from "./stories/all.ts";
import { casesOf } from "./story.ts";
import { tell } from "./world.ts";

for (const { story, rooms, transport, kind, name } of casesOf(stories)) {
  Deno.test(name, async () => {
    await using host = new InProcessStories();
    await tell(story, { encrypted: rooms === "encrypted", transport, kind }, host);
  });
}
