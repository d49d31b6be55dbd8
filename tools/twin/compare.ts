/** Plays a sequence on both homeservers and finds what differs. */

import { isListed } from "./differences.ts";
import { Homeserver } from "../../src/testing/mod.ts";
import { Player, type PlayOptions, type Stage } from "./play.ts";
import { type Answer, asObject, type Compared, flat, type Step } from "./step.ts";

/** How a comparison went. */
export interface Comparison {
  /** How many requests were answered alike, or as it is listed. */
  readonly alike: number;
  /** What differs and is not listed. */
  readonly differences: readonly Compared[];
  /** What differs and is listed. */
  readonly listed: readonly Compared[];
}

/** How long Synapse may take to tell rooms of a new profile. */
const PROFILE_DELAY_MS = 300;
/** The most pairs of requests whose order is tried both ways. */
const MAX_PAIRS = 4;

/** Letters that no other run has. */
export function newRun(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => "bcdfghjklmnpqrstvwxz".charAt(byte % 20)).join("");
}

/**
 * Plays the same on both. Where two requests went out together, either order of them will do, so
 * long as one explains all that follows.
 */
export async function compare(
  theirs: Stage,
  steps: readonly Step[],
): Promise<Comparison> {
  const run = newRun();
  const expected = await playOn(theirs, steps, {
    run,
    pairs: () => "together",
    profileDelay: PROFILE_DELAY_MS,
  });
  const pairs = steps.filter(({ beside }) => beside !== undefined).slice(0, MAX_PAIRS);
  let best: Comparison | undefined;
  for (let order = 0; order < 2 ** pairs.length; order++) {
    const isTurned = (step: Step) => (order >> pairs.indexOf(step) & 1) === 1;
    await using homeserver = new Homeserver({
      unstableFeatures: { "org.matrix.msc4222": true },
      turnServer: {},
      maxUploadSize: 629_145_600,
    });
    const pairsInOrder = (step: Step) => isTurned(step) ? "turned round" : "in order";
    const answers = await playOn(homeserver, steps, { run, pairs: pairsInOrder });
    const found = differencesOf(steps, answers, expected);
    if (best === undefined || found.alike > best.alike) best = found;
    if (best.differences.length === 0) break;
  }
  return best ?? { alike: 0, differences: [], listed: [] };
}

async function playOn(stage: Stage, steps: readonly Step[], options: PlayOptions): Promise<Answer[]> {
  const player = new Player(stage, options);
  const answers: Answer[] = [];
  for (const step of steps) answers.push(...await player.play(step));
  return answers;
}

/** What differs, up to the first request after which the two are no longer in the same state. */
function differencesOf(
  steps: readonly Step[],
  ours: readonly Answer[],
  theirs: readonly Answer[],
): Comparison {
  const differences: Compared[] = [];
  const listed: Compared[] = [];
  let alike = 0;
  for (const [index, step] of steps.flatMap(flat).entries()) {
    const [our, their] = [ours[index], theirs[index]];
    if (our === undefined || their === undefined) break;
    const compared = { step, ours: our, theirs: their };
    const same = JSON.stringify(our) === JSON.stringify(their);
    const isKnown = !same && isListed(compared);
    if (same || isKnown) alike++;
    if (isKnown) listed.push(compared);
    else if (!same) differences.push(compared);
    if (!same && !leavesSameState(compared)) break;
  }
  return { alike, differences, listed };
}

/** Whether neither changed anything, as far as one can tell. */
function leavesSameState({ step, ours, theirs }: Compared): boolean {
  const failed = ours.status >= 400 && theirs.status >= 400;
  const isRead = step.method === "GET" || /query|search|publicRooms/.test(step.path.join("/"));
  return failed || (isRead && !step.path.includes("sync"));
}

/** Where two answers differ first, and how, on one line. */
export function whereTheyDiffer({ ours, theirs }: Compared): string {
  const codeOf = ({ status, body }: Answer) => `${status} ${asObject(body).errcode ?? ""}`.trim();
  if (codeOf(ours) !== codeOf(theirs)) return `${codeOf(ours)}, but Synapse ${codeOf(theirs)}`;
  const [path, our, their] = firstDifference(ours.body, theirs.body, "") ?? ["?", undefined, undefined];
  return `${codeOf(ours)}, ${path}: ${short(our)}, but Synapse ${short(their)}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function firstDifference(a: unknown, b: unknown, path: string): [string, unknown, unknown] | undefined {
  if (JSON.stringify(a) === JSON.stringify(b)) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return [path, a, b];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const name = Array.isArray(a) ? "-" : key.startsWith("!") || key.startsWith("$") ? "*" : key;
    const found = firstDifference(asObject(a)[key], asObject(b)[key], `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return [path, a, b];
}
