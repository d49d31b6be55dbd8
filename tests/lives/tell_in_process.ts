import { InProcessStories } from "./in_process_host.ts";
import { stories } from "./stories/all.ts";
import { casesOf, type Privacy } from "./story.ts";
import type { Kind } from "./transports/transport.ts";
import { tell } from "./world.ts";

/** Defines the tests of all stories on the in-process homeserver; a file for each part lets them run side by side. */
export function tellInProcess(kind: Kind, rooms: Privacy): void {
  for (const each of casesOf(stories).filter((each) => each.kind === kind && each.rooms === rooms)) {
    Deno.test(each.name, async () => {
      await using host = new InProcessStories();
      await tell(each.story, { encrypted: rooms === "encrypted", transport: each.transport, kind }, host);
    });
  }
}
