/**
 * Finds the least of a story that still goes wrong in the same way.
 *
 * @module
 */

import type { Action } from "./actions/action.ts";
import { play } from "./play.ts";
import type { Story } from "./story.ts";

/** How often a story is played at most. */
const MOST_PLAYS = 400;

/** What kind of violation it is: without the numbers and names that differ between two of them. */
export function kindOf(violation: string): string {
  return violation.replaceAll(/[$!@]\S+|"[^"]*"|\b(?:person|bot)\d+\.\d+|\d+/g, "…");
}

/** Leaves out of a story what the violation does not need. */
export async function shrink(story: Story, violation: string): Promise<Story> {
  const wanted = kindOf(violation);
  let plays = 0;
  const stillFails = async (candidate: Story): Promise<boolean> => {
    if (++plays > MOST_PLAYS) return false;
    const { violations } = await play(candidate);
    return violations.some((each) => kindOf(each) === wanted);
  };
  let best = story;
  for (let size = Math.ceil(best.actions.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = 0; at < best.actions.length;) {
      const candidate = { ...best, actions: best.actions.toSpliced(at, size) };
      if (await stillFails(candidate)) best = candidate;
      else at += size;
    }
  }
  for (const smaller of smallerPlans(best)) {
    const candidate = { ...best, plan: smaller(best.plan) };
    if (await stillFails(candidate)) best = candidate;
  }
  for (let at = 0; at < best.actions.length; at++) {
    for (const simpler of simplerThan(best.actions[at] as Action)) {
      const candidate = { ...best, actions: best.actions.with(at, simpler) };
      if (await stillFails(candidate)) best = candidate;
    }
  }
  return best;
}

/** Changes that make a plan smaller, each of what those before have left. */
function* smallerPlans({ plan: { aims = [], quirks = [], rooms, devices } }: Story): Generator<Smaller> {
  for (let at = quirks.length - 1; at >= 0; at--) {
    yield (plan) => ({ ...plan, quirks: (plan.quirks ?? []).toSpliced(at, 1) });
  }
  for (let at = aims.length - 1; at >= 0; at--) {
    yield (plan) => ({ ...plan, aims: (plan.aims ?? []).toSpliced(at, 1) });
  }
  for (let at = rooms.length - 1; at > 0; at--) yield (plan) => ({ ...plan, rooms: plan.rooms.slice(0, at) });
  for (let at = 0; at < devices.length; at++) {
    if ((devices[at] ?? 1) > 1) yield (plan) => ({ ...plan, devices: plan.devices.with(at, 1) });
  }
}

/** Makes a plan smaller. */
type Smaller = (plan: Story["plan"]) => Story["plan"];

function* simplerThan(action: Action): Generator<Action> {
  for (const name of ["after", "what", "where", "who"] as const) {
    if (action[name] > 0) yield { ...action, [name]: 0 };
  }
}
