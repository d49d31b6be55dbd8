/**
 * A run: four processes of one device, which are paused, resumed, killed and replaced; then all
 * settles, and is judged.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { judge, type Verdict } from "../kill/judge.ts";
import { entriesOf } from "../kill/ledger.ts";
import { oneOf, type Random, seeded } from "../kill/random.ts";
import { introduce, settles } from "../kill/settling.ts";
import { Stage } from "../kill/stage.ts";
import { Talk } from "../kill/talk.ts";
import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { judgeWriters } from "./judge_writers.ts";
import { Slot } from "./slot.ts";
import { LEASE_MS } from "./worker.ts";

/** How a run is made. */
export interface FourOptions {
  /** How long processes are paused and killed, in milliseconds. */
  readonly duration: number;
  /** What chance is drawn from. */
  readonly seed: number;
  /** Takes a line now and then. */
  readonly print: (line: string) => void;
  /** Whether the ledger is kept if the run fails. Default: false. */
  readonly keep?: boolean;
}

const PROCESSES = 4;
/** How many of them something may be done to at the same time: one must be left to go on. */
const BUSY = 3;
/** How long to wait between two deeds, at most, in milliseconds. */
const PAUSE_MS = 1_500;
/** How long the lease is outlasted by a pause that is to cost it, in milliseconds. */
const PAST_LEASE_MS = { min: LEASE_MS + 500, max: LEASE_MS + 3_000 };
/** How many of the messages may be unanswered before the others wait. */
const BACKLOG = 60;
/** How much is said before the first sync is kept. */
const EARLY = 4;
const LINE_MS = 15_000;

/** What is done, and how often. */
const DEEDS: readonly [Deed, ...Deed[]] = [
  "pause holder past lease",
  "pause holder past lease",
  "pause holder",
  "pause",
  "pause",
  "kill holder",
  "kill",
];

type Deed = "pause" | "pause holder" | "pause holder past lease" | "kill" | "kill holder";

/** Makes a run. */
export async function fourRun(server: SynapseServer, options: FourOptions): Promise<Verdict> {
  await using stage = await Stage.build(server, { store: "denokv", cast: "nobody" });
  const { ledger } = stage;
  const random = seeded(options.seed);
  const mayTalk = (): boolean =>
    ledger.count("synced") > 0 ? talk.said.length - ledger.answered.size < BACKLOG : talk.said.length < EARLY;
  const talk = new Talk(stage, { random: seeded(options.seed + 1), mayTalk, pauseMs: 1_500 });
  const { baseUrl, token, userId, store, ledger: path } = stage.orders({ talks: false });
  const slots = Array.from({ length: PROCESSES }, (_, index) =>
    new Slot(
      `process-${index + 1}`,
      (process) => ({ baseUrl, token, userId, store, ledger: path, process }),
    ));
  const director = new Director(stage, slots, random);
  talk.startPlain();
  const introducing = introduce(stage).then(() => talk.startEncrypted());
  const begun = performance.now();
  let told = begun;
  while (performance.now() - begun < options.duration) {
    director.act();
    await delay(random() * PAUSE_MS);
    if (performance.now() - told > LINE_MS) {
      told = performance.now();
      options.print(
        `${
          Math.round((told - begun) / 1_000)
        } s: ${talk.said.length} messages, ${ledger.answered.size} answered; ` +
          `the device was taken ${ledger.count("took")} times, ${ledger.count("ended")} processes ended; ` +
          JSON.stringify(director.counts),
      );
    }
  }
  await introducing;
  await director.done();
  await talk.stop();
  const problems = director.problems;
  if (!await settles(stage, talk.said)) problems.push("not all has settled");
  for (const slot of slots) {
    const problem = await slot.stop();
    if (problem !== undefined) problems.push(problem);
  }
  const verdict = await judge({ stage, said: talk.said, ledger: ledger.entries });
  const writers = await judgeWriters(stage, problems);
  problems.push(...talk.failed.map((why) => `a peer could not speak: ${why}`), ...verdict.problems);
  if (options.keep && problems.length > 0) options.print(`The ledger is in ${stage.keep()}`);
  return { counts: { ...verdict.counts, ...director.counts, ...writers }, problems };
}

/** Does things to the processes. */
class Director {
  readonly problems: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #stage: Stage;
  readonly #slots: readonly Slot[];
  readonly #random: Random;
  readonly #deeds = new Set<Promise<void>>();

  constructor(stage: Stage, slots: readonly Slot[], random: Random) {
    this.#stage = stage;
    this.#slots = slots;
    this.#random = random;
  }

  /** Begins something, if there is a process for it. */
  act(): void {
    const idle = this.#slots.filter(({ isBusy }) => !isBusy);
    idle.forEach((slot) => this.#revive(slot));
    if (this.#slots.length - idle.length >= BUSY) return;
    const deed = oneOf(this.#random, DEEDS);
    const holder = idle.find(({ process }) => process === this.#holder);
    const slot = deed.includes("holder") ? holder : idle[Math.floor(this.#random() * idle.length)];
    if (slot === undefined) return;
    this.counts[deed] = (this.counts[deed] ?? 0) + 1;
    slot.isBusy = true;
    const done = this.#do(deed, slot).finally(() => {
      slot.isBusy = false;
      this.#deeds.delete(done);
    });
    this.#deeds.add(done);
  }

  /** Waits for all that was begun. */
  async done(): Promise<void> {
    await Promise.all(this.#deeds);
    this.#slots.forEach((slot) => this.#revive(slot));
  }

  /** Replaces a process that has ended by itself, which must have said why. */
  #revive(slot: Slot): void {
    const process = slot.revive();
    if (process === undefined) return;
    const ended = entriesOf(this.#stage.ledger.entries, "ended");
    if (!ended.some((entry) => entry.process === process)) {
      this.problems.push(`${process} ended and did not say why`);
    }
  }

  /** Who took the device last. */
  get #holder(): string | undefined {
    return entriesOf(this.#stage.ledger.entries, "took").at(-1)?.process;
  }

  async #do(deed: Deed, slot: Slot): Promise<void> {
    if (deed.startsWith("kill")) return await slot.kill();
    if (deed !== "pause holder past lease") return await slot.pause(this.#random() * LEASE_MS);
    const { min, max } = PAST_LEASE_MS;
    const { process } = slot;
    await slot.pause(min + this.#random() * (max - min));
    const isOvertaken = this.#holder !== process;
    if (isOvertaken && !await slot.ends()) {
      this.problems.push(`${process} goes on, though another has the device`);
    }
    if (isOvertaken) this.counts["lost the device"] = (this.counts["lost the device"] ?? 0) + 1;
  }
}
