/**
 * What encryption costs: the contestants, the jobs, and the results.
 *
 * @module
 */

import { PEER_PACKAGES } from "../../tools/peers.ts";
import { installPython } from "../../tools/python.ts";
import { Contestant, type ContestantOptions } from "./contestant.ts";
import { makeCrowd } from "./crowd.ts";
import { installNativeVodozemac } from "./native_vodozemac.ts";
import { type Goal, time, times } from "./report.ts";
import { type Outcome, play, type Standing, type TournamentJob } from "./tournament.ts";

const HERE = import.meta.dirname ?? ".";

/** How everything is measured. */
export interface EncryptionOptions {
  /** Only shows that everything runs. */
  readonly quick: boolean;
  /** How often everybody takes a turn. */
  readonly rounds: number;
  /** The same among many rooms, where each round has been through hundreds of them. */
  readonly growthRounds: number;
  /** Which jobs against others. Default: all. */
  readonly jobs?: readonly string[];
  /** Who does not take part. Default: everybody does. */
  readonly without?: readonly string[];
  /** Our stores that are looked at as everything grows. Default: all. */
  readonly growthStores?: readonly string[];
  /** Takes the lines that say how far it has come. */
  readonly say: (line: string) => void;
}

/** What was measured. */
export interface EncryptionOutcomes {
  /** Against others, by jobs. */
  readonly against: ReadonlyMap<string, Outcome>;
  /** As everything grows, by the names of our stores. */
  readonly growth: ReadonlyMap<string, readonly Outcome[]>;
}

/** Who takes part. */
export const NAMES = {
  raw: "vodozemac-wasm",
  rawDurable: "vodozemac-wasm and one commit to Deno KV",
  rawSqlite: "vodozemac-wasm and one commit to SQLite",
  native: "vodozemac, native",
  pythonOlm: "python-olm (libolm)",
  memory: "Greenroom, memory",
  durable: "Greenroom, Deno KV",
  sqlite: "Greenroom, SQLite",
  olmMachine: "matrix-sdk-crypto-wasm, memory",
  mautrixMemory: "mautrix, memory",
  mautrix: "mautrix, SQLite",
  /** Ours syncs the file at each commit; this has mautrix do so too. */
  mautrixDurable: "mautrix, SQLite, synchronous=FULL",
} as const;

const FULL_SIZES = [10, 1_000, 10_000];
const QUICK_SIZES = [10, 30];
const BATCH = 10_000;
/**
 * Others take events one by one, so that fewer show what one costs; who commits each of them would
 * need minutes.
 */
const MOST = { ofOthers: 2_000, ofSqlite: 1_000 };
/** So many that most of them run as code that has been compiled by then. */
const single = { count: 1_000, few: 400, samples: 1 };
const grown = { count: 100, samples: 2 };

const JOBS: readonly TournamentJob[] = [
  { job: "encrypt", title: "encrypt one message of 200 bytes", ...single },
  { job: "encrypt_and_sent", title: "the same, and forget it once it has arrived", ...single },
  { job: "decrypt_one", title: "a sync with one event", ...single },
  { job: "decrypt_event", title: "decrypt one event that came without a sync", ...single },
  { job: "decrypt_sync", title: "a sync with 10,000 events, each", count: BATCH, samples: 1 },
  {
    job: "first_message",
    title: "first message to 1,000 devices: claim, share, encrypt",
    count: 1,
    samples: 1,
  },
];

const GROWTH_JOBS: readonly TournamentJob[] = [
  { job: "encrypt", title: "encrypt, all rooms in turn", ...grown },
  { job: "encrypt_crowd", title: "encrypt, in the room with all devices", ...grown },
  { job: "decrypt_one", title: "a sync with one event, all sessions in turn", ...grown },
  { job: "decrypt_first", title: "a sync with one event, the first of its session", ...grown },
  { job: "decrypt_crowd", title: "a sync with one event, of the room with all devices", ...grown },
  {
    job: "decrypt_sync",
    title: "a sync with 500 events of ten rooms, all rooms in turn, each",
    count: 500,
    samples: 1,
  },
];

