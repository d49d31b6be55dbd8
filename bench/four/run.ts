/**
 * A run: four processes of one device, which are paused, resumed, killed and replaced; then
 * everything settles, and is judged.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { judge, type Verdict } from "../kill/judge.ts";
import { entriesOf } from "../kill/ledger.ts";
import { oneOf, type Random, seeded } from "../kill/random.ts";
import { introduce, settles } from "../kill/settling.ts";
import { Setup } from "../kill/setup.ts";
import { Talk } from "../kill/talk.ts";
import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { judgeWriters } from "./judge_writers.ts";
import { Slot } from "./slot.ts";
import { LEASE_MS } from "./worker.ts";

/** Options of a run. */
export interface FourOptions {
  /**
   * How long processes are paused and killed, in milliseconds: longer, where a busy machine has not come so
   * far that one has lost the device, but not more than {@link LONGER} times as long.
   */
  readonly duration: number;
  /** The seed of the faults. */
  readonly seed: number;
  /** Called with a line now and then. */
  readonly print: (line: string) => void;
  /** Whether the ledger is kept if the run fails. Default: false. */
  readonly keep?: boolean;
}

const PROCESSES = 4;
const LONGER = 10;
/** How many of them may have a fault at the same time: one must be left to go on. */
const BUSY = 3;
/** The longest wait between two faults, in milliseconds. */
const PAUSE_MS = 1_500;
/** How long a pause past the lease lasts, in milliseconds. */
const PAST_LEASE_MS = { min: LEASE_MS + 500, max: LEASE_MS + 3_000 };
/** How many of the messages may be unanswered before the others wait. */
const BACKLOG = 60;
/** How many messages are sent before the first sync is stored. */
const EARLY = 4;
const LINE_MS = 15_000;

/** The faults, each as often as its share. */
const FAULTS: readonly [Fault, ...Fault[]] = [
  "pause holder past lease",
  "pause holder past lease",
  "pause holder",
  "pause",
  "pause",
  "kill holder",
  "kill",
];

/** What is counted where another process took the device of one that was paused. */
const LOST = "lost the device";

type Fault = "pause" | "pause holder" | "pause holder past lease" | "kill" | "kill holder";

/** Makes a run. */
export async function fourRun(server: SynapseServer, options: FourOptions): Promise<Verdict> {
  await using setup = await Setup.build(server, { store: "denokv", peers: "none" });
  const { ledger } = setup;
  const random = seeded(options.seed);
  const mayTalk = (): boolean =>
    ledger.count("synced") > 0 ? talk.said.length - ledger.answered.size < BACKLOG : talk.said.length < EARLY;
  const talk = new Talk(setup, { random: seeded(options.seed + 1), mayTalk, pauseMs: 1_500 });
  const { baseUrl, token, userId, store, ledger: path } = setup.orders({ talks: false });
  const slots = Array.from({ length: PROCESSES }, (_, index) =>
    new Slot(
      `process-${index + 1}`,
      (process) => ({ baseUrl, token, userId, store, ledger: path, process }),
    ));
  const injector = new FaultInjector(setup, slots, random);
  talk.startPlain();
  const introducing = introduce(setup).then(() => talk.startEncrypted());
  const begun = performance.now();
  let told = begun;
  const lasted = () => (performance.now() - begun) / options.duration;
  while (lasted() < 1 || (injector.counts[LOST] === undefined && lasted() < LONGER)) {
    injector.inject();
    await delay(random() * PAUSE_MS);
    if (performance.now() - told > LINE_MS) {
      told = performance.now();
      options.print(
        `${
          Math.round((told - begun) / 1_000)
        } s: ${talk.said.length} messages, ${ledger.answered.size} answered; ` +
          `the device was taken ${ledger.count("took")} times, ${ledger.count("ended")} processes ended; ` +
          JSON.stringify(injector.counts),
      );
    }
  }
  await introducing;
  await injector.done();
  await talk.stop();
  const problems = injector.problems;
  if (!await settles(setup, talk.said)) problems.push("not all has settled");
  for (const slot of slots) {
    const problem = await slot.stop();
    // One that has lost the device by then, as on a busy machine, has ended and said so.
    if (problem !== undefined && !saidWhy(setup, slot.process)) problems.push(problem);
  }
  const verdict = await judge({ setup, said: talk.said, ledger: ledger.entries, comesInOrder: true });
  const writers = await judgeWriters(setup, problems);
  problems.push(...talk.failed.map((why) => `a peer could not send: ${why}`), ...verdict.problems);
  if (options.keep && problems.length > 0) options.print(`The ledger is in ${setup.keep()}`);
  return { counts: { ...verdict.counts, ...injector.counts, ...writers }, problems };
}

/** Whether a process has recorded why it ended by itself; `judgeWriters()` looks at the reason. */
function saidWhy({ ledger }: Setup, process: string): boolean {
  return entriesOf(ledger.entries, "ended").some((entry) => entry.process === process);
}

/** Pauses and kills the processes. */
class FaultInjector {
  readonly problems: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #setup: Setup;
  readonly #slots: readonly Slot[];
  readonly #random: Random;
  readonly #faults = new Set<Promise<void>>();

  constructor(setup: Setup, slots: readonly Slot[], random: Random) {
    this.#setup = setup;
    this.#slots = slots;
    this.#random = random;
  }

  /** Starts a fault, if there is a process for it. */
  inject(): void {
    const idle = this.#slots.filter(({ isBusy }) => !isBusy);
    idle.forEach((slot) => this.#revive(slot));
    if (this.#slots.length - idle.length >= BUSY) return;
    const fault = oneOf(this.#random, FAULTS);
    const holder = idle.find(({ process }) => process === this.#holder);
    const slot = fault.includes("holder") ? holder : idle[Math.floor(this.#random() * idle.length)];
    if (slot === undefined) return;
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
    slot.isBusy = true;
    const done = this.#do(fault, slot).finally(() => {
      slot.isBusy = false;
      this.#faults.delete(done);
    });
    this.#faults.add(done);
  }

  /** Waits for the faults that were started. */
  async done(): Promise<void> {
    await Promise.all(this.#faults);
    this.#slots.forEach((slot) => this.#revive(slot));
  }

  /** Replaces a process that has ended by itself, which must have recorded why. */
  #revive(slot: Slot): void {
    const process = slot.revive();
    if (process === undefined) return;
    if (!saidWhy(this.#setup, process)) this.problems.push(`${process} ended and did not record why`);
  }

  /** The process that took the device last. */
  get #holder(): string | undefined {
    return entriesOf(this.#setup.ledger.entries, "took").at(-1)?.process;
  }

  async #do(fault: Fault, slot: Slot): Promise<void> {
    if (fault.startsWith("kill")) return await slot.kill();
    if (fault !== "pause holder past lease") return await slot.pause(this.#random() * LEASE_MS);
    const { min, max } = PAST_LEASE_MS;
    const { process } = slot;
    await slot.pause(min + this.#random() * (max - min));
    const isOvertaken = this.#holder !== process;
    if (isOvertaken && !await slot.ends()) {
      this.problems.push(`${process} goes on, though another has the device`);
    }
    if (isOvertaken) this.counts[LOST] = (this.counts[LOST] ?? 0) + 1;
  }
}
