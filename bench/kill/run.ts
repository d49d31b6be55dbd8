/**
 * A run: the victim is killed and started again, time after time; then all settles, and is judged.
 *
 * @module
 */

import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { judge, type Verdict } from "./judge.ts";
import { drawMoment } from "./moments.ts";
import { type Random, seeded } from "./random.ts";
import { introduce, settles } from "./settling.ts";
import { Stage } from "./stage.ts";
import type { StoreKind } from "./store_place.ts";
import { Talk } from "./talk.ts";
import { BotProcess, type Ending } from "./bot_process.ts";

/** How a run is made. */
export interface RunOptions {
  /** How often the victim is killed. */
  readonly kills: number;
  /** What the moments are drawn from. */
  readonly seed: number;
  /** What the victim keeps its knowledge in. */
  readonly store: StoreKind;
  /** Takes a line every ten kills. */
  readonly print: (line: string) => void;
  /** Whether the victim's files are kept if the run fails. Default: false. */
  readonly keep?: boolean;
}

const VICTIM = new URL("./victim.ts", import.meta.url);
/** How many kills a line tells of. */
const LINE = 10;
/**
 * How much the peers say before the victim has kept a first sync: beyond that, a sync from the
 * beginning would leave it out.
 */
const EARLY = 4;
/** How many messages the victim may be behind before they wait for it. */
const BACKLOG = 12;
/** How long a speaker waits between two messages, at most, in milliseconds. */
const PAUSE_MS = 5_000;
/** How many one-time keys others claim before a kill, at most; and now and then all of them. */
const CLAIMS = 10;
const CLAIM_ALL = { odds: 0.04, count: 60 };
/** How long a message may take that comes again, in milliseconds. */
const AGAIN_MS = 1_500;
/** Before how many of the kills a user logs in with a new device. */
const VISITS = 0.15;
/**
 * In each fifth of the lives the store's server is killed too, if there is one, within so many
 * milliseconds after the victim has taken its device, and stays away for so long; the victim lives
 * for so long then, but every other time it does not wait for the server to come back, and ends.
 */
const OUTAGES = { every: 5, first: 3, afterMs: 1_500, awayMs: 1_000, lifeMs: 4_000 };

/**
 * After how many lives in which nothing was answered the next one lasts until something is: else a
 * slow machine would come to nothing.
 */
const FRUITLESS = 3;

/** Makes a run. */
export async function killRun(server: SynapseServer, options: RunOptions): Promise<Verdict> {
  await using stage = await Stage.build(server, { store: options.store, cast: "nio" });
  const random = seeded(options.seed);
  const { ledger } = stage;
  const begun = performance.now();
  const mayTalk = (): boolean =>
    ledger.count("synced") > 0 ? talk.said.length - ledger.answered.size < BACKLOG : talk.said.length < EARLY;
  const talk = new Talk(stage, { random: seeded(options.seed + 1), mayTalk, pauseMs: PAUSE_MS });
  const lives = new Lives();
  const problems: string[] = [];
  let introduced = false;
  let answered = 0;
  let answeredAt = 0;
  talk.startPlain();
  for (let kill = 1; kill <= options.kills; kill++) {
    const hasOutage = stage.place.kind === "denokv" && kill % OUTAGES.every === OUTAGES.first;
    const isImpatient = hasOutage && kill % (2 * OUTAGES.every) === OUTAGES.first;
    const patience = isImpatient ? 0 : undefined;
    const process = new BotProcess(VICTIM, stage.orders({ talks: introduced, patience }));
    const isStuck = kill - answeredAt > FRUITLESS;
    const moment = drawMoment(random, { isStuck });
    const dying = process.killAt(
      hasOutage ? { line: "ends take", after: random() * OUTAGES.lifeMs } : moment,
    );
    const outage = hasOutage ? crashServer(stage, process, random) : undefined;
    if (introduced) await disturb(stage, talk, random);
    const ending = await dying;
    await outage;
    lives.add(ending);
    if (ledger.answered.size > answered) {
      answered = ledger.answered.size;
      answeredAt = kill;
    }
    if (ending.bySelf && !hasOutage) {
      problems.push(`a process ended before it was killed: ${ending.stderr}`);
    }
    if (!introduced && ledger.count("synced") > 0 && await stage.victimIsPublished()) {
      await introduce(stage);
      talk.startEncrypted();
      introduced = true;
    }
    if (kill % LINE === 0) options.print(progress(kill, stage, { talk, begun }));
  }
  const last = new BotProcess(VICTIM, stage.orders({ talks: false }));
  await talk.stop();
  if (!await settles(stage, talk.said)) {
    problems.push(`not all has settled; the last process is at ${last.underway.join(", ")}`);
  }
  const ending = await last.stop();
  if (ending.bySelf) problems.push(`the last process failed: ${ending.stderr}`);
  problems.push(...await comingAgain(stage));
  const verdict = await judge({ stage, said: talk.said, ledger: ledger.entries });
  problems.push(...talk.failed.map((why) => `a peer could not speak: ${why}`), ...verdict.problems);
  if (options.keep && problems.length > 0) options.print(`The victim's files are in ${stage.keep()}`);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  return {
    counts: {
      ...verdict.counts,
      ...lives.counts(),
      "seconds in all": seconds,
    },
    problems,
  };
}

