/**
 * Cuts the power at the places of a recording, and judges what that leaves.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Random } from "../kill/random.ts";
import { cutsOf } from "./cuts.ts";
import { type Cut, Disk, type Files } from "./disk.ts";
import type { Verdict } from "./judge.ts";
import type { DiskEvent, Recording } from "./recording.ts";

/** How many cuts in turn may leave nothing new before the next place. */
const MAX_KNOWN = 12;

/** How many states without a problem are kept. */
const KEPT = 3;

/** About how many states are opened at a place: fewer places are chosen where that is too many. */
const PER_PLACE = 6;

/** How a recording is examined. */
export interface Examination {
  readonly recording: Recording;
  /** The last round that was there before. */
  readonly round: number;
  /** How many states to open, about. */
  readonly states: number;
  readonly random: Random;
  /** Whether to stop at the first problem. */
  readonly first?: boolean;
  /** Opens a state. */
  readonly judge: (files: Files) => Promise<Verdict>;
}

/** A state that a store must not leave. */
export interface Problem {
  readonly text: string;
  readonly files: Files;
}

/** A state that a store may go on from. */
export interface SoundState {
  readonly round: number;
  readonly files: Files;
}

/** What was found. */
export interface Findings {
  /** After how many calls the power was cut. */
  readonly places: number;
  /** How many different states were opened. */
  readonly states: number;
  /** How many of them had a commit that was not acknowledged yet. */
  readonly ahead: number;
  readonly problems: readonly Problem[];
  /** Some of the states without a problem, at random. */
  readonly sound: readonly SoundState[];
}

/** Cuts the power at the places of a recording, and judges what that leaves. */
export async function examine(examination: Examination): Promise<Findings> {
  const examiner = new Examiner(examination);
  const { recording: { events } } = examination;
  for (const [index, event] of events.entries()) {
    if (examiner.isDone) break;
    examiner.take(event, index);
    // Notes change nothing on the disk: those after a call belong to it.
    if (events[index + 1]?.type !== "mark") await examiner.cut(index);
  }
  return examiner.findings();
}

class Examiner {
  readonly #examination: Examination;
  readonly #disk: Disk;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #problems: Problem[] = [];
  readonly #sound: SoundState[] = [];
  readonly #perPlace: number;
  #places = 0;
  #ahead = 0;
  #count = 0;
  /** The last rounds that were begun and acknowledged. */
  #begun: number;
  #done: number;

  constructor(examination: Examination) {
    const { recording, states, round } = examination;
    this.#examination = examination;
    this.#disk = new Disk(recording);
    this.#perPlace = states / recording.events.filter(({ type }) => type !== "mark").length;
    this.#begun = this.#done = round;
  }

  get isDone(): boolean {
    return this.#examination.first === true && this.#problems.length > 0;
  }

  take(event: DiskEvent, index: number): void {
    this.#disk.take(event, index);
    if (event.type !== "mark") return;
    const [what, round] = event.text.split(" ");
    if (what === "begin") this.#begun = Math.max(this.#begun, Number(round));
    else this.#done = Math.max(this.#done, Number(round));
  }

  async cut(index: number): Promise<void> {
    const { random } = this.#examination;
    if (random() * PER_PLACE > this.#perPlace) return;
    const end = this.#verdicts.size + Math.max(PER_PLACE, this.#perPlace);
    this.#places++;
    let known = 0;
    for (const cut of cutsOf(this.#disk.pending, random)) {
      if (await this.#judge(cut, index)) known = 0;
      else known++;
      if (known >= MAX_KNOWN || this.#verdicts.size >= end || this.isDone) return;
    }
  }

  findings(): Findings {
    return {
      places: this.#places,
      states: this.#verdicts.size,
      ahead: this.#ahead,
      problems: this.#problems,
      sound: this.#sound,
    };
  }

  /** Returns whether the state was a new one. */
  async #judge(cut: Cut, index: number): Promise<boolean> {
    const files = this.#disk.after(cut);
    const hash = hashOf(files);
    const known = this.#verdicts.get(hash);
    const verdict = known ?? await this.#examination.judge(files);
    this.#verdicts.set(hash, verdict);
    const problem = verdict.problem ?? this.#misplaced(verdict.round);
    if (problem !== undefined) this.#problems.push({ text: this.#describe(cut, index, problem), files });
    else if (known === undefined && verdict.problem === undefined) this.#keep(verdict.round, files);
    return known === undefined;
  }

  #misplaced(round: number): string | undefined {
    if (round < this.#done) return `round ${this.#done} was acknowledged, and the last one there is ${round}`;
    return round > this.#begun
      ? `round ${round} is there, and the last one begun is ${this.#begun}`
      : undefined;
  }

  /** Keeps a few of the sound states, each with the same chance. */
  #keep(round: number, files: Files): void {
    if (round > this.#done) this.#ahead++;
    const place = Math.floor(this.#examination.random() * ++this.#count);
    if (this.#count <= KEPT) this.#sound.push({ round, files });
    else if (place < KEPT) this.#sound[place] = { round, files };
  }

  #describe(cut: Cut, index: number, problem: string): string {
    const { recording: { names, events } } = this.#examination;
    const event = events[index];
    const place = event === undefined || event.type === "mark" ? "" : `${event.type} of ${names[event.file]}`;
    return `call ${index} (${place}), ${cut.name}: ${problem}`;
  }
}

function hashOf(files: Files): string {
  const hash = createHash("sha1");
  for (const [name, bytes] of files) hash.update(`${name} ${bytes.length} `).update(bytes);
  return hash.digest("base64");
}
