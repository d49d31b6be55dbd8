/**
 * Which functions take longer than they did.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { ENCRYPTED, type Entrant } from "../peers/entrants.ts";
import type { PlanName } from "../peers/inputs/plan.ts";
import { takeTurn } from "../peers/turn.ts";
import { preloaded } from "./preloaded.ts";

/** How many functions are shown. */
const SHOWN = 12;

/** What V8 calls it when nothing runs. */
const IDLE = new Set(["(idle) "]);

/** A profile as V8 writes it. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** A table of the functions that lost most, of a contestant that does all jobs before and now. */
export async function profileTable(
  url: string,
  [before, now]: readonly [Entrant, Entrant],
): Promise<string> {
  const [old, current] = [await profileOf(url, before), await profileOf(url, now)];
  const names = new Set([...old.keys(), ...current.keys()]).difference(IDLE);
  const lost = [...names].map((name) => ({ name, old: old.get(name) ?? 0, now: current.get(name) ?? 0 }))
    .toSorted((one, other) => (other.now - other.old) - (one.now - one.old)).slice(0, SHOWN);
  const rows = lost.map(({ name, old, now }) => row([name, number(old), number(now)]));
  return [row(["function", "ms before", "ms now"]), "|---|---:|---:|", ...rows].join("\n");
}

/** Milliseconds in each function itself. */
async function profileOf(url: string, entrant: Entrant): Promise<Map<string, number>> {
  const file = await Deno.makeTempFile({ prefix: "greenroom-guard-" });
  try {
    const plan: PlanName = entrant.args.includes(ENCRYPTED) ? "crypt" : "play";
    const token = `${plan}-profile-${crypto.randomUUID()}`;
    await takeTurn(preloaded(entrant, "profiled.ts", { GREENROOM_PROFILE: file }), { url, token });
    return timesOf(JSON.parse(await Deno.readTextFile(file)));
  } finally {
    await Deno.remove(file);
  }
}

function timesOf({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url } }) => [
    id,
    `${functionName === "" ? "(anonymous)" : functionName} ${url.split("/").slice(-2).join("/")}`,
  ]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? "";
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
  return times;
}
