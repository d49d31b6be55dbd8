/**
 * The in-process homeserver and Synapse, asked the same: where do their answers differ?
 *
 * `deno task twin [--requests=1000] [--minutes=60] [--seed=1] [--jobs=3] [--shrink=3] [--keep=FOLDER]`
 *
 * Each seed is a sequence of requests by new users: valid, half valid and invalid, some of them two
 * at the same time, and at the end those that show the state that is left. Both are asked, what
 * differs by nature is taken out, and answers that differ are grouped, counted and printed, the
 * most frequent ones with the fewest requests that it takes. What stays different is listed in
 * `twin/differences.ts`. A sequence that differs is played again first: requests at the same time, and
 * what Synapse does in the background, need not come out the same. A Synapse that runs already is taken from
 * `GREENROOM_SYNAPSE_URL`. With `--keep`, Synapse's answers stay in a folder: after a mend, only ours is
 * asked again.
 *
 * @module
 */

import { Router } from "../src/testing/http/http.ts";
import { ALL_ROUTES } from "../src/testing/routes/routes.ts";
import { withoutLimits } from "./twin/without_limits.ts";
import { Synapse } from "../tools/synapse.ts";
import { compare, whereTheyDiffer } from "./twin/compare.ts";
import { generate } from "./twin/generate.ts";
import { shrink } from "./twin/shrink.ts";
import { type Compared, describeStep, type Step } from "./twin/step.ts";
import { asked, kept, type Theirs } from "./twin/theirs.ts";

/** The longest line that is printed of a request, in characters. */
const PRINTED = 500;

/** A sequence that differs is played again so often, as chance may have a part in it. */
const AGAIN = 2;

/** After so many requests a line is printed. */
const PROGRESS = 2_000;

/** A difference that came again and again. */
interface Group {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly difference: Compared;
  count: number;
}

const router = new Router(ALL_ROUTES);

function routeOf({ method, path }: Step): string {
  try {
    return `${method} ${router.match(method, `/${path.map(encodeURIComponent).join("/")}`).route.path}`;
  } catch {
    return `${method} to no route`;
  }
}

function option(name: string): string | undefined {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

function number(name: string, fallback: number): number {
  return Number(option(name) ?? fallback);
}

/** Compares sequence after sequence; whether nothing differs but what is listed. */
async function run(theirs: Theirs): Promise<boolean> {
  const [requests, first] = [number("requests", 1000), number("seed", 1)];
  const groups = new Map<string, Group>();
  const begun = performance.now();
  const end = begun + number("minutes", 60) * 60_000;
  let [seed, alike, listed, clean, passing] = [first, 0, 0, 0, 0];
  const work = async () => {
    while (alike < requests && performance.now() < end) {
      const mine = seed++;
      const steps = generate(mine);
      let compared = await compare(theirs, steps);
      for (let again = 0; again < AGAIN && compared.differences.length > 0; again++) {
        compared = await compare(theirs, steps, { anew: true });
        if (compared.differences.length === 0) passing++;
      }
      if (Math.floor((alike + compared.alike) / PROGRESS) > Math.floor(alike / PROGRESS)) {
        console.log(`${alike + compared.alike} alike, ${groups.size} differences, seed ${mine}`);
      }
      alike += compared.alike;
      listed += compared.listed.length;
      if (compared.differences.length === 0) clean++;
      for (const difference of compared.differences) {
        const key = `${routeOf(difference.step)}: ${whereTheyDiffer(difference)}`;
        const group = groups.get(key) ?? { seed: mine, steps, difference, count: 0 };
        group.count++;
        groups.set(key, group);
      }
    }
  };
  await Promise.all(Array.from({ length: number("jobs", 3) }, work));
  const perSecond = Math.round(alike / (performance.now() - begun) * 1000);
  console.log(
    `${alike} requests were answered alike, ${listed} of them as it is listed; ${clean} of the ` +
      `${seed - first} sequences of the seeds ${first} to ${seed - 1} without a difference, ${passing} of ` +
      `them with one that did not come again; ${perSecond} a second`,
  );
  const byCount = [...groups].sort(([, a], [, b]) => b.count - a.count);
  for (const [index, [key, group]] of byCount.entries()) {
    console.log(`\n${group.count} × ${key} (seed ${group.seed}, request ${group.difference.step.id})`);
    const steps = index < number("shrink", 3)
      ? (await shrink(theirs, group.steps, group.difference)).steps
      : [group.difference.step];
    for (const step of steps) console.log(`    ${describeStep(step).slice(0, PRINTED)}`);
  }
  return groups.size === 0;
}

if (import.meta.main) {
  const given = Deno.env.get("GREENROOM_SYNAPSE_URL");
  let own: Promise<Synapse> | undefined;
  const ask = asked(async () => {
    if (given !== undefined) return { baseUrl: given, fetch };
    const synapse = await (own ??= Synapse.start({ refreshableAccessTokenLifetime: "5m" }));
    return { baseUrl: synapse.baseUrl, fetch: withoutLimits(synapse) };
  });
  const folder = option("keep");
  try {
    const isAlike = await run(folder === undefined ? ask : kept(folder, ask));
    Deno.exitCode = isAlike ? 0 : 1;
  } finally {
    await (await own)?.stop();
  }
}
