/**
 * What everything costs, against others and against the limit:
 * `deno task bench:peers [--rounds=5] [--quick] [--own] [--write]`.
 *
 * Each contestant is a process of its own. It does its jobs in step with the limit, response by response,
 * and ratios are taken within a round. A contestant that can't be installed is left out, with a line
 * that says so; with `CI=true` it is an error. `--quick` only shows that everything runs; `--own`
 * leaves others out, and what `bench:crypto` measures too; `--write` keeps the tables in
 * `bench/RESULTS.md`, the charts beside it, and `docs/speed.md`.
 *
 * @module
 */

import { measureEncryption, NAMES as ENGINES } from "./crypto/encryption.ts";
import { bundleTable } from "./peers/bundle_sizes.ts";
import { charts } from "./peers/charts.ts";
import { measureEncryptedStarts } from "./peers/encrypted_start.ts";
import { type Entrant, entrants as findEntrants } from "./peers/entrants.ts";
import type { Measurements } from "./peers/goals.ts";
import { measureGrowth } from "./peers/growth.ts";
import type { PlanName } from "./peers/inputs/plan.ts";
import { latencyTable } from "./peers/latency.ts";
import { writeSpeedPage } from "./peers/speed_page.ts";
import { PublishedPackage } from "./peers/published.ts";
import { report } from "./peers/report.ts";
import { playersOf, playRounds, type Standing } from "./peers/rounds.ts";
import { forIdle, forStart, measureIdle, measureStarts } from "./peers/start_and_idle.ts";
import { storeTable } from "./peers/store_costs.ts";
import { StartBundles } from "./peers/start_bundles.ts";
import { Stub } from "./peers/stub/stub_process.ts";
import { peerVersions } from "./peers/versions.ts";
import { circumstances } from "./support/circumstances.ts";

const HERE = import.meta.dirname ?? ".";
const QUICK = Deno.args.includes("--quick");
const OWN = Deno.args.includes("--own");
const ROUNDS = Number(Deno.args.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? (QUICK ? 1 : 5));
/** A client has but one initial sync: it takes more rounds to know what that costs. */
const FIRST_ROUNDS = QUICK ? 1 : 2 * ROUNDS;
/** Each has been through thousands of rooms. */
const GROWTH_ROUNDS = Math.min(ROUNDS, 3);
const STARTS = QUICK ? 1 : 9;
const CLIENTS = QUICK ? [1, 20] : [1, 10, 100, 1_000];
const ROOMS = QUICK ? [10, 100] : [10, 1_000, 10_000];

const encoder = new TextEncoder();

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(line + "\n"));
}

/**
 * The engine alone, as `bench:crypto` measures it; what takes longest there has fewer rounds here,
 * or none.
 */
async function measureEngine(): Promise<Measurements["encryption"]> {
  if (OWN) return { against: new Map(), growth: new Map() };
  const options = { quick: QUICK, growthRounds: GROWTH_ROUNDS, say, without: [ENGINES.mautrix] };
  const { against, growth } = await measureEncryption({
    ...options,
    rounds: ROUNDS,
    jobs: ["encrypt", "decrypt_one", "decrypt_event"],
    growthStores: ["kv"],
  });
  const crowd = { rounds: Math.min(ROUNDS, 2), jobs: ["first_message"], growthStores: [] };
  const first = await measureEncryption({ ...options, ...crowd });
  return { against: new Map([...against, ...first.against]), growth };
}

/** Each contestant does its jobs in step with the limit, which is the first of them. */
async function standingsOf(
  stub: Stub,
  [plan, first]: readonly [PlanName, PlanName],
  entrants: readonly Entrant[],
): Promise<Standing[]> {
  const [limit] = entrants;
  if (limit === undefined) return [];
  const groups = async (plan: PlanName) =>
    await Promise.all(entrants.map((entrant) => playersOf(stub, plan, [limit, entrant])));
  const all = await playRounds({ stub, groups: await groups(plan), rounds: ROUNDS }, say);
  const more = await playRounds({ stub, groups: await groups(first), rounds: FIRST_ROUNDS }, say);
  const joined = (index: number, player: number, entrant: Entrant): Standing => ({
    entrant,
    rounds: [all, more].flatMap((standings) => standings[index]?.[player]?.rounds ?? []),
  });
  return entrants.map((entrant, index) => ({
    ...joined(index, 1, entrant),
    beside: joined(index, 0, limit),
  }));
}

async function measure(stub: Stub): Promise<Measurements> {
  const entrants = await findEntrants(say);
  const plain = await standingsOf(stub, ["play", "first"], entrants.plain);
  const encrypted = await standingsOf(stub, ["crypt", "firstcrypt"], entrants.encrypted);
  const encryption = await measureEngine();
  await using bundles = await StartBundles.make();
  await using published = await PublishedPackage.make();
  const starts = await measureStarts(stub, forStart(entrants.plain, [bundles, published]), STARTS);
  const encryptedStarts = await measureEncryptedStarts(STARTS, [bundles, published]);
  say("measured: starts");
  const idle = await measureIdle(stub, forIdle(entrants.plain), CLIENTS);
  say("measured: idle clients");
  return {
    jobs: await stub.jobs("play"),
    encryptedJobs: await stub.jobs("crypt"),
    plain,
    encrypted,
    encryption,
    starts,
    encryptedStarts,
    idle,
    clients: CLIENTS,
    growth: await measureGrowth({ stub, sizes: ROOMS, rounds: GROWTH_ROUNDS }, say),
    rooms: ROOMS,
    bundles: await bundleTable({ own: OWN }),
    stores: await storeTable({ quick: QUICK }),
    latency: {
      plain: await latencyTable(stub, { plan: "paced", entrants: entrants.plain, quick: QUICK }),
      encrypted: await latencyTable(stub, { plan: "pacedcrypt", entrants: entrants.encrypted, quick: QUICK }),
    },
  };
}

if (import.meta.main) {
  const begun = performance.now();
  await using stub = await Stub.start(QUICK ? ["--quick"] : []);
  const measurements = await measure(stub);
  const where = await circumstances(["src", "mod.ts", "vodozemac-wasm", "bench/peers", "bench/crypto"]);
  const minutes = Math.ceil((performance.now() - begun) / 60_000);
  const head = [
    ...where.lines,
    `- ${await peerVersions()}`,
    `- ${ROUNDS} rounds (${GROWTH_ROUNDS} of growth, ${
      Math.min(ROUNDS, 2)
    } of the first message), ${STARTS} starts; ${minutes} minutes`,
  ];
  // Where everything is cold and small, there is nothing to be learnt.
  const text = report(measurements, { head, goals: !QUICK });
  say(text);
  if (Deno.args.includes("--write")) {
    await Deno.writeTextFile(`${HERE}/RESULTS.md`, text);
    for (const [name, svg] of Object.entries(charts(measurements, where.label))) {
      await Deno.writeTextFile(`${HERE}/${name}`, svg);
    }
    await writeSpeedPage(measurements, where);
  }
}
