/**
 * A run: the bot is killed and restarted many times; then everything settles, and is judged.
 *
 * @module
 */

import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { judge, type Verdict } from "./judge.ts";
import { receivedByLastTwo } from "./ledger.ts";
import { drawMoment } from "./moments.ts";
import { type Random, seeded } from "./random.ts";
import { introduce, settles } from "./settling.ts";
import { Setup, type Way } from "./setup.ts";
import type { StoreKind } from "./store_place.ts";
import { Talk } from "./talk.ts";
import { BotProcess, type Ending } from "./bot_process.ts";

/** Options of a run. */
export interface RunOptions {
  /** How often the bot is killed. */
  readonly kills: number;
  /** The seed of the moments. */
  readonly seed: number;
  /** The kind of the bot's store. */
  readonly store: StoreKind;
  /** How the bot gets what is new. Default: it polls. */
  readonly way?: Way;
  /** Called with a line every ten kills. */
  readonly print: (line: string) => void;
  /** Whether the bot's files are kept if the run fails. Default: false. */
  readonly keep?: boolean;
}

const BOT = new URL("./bot.ts", import.meta.url);
/** After how many kills a line is printed. */
const LINE = 10;
/**
 * How many messages the peers send before the bot has stored a first sync: an initial sync would
 * leave out more.
 */
const EARLY = 4;
/** How many messages the bot may be behind before they wait for it. */
const BACKLOG = 12;
/** How long a peer waits between two messages, at most, in milliseconds. */
const PAUSE_MS = 5_000;
/** How many one-time keys others claim before a kill, at most; and now and then all of them. */
const CLAIMS = 10;
const CLAIM_ALL = { odds: 0.04, count: 60 };
/** When a process has handled what its first response showed, or is at it. */
const SECOND_SYNC = { line: "begins sync", times: 2, patience: 20_000, after: 0 } as const;
/** An application service polls nothing. */
const SETTLED = { line: "ends take", after: 3_000 } as const;
/** How long to wait for messages that come again, in milliseconds. */
const AGAIN_MS = 1_500;
/** Before how many of the kills a user logs in with a new device. */
const VISITS = 0.15;
/**
 * With every fifth process the store's server is killed too, if there is one: within so many
 * milliseconds after the bot has taken its device, and for so long. The bot is killed after
 * `lifeMs`; every other time it does not wait for the server, and ends.
 */
const OUTAGES = { every: 5, first: 3, afterMs: 1_500, awayMs: 1_000, lifeMs: 4_000 };

/**
 * After how many processes without an answer the next one is killed only after an answer: otherwise
 * a slow machine would make no progress.
 */
const FRUITLESS = 3;

