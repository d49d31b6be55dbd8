/**
 * What encryption costs, against others and as everything grows: `deno task bench:crypto [--rounds=7] [--quick] [--write]`.
 *
 * Each contestant is a process of its own, and they take turns: a round is one turn of each, and ratios are taken within a round.
 * A contestant that is not installed is left out, with a line that says so; with `CI=true` it is an error. `--quick` only shows
 * that everything runs; `--write` keeps the tables in `bench/RESULTS_CRYPTO.md`.
 *
 * @module
 */

import { PEER_PACKAGES } from "../tools/peers.ts";
import { installPython } from "../tools/python.ts";
import { Contestant, type ContestantOptions } from "./crypto/contestant.ts";
import { makeCrowd } from "./crypto/crowd.ts";
import { option } from "./crypto/job.ts";
import { type Goal, goalTable, table, time, times } from "./crypto/report.ts";
import { type Outcome, play, type Standing, type TournamentJob } from "./crypto/tournament.ts";
import { circumstances } from "./support/circumstances.ts";

const HERE = import.meta.dirname ?? ".";
const RESULTS = `${HERE}/RESULTS_CRYPTO.md`;
const QUICK = Deno.args.includes("--quick");
const ROUNDS = Number(option("rounds", QUICK ? "1" : "7"));
/** Growth is played with fewer: each round has been through hundreds of rooms. */
const GROWTH_ROUNDS = Math.min(ROUNDS, 5);
const SIZES = QUICK ? [10, 30] : [10, 1_000, 10_000];
const CROWD = QUICK ? 20 : 1_000;

const RAW = "vodozemac-wasm";
const MEMORY = "Greenroom, memory";
const DURABLE = "Greenroom, Deno KV";
const OLM_MACHINE = "matrix-sdk-crypto-wasm, memory";
const MAUTRIX = "mautrix, SQLite";
const RAW_DURABLE = "vodozemac-wasm and one commit to Deno KV";
/** Ours syncs the file at each commit; this has mautrix do so too. */
const MAUTRIX_DURABLE = "mautrix, SQLite, synchronous=FULL";
const MAUTRIX_MEMORY = "mautrix, memory";

function job(
  name: string,
  title: string,
  { count, samples }: { count: number; samples: number },
): TournamentJob {
  return QUICK
    ? { job: name, title, count: Math.min(count, 10), samples: 1 }
    : { job: name, title, count, samples };
}

const BATCH = 10_000;
/** Others take events one by one, so that fewer show what one costs; who commits each of them would need minutes. */
const MOST = { ofOthers: 2_000, ofSqlite: 1_000 };
const single = { count: 200, samples: 3 };

const JOBS = [
  job("encrypt", "encrypt one message of 200 bytes", single),
  job("encrypt_and_sent", "the same, and forget it once it has arrived", single),
  job("decrypt_one", "a sync with one event", single),
  job("decrypt_event", "decrypt one event that came without a sync", single),
  job("decrypt_sync", "a sync with 10,000 events, each", { count: BATCH, samples: 1 }),
  job("first_message", "first message to 1,000 devices: claim, share, encrypt", { count: 1, samples: 1 }),
];

const grown = { count: 100, samples: 2 };
const GROWTH_JOBS = [
  job("encrypt", "encrypt, all rooms in turn", grown),
  job("encrypt_crowd", "encrypt, in the room with all devices", grown),
  job("decrypt_one", "a sync with one event, all sessions in turn", grown),
  job("decrypt_crowd", "a sync with one event, of the room with all devices", grown),
  job("decrypt_sync", "a sync with 500 events of ten rooms, all rooms in turn, each", {
    count: 500,
    samples: 1,
  }),
];

const encoder = new TextEncoder();

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(line + "\n"));
}

/** Starts those who can be started, has them play, and ends them. */
async function tournament(
  options: readonly ContestantOptions[],
  jobs: readonly TournamentJob[],
  rounds: number,
): Promise<Outcome[]> {
  await using running = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const each of options) contestants.push(running.use(await Contestant.start(each)));
  const outcomes: Outcome[] = [];
  for (const each of jobs) {
    outcomes.push(await play(contestants, each, rounds));
    say(`measured: ${each.title}`);
  }
  return outcomes;
}

function deno(script: string, ...args: string[]): { command: string; args: string[] } {
  const run = ["run", "--quiet", "--no-check", "--allow-all", "--unstable-kv", `${HERE}/crypto/${script}`];
  return { command: Deno.execPath(), args: [...run, ...args] };
}

/** The Python that has mautrix; undefined if it can't be had. */
async function mautrixPython(): Promise<string | undefined> {
  try {
    return await installPython(PEER_PACKAGES.mautrix, say);
  } catch (error) {
    if (Deno.env.get("CI") === "true") throw error;
    say(`mautrix is left out: ${String(error)}`);
    return undefined;
  }
}

/** A folder in memory, if there is one: what a disk needs is the same at any size, and would hide what grows. */
async function fastFolder(): Promise<string> {
  const options = { prefix: "greenroom-bench-" };
  try {
    return await Deno.makeTempDir({ ...options, dir: "/dev/shm" });
  } catch {
    return await Deno.makeTempDir(options);
  }
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
    ...await circumstances(["src", "vodozemac-wasm", "bench/crypto"]),
    `- ${await versions()}`,
    `- ${ROUNDS} rounds (${GROWTH_ROUNDS} of growth) after one that does not count`,
  ].join("\n");
}