/** Measures. */
export async function measureEncryption(options: EncryptionOptions): Promise<EncryptionOutcomes> {
  const { quick } = options;
  const sizes = quick ? QUICK_SIZES : FULL_SIZES;
  await using folders = new AsyncDisposableStack();
  const [folder, fast] = [await Deno.makeTempDir({ prefix: "greenroom-bench-" }), await fastFolder()];
  folders.defer(async () => {
    for (const each of [folder, fast]) await Deno.remove(each, { recursive: true });
  });
  const writeCrowd = async (name: string, devices: number): Promise<string> => {
    await Deno.writeTextFile(`${folder}/${name}.json`, JSON.stringify(await makeCrowd(devices)));
    return `--crowd=${folder}/${name}.json`;
  };
  const crowd = await writeCrowd("crowd", quick ? 20 : 1_000);
  const everybody = await writeCrowd("everybody", Math.max(...sizes));
  const against = await tournament(await contestants(crowd, folder, options), JOBS, options);
  const growth = new Map<string, readonly Outcome[]>();
  for (const [store, name] of [["memory", NAMES.memory], ["kv", NAMES.durable]] as const) {
    if (options.growthStores?.includes(store) === false) continue;
    const ours = sizes.map((size) => ({
      name: String(size),
      ...deno("growth.ts", `--store=${store}`, `--size=${size}`, everybody),
      folder: fast,
    }));
    const rounds = options.growthRounds;
    const played = await tournament(ours, GROWTH_JOBS, { ...options, rounds, jobs: undefined });
    growth.set(name, [...played.values()]);
  }
  return { against, growth };
}

/** The goals that were set, with what came of them. */
export function encryptionGoals({ against, growth }: EncryptionOutcomes): Goal[] {
  const of = (job: string, name: string): Standing | undefined => standing(against.get(job), name);
  const compare = (job: string, one: string, other: string) => times(of(job, one), of(job, other));
  const { raw, memory, durable, sqlite, olmMachine, mautrix, mautrixMemory, mautrixDurable } = NAMES;
  const whole = "a sync with 10,000 events";
  const peers = ["encrypt", "decrypt_one", "decrypt_event", "decrypt_sync", "first_message"].flatMap((job) =>
    [[memory, olmMachine], [memory, mautrixMemory], [durable, mautrixDurable], [durable, mautrix]]
      .map(([one = "", other = ""]) => ({
        text: `${job}: ${one} / ${other}`,
        value: compare(job, one, other),
        limit: 1,
      }))
  );
  return [
    { text: `${whole}: ${memory} / ${raw}`, value: compare("decrypt_sync", memory, raw), limit: 1.5 },
    { text: `${whole}: ${durable} / ${raw}`, value: compare("decrypt_sync", durable, raw), limit: 1.5 },
    // In the store that commits fastest: with Deno KV, vodozemac and one commit alone are at the
    // limit.
    { text: `decrypt one event, µs: ${sqlite}`, value: time(of("decrypt_event", sqlite)), limit: 250 },
    { text: `a sync with one event, µs: ${sqlite}`, value: time(of("decrypt_one", sqlite)), limit: 250 },
    { text: `encrypt, µs: ${memory}`, value: time(of("encrypt", memory)), limit: 200 },
    { text: `encrypt, µs: ${durable}`, value: time(of("encrypt", durable)), limit: 1_000 },
    { text: `encrypt, µs: ${sqlite}`, value: time(of("encrypt", sqlite)), limit: 1_000 },
    ...peers,
    ...growthGoals(growth),
  ];
}

/** That everything costs as much among many as among few. */
export function growthGoals(growth: EncryptionOutcomes["growth"]): Goal[] {
  return [...growth].flatMap(([store, outcomes]) =>
    outcomes.flatMap(({ title, standings }) => {
      const [small, large] = [standings.at(0), standings.at(-1)];
      if (small === undefined || large === undefined) return [];
      const text = `${store}: ${title}: ${large.name} / ${small.name}`;
      return [{ text, value: times(large, small), limit: 1.3 }];
    })
  );
}