/** Starts the victim once more: as it has stopped in good order, nothing may come again. */
async function comingAgain(stage: Stage): Promise<string[]> {
  const { ledger } = stage;
  const before = ledger.count("received");
  const process = new BotProcess(VICTIM, stage.orders({ talks: false }));
  await process.reaches({ line: "begins sync", patience: 20_000, after: AGAIN_MS });
  const { bySelf, stderr } = await process.stop();
  const more = ledger.count("received") - before;
  return [
    ...bySelf ? [`the process after the last failed: ${stderr}`] : [],
    ...more > 0 ? [`${more} messages came again after the victim had stopped in good order`] : [],
  ];
}

async function crashServer(stage: Stage, process: BotProcess, random: Random): Promise<void> {
  await process.reaches({ line: "ends take", after: random() * OUTAGES.afterMs });
  stage.noteOutage();
  await stage.place.crash(random() * OUTAGES.awayMs);
}

/** Takes keys of the victim, and has a stranger come. */
async function disturb(stage: Stage, talk: Talk, random: Random): Promise<void> {
  await stage.claimKeys(random() < CLAIM_ALL.odds ? CLAIM_ALL.count : random() * CLAIMS);
  if (random() < VISITS) await talk.visit();
}

function progress(kill: number, stage: Stage, { talk, begun }: { talk: Talk; begun: number }): string {
  const { ledger, observed, undecryptable } = stage;
  const seconds = Math.round((performance.now() - begun) / 1_000);
  return `${kill} kills in ${seconds} s: victim sent ${ledger.next} (${ledger.unknown.size} may not have arrived), ` +
    `peers ${talk.said.length} (${ledger.answered.size} answered), observer read ${observed.length}; ` +
    `refused ${ledger.count("refused")}, failed ${ledger.count("failed")}, logged ${ledger.count("log")}, ` +
    `left out ${ledger.count("quarantined")}, undecryptable at first ${
      ledger.count("undecryptable")
    }/${undecryptable.size}`;
}

/** What the victims were killed at, and where their time went. */
class Lives {
  readonly #struck = new Map<string, number>();
  readonly #spans = new Map<string, number[]>();

  add({ underway, bySelf, lived, firsts }: Ending): void {
    const what = bySelf ? ["nothing: it had ended"] : underway.length === 0 ? ["nothing"] : underway;
    for (const each of what) this.#struck.set(each, (this.#struck.get(each) ?? 0) + 1);
    const opened = firsts.get("begins open");
    const taken = firsts.get("ends take");
    if (opened !== undefined) this.#span("from the start until it opens the store", opened);
    if (opened !== undefined && taken !== undefined) {
      this.#span("from then until it has the device", taken - opened);
    }
    if (taken === undefined) return;
    for (const line of ["begins sync", "ends sync", "begins answer", "ends answer"]) {
      const at = firsts.get(line);
      if (at !== undefined) this.#span(`from then until it ${line}`, at - taken);
    }
    this.#span("from then until it is killed", lived - taken);
  }

  counts(): Record<string, number> {
    const struck = [...this.#struck].map(([what, count]) => [`killed during ${what}`, count] as const);
    const spans = [...this.#spans].map(([what, all]) => [`median ms ${what}`, median(all)] as const);
    return Object.fromEntries([...struck.sort(), ...spans]);
  }

  #span(what: string, ms: number): void {
    this.#spans.set(what, [...this.#spans.get(what) ?? [], ms]);
  }
}

function median(values: readonly number[]): number {
  return Math.round(values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0);
}
