/**
 * Tells of a violation.
 *
 * @module
 */

import { play } from "./play.ts";
import { shrink } from "./shrink.ts";
import type { Story } from "./story.ts";

/** Lines of the trace that only say what was on its way. */
const TRAFFIC = /#\d+: (?:answer to )?(?:GET|POST|PUT) v3\/(?:sync|account\/whoami)$| a timer$/;

/** Shrinks a story that goes wrong, and prints what is left of it, and what happens there. */
export async function report(
  story: Story,
  violation: string,
  print: (line: string) => void,
): Promise<void> {
  print(`\nseed ${story.plan.seed}: ${violation}`);
  const least = await shrink(story, violation);
  print(`the least that leads to it, ${least.actions.length} of ${story.actions.length} actions:`);
  print(JSON.stringify(least));
  const { lines, violations } = await play(least, { keeps: true });
  for (const line of lines) if (!TRAFFIC.test(line)) print(`  ${line.slice(0, 400)}`);
  print(`seed ${story.plan.seed}: ${violations.join("; ")}`);
}