/** The results of a contestant. */
export function standing(outcome: Outcome | undefined, name: string): Standing | undefined {
  return outcome?.standings.find((each) => each.name === name);
}

async function contestants(
  crowd: string,
  folder: string,
  { without = [], say }: EncryptionOptions,
): Promise<ContestantOptions[]> {
  const [native, python] = await Promise.all([
    ifInstalled("vodozemac without WebAssembly", () => installNativeVodozemac(say), say),
    ifInstalled("what is written in Python", () => installPython(PEER_PACKAGES.mautrix, say), say),
  ]);
  const inPython = (name: string, script: string, ...args: string[]): ContestantOptions[] =>
    python === undefined
      ? []
      : [{ name, command: python, args: [`${HERE}/${script}`, ...args, crowd], folder }];
  const mautrix = (name: string, store: string, most: number): ContestantOptions[] =>
    inPython(name, "mautrix_machine.py", `--store=${store}`).map((each) => ({ ...each, most }));
  const all: ContestantOptions[] = [
    { name: NAMES.raw, ...deno("raw.ts", crowd), folder },
    { name: NAMES.rawDurable, ...deno("raw.ts", "--store=kv", crowd), folder },
    { name: NAMES.rawSqlite, ...deno("raw.ts", "--store=sqlite", crowd), folder },
    ...(native === undefined ? [] : [{ name: NAMES.native, command: native, args: [crowd], folder }]),
    ...inPython(NAMES.pythonOlm, "python_olm.py"),
    { name: NAMES.memory, ...deno("ours.ts", "--store=memory", crowd), folder },
    { name: NAMES.durable, ...deno("ours.ts", "--store=kv", crowd), folder },
    { name: NAMES.sqlite, ...deno("ours.ts", "--store=sqlite", crowd), folder },
    { name: NAMES.olmMachine, ...deno("olm_machine.ts", crowd), folder, most: MOST.ofOthers },
    ...mautrix(NAMES.mautrixMemory, "memory", MOST.ofOthers),
    ...mautrix(NAMES.mautrix, "sqlite", MOST.ofSqlite),
    ...mautrix(NAMES.mautrixDurable, "sqlite-full", MOST.ofSqlite),
  ];
  return all.filter(({ name }) => !without.includes(name));
}

/** Starts the contestants that can be started, runs their jobs, and ends them. */
async function tournament(
  options: readonly ContestantOptions[],
  jobs: readonly TournamentJob[],
  { quick, rounds, jobs: wanted, say }: EncryptionOptions,
): Promise<Map<string, Outcome>> {
  await using running = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const each of options) contestants.push(running.use(await Contestant.start(each)));
  const outcomes = new Map<string, Outcome>();
  for (const each of jobs) {
    if (wanted !== undefined && !wanted.includes(each.job)) continue;
    const count = Math.min(each.count, 10);
    const job = quick ? { ...each, count, few: count, samples: 1 } : each;
    outcomes.set(each.job, await play(contestants, job, rounds));
    say(`measured: ${each.title}`);
  }
  return outcomes;
}

function deno(script: string, ...args: string[]): { command: string; args: string[] } {
  const flags = ["--quiet", "--no-check", "--allow-all", "--unstable-kv", "--v8-flags=--expose-gc"];
  const run = ["run", ...flags, `${HERE}/${script}`];
  return { command: Deno.execPath(), args: [...run, ...args] };
}

/** The program of a contestant; undefined if it can't be installed. */
async function ifInstalled(
  name: string,
  install: () => Promise<string>,
  say: (line: string) => void,
): Promise<string | undefined> {
  try {
    return await install();
  } catch (error) {
    if (Deno.env.get("CI") === "true") throw error;
    say(`${name} is left out: ${String(error)}`);
    return undefined;
  }
}

/**
 * A folder in memory, if there is one: what a disk needs is the same at any size, and would hide
 * what grows.
 */
async function fastFolder(): Promise<string> {
  const options = { prefix: "greenroom-bench-" };
  try {
    return await Deno.makeTempDir({ ...options, dir: "/dev/shm" });
  } catch {
    return await Deno.makeTempDir(options);
  }
}
