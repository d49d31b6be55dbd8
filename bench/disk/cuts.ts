/**
 * What a power cut may leave of the changes after the last syncs, up to a bound.
 *
 * @module
 */

import type { Random } from "../kill/random.ts";
import { type Cut, type Part, type Pending, sectorsOf } from "./disk.ts";
import { FOLDER } from "./recording.ts";

/** The most changes of which all combinations are made. */
const FEW = 4;

/**
 * Gives cuts: all and nothing, then by turns simple ones and combinations at random, without end.
 *
 * Which of them came already is for the caller to see: at many places there are only a few.
 *
 * @param pending The changes, in order.
 * @param random Decides about the combinations.
 */
export function* cutsOf(pending: readonly Pending[], random: Random): Generator<Cut, undefined> {
  yield cutOf(pending, "all", () => true);
  if (pending.length === 0) return;
  yield cutOf(pending, "nothing", () => false);
  for (const cut of simpleCuts(pending)) {
    yield cut;
    yield atRandom(pending, random);
  }
  for (;;) yield atRandom(pending, random);
}

function cutOf(pending: readonly Pending[], name: string, keep: (index: number) => boolean): Cut {
  return { name, kept: pending.map((_, index) => keep(index)) };
}

function* simpleCuts(pending: readonly Pending[]): Generator<Cut> {
  const last = pending.length - 1;
  const isName = (index: number) => pending[index]?.file === FOLDER;
  yield cutOf(pending, "only the last", (index) => index === last);
  yield cutOf(pending, "all but the first", (index) => index > 0);
  yield cutOf(pending, "only names", isName);
  yield cutOf(pending, "all but names", (index) => !isName(index));
  for (const file of new Set(pending.map((change) => change.file))) {
    yield cutOf(pending, `only file ${file}`, (index) => isName(index) || pending[index]?.file === file);
    yield cutOf(pending, `all but file ${file}`, (index) => isName(index) || pending[index]?.file !== file);
  }
  if (pending.length > FEW) return;
  for (let mask = 0; mask < 2 ** pending.length; mask++) {
    yield cutOf(pending, `mask ${mask}`, (index) => (mask >> index & 1) === 1);
  }
}

function atRandom(pending: readonly Pending[], random: Random): Cut {
  const below = (limit: number) => Math.floor(random() * limit);
  const chosen = below(pending.length);
  const ways: readonly [string, (index: number) => boolean][] = [
    [`all but ${chosen}`, (index) => index !== chosen],
    [`only ${chosen}`, (index) => index === chosen],
    [`the first ${chosen}`, (index) => index < chosen],
    [`all from ${chosen} on`, (index) => index >= chosen],
    ["some", () => random() < 0.5],
    ["most", () => random() < 0.9],
  ];
  const [name, keep] = ways[below(ways.length)] ?? ["nothing", () => false];
  const torn = [0, 0.1, 1][below(3)] ?? 0;
  const kept = pending.map((change, index): Part => {
    const wholly = keep(index);
    return index === chosen || random() < torn ? sectors(change, random) : wholly;
  });
  const fillers: readonly Cut["filler"][] = [undefined, () => {}, (bytes) => scribble(bytes, random)];
  const filler = fillers[below(fillers.length)];
  return {
    name: `${name}, torn ${torn} at ${chosen}, ${filler === undefined ? "short" : "long"}`,
    kept,
    filler,
  };
}

/** Some sectors of a write: those up to one, those from one on, or any. */
function sectors(change: Pending, random: Random): Part {
  const count = sectorsOf(change).length;
  const edge = Math.floor(random() * (count + 1));
  const way = random();
  if (count === 1) return way < 0.5;
  if (way < 0.35) return (sector) => sector < edge;
  if (way < 0.7) return (sector) => sector >= edge;
  const kept = Array.from({ length: count }, () => random() < 0.5);
  return (sector) => kept[sector] ?? false;
}

/** What the disk had there before. */
function scribble(bytes: Uint8Array, random: Random): void {
  const word = Math.floor(random() * 2 ** 32);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.imul(word, at + 1) >>> 24;
}
