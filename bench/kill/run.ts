/**
 * A run: the victim is killed and started again, time after time; then all settles, and is judged.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { judge, type Verdict } from "./judge.ts";
import { entriesOf, readLedger } from "./ledger.ts";
import { drawMoment } from "./moments.ts";
import { seeded } from "./random.ts";
import { Stage } from "./stage.ts";
import { Talk } from "./talk.ts";
import { type Ending, VictimProcess } from "./victim_process.ts";

/** How a run is made. */
export interface RunOptions {
  /** How often the victim is killed. */
  readonly kills: number;
  /** What the moments are drawn from. */
  readonly seed: number;
  /** Takes a line every ten kills. */
  readonly print: (line: string) => void;
  /** Whether the victim's files are kept if the run fails. Default: false. */
  readonly keep?: boolean;
}

/** How many kills a line tells of. */
const LINE = 10;
/** How long all may take to settle at the end, in milliseconds. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 200;
/** After how many kills a process may live until it has handled a first sync, if none has: else nobody would ever talk. */
const EARLY = 4;
const FIRST_SYNC_MS = 30_000;
/** How many one-time keys others claim before a kill, at most; and now and then all of them. */
const CLAIMS = 10;
const CLAIM_ALL = { odds: 0.04, count: 60 };

/** Before how many of the kills somebody comes with a new device. */
const VISITS = 0.15;

/** Makes a run. */
export async function killRun(server: SynapseServer, options: RunOptions): Promise<Verdict> {
  await using stage = await Stage.build(server);
  const random = seeded(options.seed);
  const behind = (): number => talk.said.length - eventsOf(stage, "acked").size;
  const talk = new Talk(stage, { random: seeded(options.seed + 1), behind });
  const problems: string[] = [];
  const struck = new Map<string, number>();
  let talking = false;
  for (let kill = 1; kill <= options.kills; kill++) {
    const process = new VictimProcess(stage.orders());
    if (!talking && kill > EARLY) await until(() => hasSettled(stage), FIRST_SYNC_MS);
    const dying = process.killAt(drawMoment(random));
    if (talking) {
      await stage.claimKeys(random() < CLAIM_ALL.odds ? CLAIM_ALL.count : random() * CLAIMS);
      if (random() < VISITS) await talk.visit(stage);
    }
    const ending = await dying;
    note(ending, { struck, problems });
    if (!talking && hasSettled(stage) && await stage.victimIsPublished()) {
      await introduce(stage);
      talk.start();
      talking = true;
    }
    if (kill % LINE === 0) options.print(`${kill} kills: ${progress(stage, talk)}`);
  }
  const last = new VictimProcess(stage.orders({ quiet: true }));
  await talk.stop();
  if (!await settled(stage, talk)) {
    problems.push(`not all has settled; the last process is at ${last.underway.join(", ")}`);
  }
  const ending = await last.stop();
  if (ending.bySelf) problems.push(`the last process failed: ${ending.stderr}`);
  const verdict = await judge({ stage, said: talk.said, ledger: readLedger(stage.ledger) });
  problems.push(...talk.failed.map((why) => `a peer could not speak: ${why}`), ...verdict.problems);
  if (options.keep && problems.length > 0) options.print(`The victim's files are in ${stage.keep()}`);
  const during = [...struck].map(([what, count]) => [`killed during ${what}`, count]);
  return {
    counts: { ...verdict.counts, ...Object.fromEntries(during.sort()) },
    problems: [
      ...problems,
      ...talk.failed.map((why) => `a peer could not speak: ${why}`),
      ...verdict.problems,
    ],
  };
}

/** The peers look the victim's device up: who knew the user before the device was there might send past it. */
async function introduce({ peers, victim, observer }: Stage): Promise<void> {
  for (const peer of peers) await peer.awaitDevice(victim.userId, victim.deviceId);
  while (!(await observer.crypto?.getDevices(victim.userId))?.length) await delay(LOOK_MS);
}

function note(ending: Ending, to: { struck: Map<string, number>; problems: string[] }): void {
  if (ending.bySelf) to.problems.push(`a process ended before it was killed: ${ending.stderr}`);
  const what = ending.underway.length === 0 ? ["nothing"] : ending.underway;
  for (const each of what) to.struck.set(each, (to.struck.get(each) ?? 0) + 1);
}

/** What came before a first sync was handled, the victim need not have seen: a sync from the beginning leaves out what is old. */
function hasSettled(stage: Stage): boolean {
  return entriesOf(readLedger(stage.ledger), "settled").length > 0;
}

/** The peers' messages that the victim has received, or answered. */
function eventsOf(stage: Stage, kind: "received" | "acked"): Set<string> {
  return new Set(entriesOf(readLedger(stage.ledger), kind).map(({ eventId }) => eventId));
}

/** Waits until nothing is on its way any more, but not for ever: what then is missing, the judge finds. */
async function settled(stage: Stage, talk: Talk): Promise<boolean> {
  return await until(() => {
    const ledger = readLedger(stage.ledger);
    const acked = new Set(entriesOf(ledger, "acked").map(({ eventId }) => eventId));
    const done = new Set(entriesOf(ledger, "done").map(({ number }) => number));
    const seen = new Set(stage.observed.map(({ eventId }) => eventId));
    return entriesOf(ledger, "begin").every(({ number }) => done.has(number)) &&
      talk.said.every(({ eventId }) => acked.has(eventId)) &&
      entriesOf(ledger, "done").every(({ eventId }) => seen.has(eventId)) &&
      entriesOf(ledger, "acked").every(({ ackId }) => seen.has(ackId));
  }, PATIENCE_MS);
}

/** Waits until something holds, and says whether it has come to that in time. */
async function until(holds: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await delay(LOOK_MS)) {
    if (holds()) return true;
  }
  return false;
}

function progress(stage: Stage, talk: Talk): string {
  const ledger = readLedger(stage.ledger);
  const count = (kind: Parameters<typeof entriesOf>[1]): number => entriesOf(ledger, kind).length;
  return `victim sent ${count("begin")} (${count("done")} known to have arrived), ` +
    `peers ${talk.said.length} (${eventsOf(stage, "received").size} received, ${
      eventsOf(stage, "acked").size
    } answered), ` +
    `observer read ${stage.observed.length}; refused ${count("refused")}, failed ${count("failed")}, ` +
    `logged ${count("log")}, undecryptable at first ${count("undecryptable")}/${stage.undecryptable.size}`;
}