function standing(outcomes: readonly Outcome[], index: number, name: string): Standing | undefined {
  return outcomes[index]?.standings.find((each) => each.name === name);
}

function goals(outcomes: readonly Outcome[]): Goal[] {
  const index = (name: string): number => JOBS.findIndex((each) => each.job === name);
  const of = (job: string, name: string): Standing | undefined => standing(outcomes, index(job), name);
  const against = (job: string, one: string, other: string) => times(of(job, one), of(job, other));
  const peers = ["encrypt", "decrypt_one", "decrypt_event", "decrypt_sync", "first_message"].flatMap((
    job,
  ) => [
    { text: `${job}: ${MEMORY} / ${OLM_MACHINE}`, value: against(job, MEMORY, OLM_MACHINE), limit: 1 },
    { text: `${job}: ${MEMORY} / ${MAUTRIX_MEMORY}`, value: against(job, MEMORY, MAUTRIX_MEMORY), limit: 1 },
    {
      text: `${job}: ${DURABLE} / ${MAUTRIX_DURABLE}`,
      value: against(job, DURABLE, MAUTRIX_DURABLE),
      limit: 1,
    },
    { text: `${job}: ${DURABLE} / ${MAUTRIX}`, value: against(job, DURABLE, MAUTRIX), limit: 1 },
  ]);
  return [
    {
      text: `a sync with 10,000 events: ${MEMORY} / ${RAW}`,
      value: against("decrypt_sync", MEMORY, RAW),
      limit: 1.5,
    },
    {
      text: `a sync with 10,000 events: ${DURABLE} / ${RAW}`,
      value: against("decrypt_sync", DURABLE, RAW),
      limit: 1.5,
    },
    { text: `a sync with one event, µs: ${DURABLE}`, value: time(of("decrypt_one", DURABLE)), limit: 250 },
    { text: `encrypt, µs: ${MEMORY}`, value: time(of("encrypt", MEMORY)), limit: 200 },
    { text: `encrypt, µs: ${DURABLE}`, value: time(of("encrypt", DURABLE)), limit: 1_000 },
    ...peers,
  ];
}

function growthGoals(outcomes: readonly Outcome[], store: string): Goal[] {
  const [small, , large] = SIZES.map(String);
  return outcomes.flatMap(({ title, standings }) => {
    const base = standings.find(({ name }) => name === small);
    const found = standings.find(({ name }) => name === large);
    if (base === undefined || found === undefined) return [];
    return [{
      text: `${store}: ${title}: ${large} / ${small}`,
      value: times(found, base),
      limit: 1.3,
    }];
  });
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  const fast = await fastFolder();
  try {
    const crowd = `--crowd=${folder}/crowd.json`;
    const everybody = `--crowd=${folder}/everybody.json`;
    await Deno.writeTextFile(`${folder}/crowd.json`, JSON.stringify(await makeCrowd(CROWD)));
    await Deno.writeTextFile(
      `${folder}/everybody.json`,
      JSON.stringify(await makeCrowd(Math.max(...SIZES))),
    );
    const python = await mautrixPython();
    const mautrix = (store: string) => ({
      command: python ?? "",
      args: [`${HERE}/crypto/mautrix_machine.py`, `--store=${store}`, crowd],
    });
    const outcomes = await tournament(
      [
        { name: RAW, ...deno("raw.ts", crowd), folder },
        { name: RAW_DURABLE, ...deno("raw.ts", "--store=kv", crowd), folder },
        { name: MEMORY, ...deno("ours.ts", "--store=memory", crowd), folder },
        { name: DURABLE, ...deno("ours.ts", "--store=kv", crowd), folder },
        { name: OLM_MACHINE, ...deno("olm_machine.ts", crowd), folder, most: MOST.ofOthers },
        ...(python === undefined ? [] : [
          { name: MAUTRIX_MEMORY, ...mautrix("memory"), folder, most: MOST.ofOthers },
          { name: MAUTRIX, ...mautrix("sqlite"), folder, most: MOST.ofSqlite },
          { name: MAUTRIX_DURABLE, ...mautrix("sqlite-full"), folder, most: MOST.ofSqlite },
        ]),
      ],
      JOBS,
      ROUNDS,
    );
    const sections = ["## Against others", table(outcomes, { heading: "contestant", base: RAW })];
    const all = goals(outcomes);
    for (const store of ["memory", "kv"]) {
      const name = store === "kv" ? DURABLE : MEMORY;
      const options = SIZES.map((size) => ({
        name: String(size),
        ...deno("growth.ts", `--store=${store}`, `--size=${size}`, everybody),
        folder: fast,
      }));
      const played = await tournament(options, GROWTH_JOBS, GROWTH_ROUNDS);
      sections.push(
        `## As everything grows: ${name}`,
        table(played, { heading: "rooms, devices, sessions", base: "10" }),
      );
      all.push(...growthGoals(played, name));
    }
    // Where everything is cold and small, there is nothing to be learnt.
    if (!QUICK) sections.push("## Goals", goalTable(all));
    const text = ["# What encryption costs", await head(), ...sections].join("\n\n") + "\n";
    say(text);
    if (Deno.args.includes("--write")) await Deno.writeTextFile(RESULTS, text);
  } finally {
    for (const each of [folder, fast]) await Deno.remove(each, { recursive: true });
  }
}
