import { inDeepHalf } from "../support/cases.ts";
import { SPELLINGS } from "../support/sliding.ts";
import { InProcessStories } from "./in_process_host.ts";
import { stories } from "./stories/all.ts";
import { type Case, casesOf, type Privacy } from "./story.ts";
import type { Kind } from "./transports/transport.ts";
import { tell } from "./world.ts";

/**
 * Defines the tests of all stories on the in-process homeserver; a file for each part lets them run side by
 * side. By sliding sync the quick half tells a handful; the deep half tells the others, and all in the merged
 * spelling of it.
 */
export function tellInProcess(kind: Kind, rooms: Privacy): void {
  for (const each of casesOf(stories).filter((each) => each.kind === kind && each.rooms === rooms)) {
    for (const spelling of spellingsOf(each)) {
      Deno.test(`${each.name}${spelling === "merged" ? ", as it was merged" : ""}`, async () => {
        await using host = new InProcessStories(SPELLINGS[spelling]);
        await tell(each.story, { encrypted: rooms === "encrypted", transport: each.transport, kind }, host);
      });
    }
  }
}

function spellingsOf({ story, rooms, transport, kind }: Case): readonly (keyof typeof SPELLINGS)[] {
  const slides = transport === "sliding";
  const isQuick = !slides || story.slidesOften === true && rooms === "encrypted" && kind === "client";
  if (!inDeepHalf) return isQuick ? ["synapse"] : [];
  return [...isQuick ? [] : ["synapse"] as const, ...slides ? ["merged"] as const : []];
}
