/**
 * Whether what happens in no world by chance can happen at all:
 * stories aim at each cell of the table until one reaches it.
 *
 * @module
 */

import { cellsOf } from "./aims.ts";
import { Coverage } from "./coverage.ts";
import { play } from "./play.ts";
import { storyOf } from "./story.ts";
import { cellOf, partsOf, ROWS } from "./table.ts";
import type { Aim } from "./world/aim.ts";

/** How many stories aim at a cell at most. */
const MOST = 100;

/** What a cell is by its name in the table; undefined: no name was given. */
export function aimOf(name: string | undefined): Aim | undefined {
  if (name === undefined) return undefined;
  const [operation, column] = partsOf(name);
  const aim = cellsOf(operation).find((each) => each.column === column);
  if (aim === undefined || !ROWS.includes(operation)) {
    throw new Error(`Cannot aim at "${name}": there is no such cell, as "commit outbox | crash after"`);
  }
  return aim;
}

/**
 * Plays stories that aim at each cell that none has reached before, and prints those that none reaches.
 *
 * @returns Whether all were reached, and nothing was violated.
 */
export async function huntCells(print: (line: string) => void): Promise<boolean> {
  const coverage = new Coverage();
  let [stories, violations] = [0, 0];
  const missing: string[] = [];
  for (const aim of ROWS.flatMap((operation) => cellsOf(operation))) {
    const cell = cellOf(aim.operation, aim.column);
    for (let seed = 1; seed <= MOST && !coverage.has(cell); seed++) {
      const { violations: [violation], reached } = await play(storyOf(seed, { aim }));
      coverage.add(reached);
      stories++;
      if (violation === undefined) continue;
      violations++;
      print(`--seed=${seed} --aim="${cell}": ${violation}`);
    }
    if (coverage.has(cell)) continue;
    missing.push(cell);
    print(`not reached: ${cell}`);
  }
  print(`${stories} stories, ${missing.length} cells not reached, ${violations} stories with a violation`);
  return missing.length === 0 && violations === 0;
}
