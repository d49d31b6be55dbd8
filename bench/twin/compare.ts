/** Plays a sequence on both homeservers and finds what differs. */

import { Homeserver } from "../../src/testing/mod.ts";
import { Canon } from "./canon.ts";
import { listedAs } from "./differences.ts";
import { playOn } from "./play.ts";
import { type Answer, asObject, type Compared, flat, type Step } from "./step.ts";
import type { Played, Theirs } from "./theirs.ts";
import { SLIDING } from "./world.ts";

/** How a comparison went. */
export interface Comparison {
  /** How many requests were answered alike, or as it is listed. */
  readonly alike: number;
  /** What differs and is not listed. */
  readonly differences: readonly Compared[];
  /** What differs and is listed. */
  readonly listed: readonly Compared[];
}

/** The most pairs of requests whose order is tried both ways. */
const MAX_PAIRS = 4;

/**
 * Plays the same on both. Where two requests went out together, either order of them will do, so
 * long as one explains all that follows.
 */
export async function compare(
  theirs: Theirs,
  steps: readonly Step[],
  options: { readonly anew?: boolean } = {},
): Promise<Comparison> {
  const expected = await theirs(steps, options);
  const { run } = expected;
  const pairs = steps.filter(({ beside }) => beside !== undefined).slice(0, MAX_PAIRS);
  let best: Comparison | undefined;
  for (let order = 0; order < 2 ** pairs.length; order++) {
    const isTurned = (step: Step) => (order >> pairs.indexOf(step) & 1) === 1;
    await using homeserver = new Homeserver({
      unstableFeatures: { [SLIDING]: true },
      searchAllUsers: false,
      quirks: { syncCache: 120_000 },
      turnServer: {},
      maxUploadSize: 629_145_600,
    });
    const pairsInOrder = (step: Step) => isTurned(step) ? "turned round" : "in order";
    const answers = await playOn(homeserver, steps, { run, pairs: pairsInOrder });
    const found = differencesOf(steps, comparable(steps, { run, answers }), comparable(steps, expected));
    if (best === undefined || found.alike > best.alike) best = found;
    if (best.differences.length === 0) break;
  }
  return best ?? { alike: 0, differences: [], listed: [] };
}

/** The answers with what differs by nature taken out. */
function comparable(steps: readonly Step[], { run, answers }: Played): Answer[] {
  const canon = new Canon(run);
  return steps.flatMap(flat).slice(0, answers.length).map((step, index) => {
    const { status = 0, body } = answers[index] ?? {};
    return canon.answer(step, { status, body });
  });
}

/** What differs, up to the first request after which the two are no longer in the same state. */
function differencesOf(
  steps: readonly Step[],
  ours: readonly Answer[],
  theirs: readonly Answer[],
): Comparison {
  const differences: Compared[] = [];
  const listed: Compared[] = [];
  const upgraded: string[] = [];
  const beside = steps.filter((step) => step.beside !== undefined).flatMap(flat).map(({ id }) => id);
  let alike = 0;
  for (const [index, step] of steps.flatMap(flat).entries()) {
    const [our, their] = [ours[index], theirs[index]];
    if (our === undefined || their === undefined) break;
    const compared = {
      step,
      ours: our,
      theirs: their,
      upgraded: [...upgraded],
      isSinceBeside: isSince(step, beside),
    };
    const { replacement_room: replacement } = asObject(their.body);
    if (typeof replacement === "string") upgraded.push(replacement);
    const same = JSON.stringify(our) === JSON.stringify(their);
    const known = same ? undefined : listedAs(compared);
    if (same || known !== undefined) alike++;
    if (known !== undefined) listed.push(compared);
    else if (!same) differences.push(compared);
    if (!same && !(known?.goesOn ?? leavesSameState(compared))) break;
  }
  return { alike, differences, listed };
}

/** Whether a request goes on from what one of these was answered. */
function isSince({ query }: Step, ids: readonly number[]): boolean {
  return ids.some((id) => query?.since === `{{${id}.next_batch}}` || query?.pos === `{{${id}.pos}}`);
}

/** Whether neither changed anything, as far as one can tell. */
function leavesSameState({ step, ours, theirs }: Compared): boolean {
  // What fails inside may have done half of it.
  const failed = ours.status >= 400 && theirs.status >= 400 && theirs.status < 500;
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
