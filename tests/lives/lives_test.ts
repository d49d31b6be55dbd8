import { InProcessHost } from "../operations/support/in_process.ts";
import { stories } from "./stories/all.ts";
import { type StoryHost, tell } from "./world.ts";

/** The in-process homeserver; its restart is that of the machine in front of it, since it keeps nothing on a disk. */
class Host extends InProcessHost implements StoryHost {
  restart(): Promise<void> {
    return Promise.resolve();
  }
}

for (const story of stories) {
  for (const rooms of story.rooms) {
    Deno.test(`${story.name} (rooms ${rooms})`, async () => {
      await using host = new Host();
      await tell(story, rooms === "encrypted", host);
    });
  }
}