/** Makes a run. */
export async function killRun(server: SynapseServer, options: RunOptions): Promise<Verdict> {
  const { way = {} } = options;
  await using setup = await Setup.build(server, { store: options.store, peers: "nio", way });
  const random = seeded(options.seed);
  const { ledger } = setup;
  const begun = performance.now();
  const mayTalk = (): boolean =>
    ledger.count("synced") > 0 ? talk.said.length - ledger.answered.size < BACKLOG : talk.said.length < EARLY;
  const talk = new Talk(setup, { random: seeded(options.seed + 1), mayTalk, pauseMs: PAUSE_MS });
  const processes = new Processes();
  const problems: string[] = [];
  let introduced = false;
  let answered = 0;
  let answeredAt = 0;
  talk.startPlain();
  for (let kill = 1; kill <= options.kills; kill++) {
    const hasOutage = setup.place.kind === "denokv" && kill % OUTAGES.every === OUTAGES.first;
    const isImpatient = hasOutage && kill % (2 * OUTAGES.every) === OUTAGES.first;
    const patience = isImpatient ? 0 : undefined;
    const process = new BotProcess(BOT, setup.orders({ talks: introduced, patience, stays: kill % 2 === 0 }));
    const isStuck = kill - answeredAt > FRUITLESS;
    const moment = drawMoment(random, { isStuck });
    const killing = process.killAt(
      hasOutage ? { line: "ends take", after: random() * OUTAGES.lifeMs } : moment,
    );
    const outage = hasOutage ? crashServer(setup, process, random) : undefined;
    if (introduced) await disturb(setup, talk, random);
    const ending = await killing;
    await outage;
    processes.add(ending);
    if (ledger.answered.size > answered) {
      answered = ledger.answered.size;
      answeredAt = kill;
    }
    if (ending.bySelf && !hasOutage) {
      problems.push(`a process ended before it was killed: ${ending.stderr}`);
    }
    if (!introduced && ledger.count("synced") > 0 && await setup.botIsPublished()) {
      await introduce(setup);
      talk.startEncrypted();
      introduced = true;
    }
    if (kill % LINE === 0) options.print(progress(kill, setup, { talk, begun }));
  }
  const last = new BotProcess(BOT, setup.orders({ talks: false }));
  await talk.stop();
  if (!await settles(setup, talk.said)) {
    problems.push(`not all has settled; the last process is at ${last.underway.join(", ")}`);
  }
  // It may have to handle again what the one before it did not commit.
  await last.reaches(way.registration === undefined ? SECOND_SYNC : SETTLED);
  const ending = await last.stop();
  if (ending.bySelf) problems.push(`the last process failed: ${ending.stderr}`);
  problems.push(...await comingAgain(setup));
  const verdict = await judge({
    setup,
    said: talk.said,
    ledger: ledger.entries,
    // After a failure, Synapse may send a later transaction before the one that failed.
    comesInOrder: way.registration === undefined,
  });
  problems.push(...talk.failed.map((why) => `a peer could not send: ${why}`), ...verdict.problems);
  if (options.keep && problems.length > 0) options.print(`The bot's files are in ${setup.keep()}`);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  return {
    counts: {
      ...verdict.counts,
      ...processes.counts(),
      "seconds in all": seconds,
    },
    problems,
  };
}

/** Starts the bot once more: after a clean stop, nothing may come again. */
async function comingAgain(setup: Setup): Promise<string[]> {
  const process = new BotProcess(BOT, setup.orders({ talks: false }));
  await process.reaches({ line: "begins sync", patience: 20_000, after: AGAIN_MS });
  const { bySelf, stderr } = await process.stop();
  const again = receivedByLastTwo(setup.ledger.entries);
  return [
    ...bySelf ? [`the process after the last failed: ${stderr}`] : [],
    ...again.length > 0 ? [`came again after the bot was stopped cleanly: ${again.join(", ")}`] : [],
  ];
}

async function crashServer(setup: Setup, process: BotProcess, random: Random): Promise<void> {
  await process.reaches({ line: "ends take", after: random() * OUTAGES.afterMs });
  setup.noteOutage();
  await setup.place.crash(random() * OUTAGES.awayMs);
}

/** Claims keys of the bot, and makes a visitor come. */
async function disturb(setup: Setup, talk: Talk, random: Random): Promise<void> {
  await setup.claimKeys(random() < CLAIM_ALL.odds ? CLAIM_ALL.count : random() * CLAIMS);
  if (random() < VISITS) await talk.visit();
}

function progress(kill: number, setup: Setup, { talk, begun }: { talk: Talk; begun: number }): string {
  const { ledger, observed, undecryptable } = setup;
  const seconds = Math.round((performance.now() - begun) / 1_000);
  return `${kill} kills in ${seconds} s: bot sent ${ledger.next} (${ledger.unknown.size} may not have arrived), ` +
    `peers ${talk.said.length} (${ledger.answered.size} answered), observer read ${observed.length}; ` +
    `refused ${ledger.count("refused")}, failed ${ledger.count("failed")}, logged ${ledger.count("log")}, ` +
    `left out ${ledger.count("quarantined")}, undecryptable at first ${
      ledger.count("undecryptable")
    }/${undecryptable.size}`;
}

/** What the processes were killed at, and where their time went. */
class Processes {
  readonly #killedAt = new Map<string, number>();
  readonly #spans = new Map<string, number[]>();

  add({ underway, bySelf, lived, firsts }: Ending): void {
    const what = bySelf ? ["nothing: it had ended"] : underway.length === 0 ? ["nothing"] : underway;
    for (const each of what) this.#killedAt.set(each, (this.#killedAt.get(each) ?? 0) + 1);
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
    const struck = [...this.#killedAt].map(([what, count]) => [`killed during ${what}`, count] as const);
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
