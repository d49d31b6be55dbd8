/**
 * What encryption costs, against others and as everything grows:
 * `deno task bench:crypto [--rounds=7] [--quick] [--write]`.
 *
 * Each contestant is a process of its own, and they take turns: a round is one turn of each, and
 * ratios are taken within a round. A contestant that is not installed is left out, with a line that
 * says so; with `CI=true` it is an error. `--quick` only shows that everything runs; `--write`
 * keeps the tables in `bench/RESULTS_CRYPTO.md`.
 *
 * @module
 */

import { PEER_PACKAGES } from "../tools/peers.ts";
import { encryptionGoals, measureEncryption, NAMES } from "./crypto/encryption.ts";
import { option } from "./crypto/job.ts";
import { goalTable, table } from "./crypto/report.ts";
import { circumstances } from "./support/circumstances.ts";

const HERE = import.meta.dirname ?? ".";
const QUICK = Deno.args.includes("--quick");
const ROUNDS = Number(option("rounds", QUICK ? "1" : "7"));
const GROWTH_ROUNDS = Math.min(ROUNDS, 5);

const encoder = new TextEncoder();

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(line + "\n"));
}

async function versions(): Promise<string> {
  const { mautrix } = PEER_PACKAGES;
  const pins = await Deno.readTextFile(`${HERE}/../tools/python/${mautrix.name}.txt`);
  const pinned = pins.split("\n").filter((line) => /^(mautrix|python-olm|aiosqlite)==/.test(line));
  const { imports } = JSON.parse(await Deno.readTextFile(`${HERE}/../deno.json`));
  const sdk = String(imports["@matrix-org/matrix-sdk-crypto-wasm"]).replace(/^npm:/, "");
  return [`Deno ${Deno.version.deno} (V8 ${Deno.version.v8})`, sdk, ...pinned].join(", ");
}

async function head(): Promise<string> {
  return [
    ...(await circumstances(["src", "vodozemac-wasm", "bench/crypto"])).lines,
    `- ${await versions()}`,
    `- ${ROUNDS} rounds (${GROWTH_ROUNDS} of growth) after one that does not count`,
  ].join("\n");
}

if (import.meta.main) {
  const outcomes = await measureEncryption({
    quick: QUICK,
    rounds: ROUNDS,
    growthRounds: GROWTH_ROUNDS,
    say,
  });
  const sections = [
    "## Against others",
    table([...outcomes.against.values()], { heading: "contestant", base: NAMES.raw }),
    ...[...outcomes.growth].flatMap(([name, played]) => [
      `## As everything grows: ${name}`,
      table(played, { heading: "rooms, devices, sessions", base: "10" }),
    ]),
  ];
  // Where everything is cold and small, there is nothing to be learnt.
  if (!QUICK) sections.push("## Goals", goalTable(encryptionGoals(outcomes)));
  const text = ["# What encryption costs", await head(), ...sections].join("\n\n") + "\n";
  say(text);
  if (Deno.args.includes("--write")) await Deno.writeTextFile(`${HERE}/RESULTS_CRYPTO.md`, text);
}
