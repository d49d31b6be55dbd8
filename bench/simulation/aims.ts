/**
 * What stories aim at: faults of one operation lie in wait from the beginning, and the story has what makes
 * that operation happen. So cells of the table are reached that no chance would fill. What a story aims at is
 * chosen for the world that it has anyhow, so that worlds of each kind are as many as without aims.
 *
 * @module
 */

import { Chance } from "./core/chance.ts";
import { CELLS_ELSEWHERE } from "./numbered.ts";
import { occasionOf } from "./occasions.ts";
import { cellOf, columnsOf, DONE, ROWS } from "./table.ts";
import type { Aim } from "./world/aim.ts";

/** Kinds of worlds: with an application service, with recovery keys, or with neither. */
export type WorldKind = "service" | "trust" | "plain";

/** How many stories of each kind aim at something: the fewer worlds, the more. */
const SHARES: Readonly<Record<WorldKind, number>> = { service: 0.35, trust: 0.12, plain: 0.08 };
/** How many faults lie in wait in one world: what goes wrong is mostly tried again. */
const AT_ONCE = 3;

/** What is out of reach. */
const OUT_OF_REACH: ReadonlySet<string> = new Set([...CELLS_ELSEWHERE.values()].flat());

/** By kind of worlds, what can be aimed at there: each cell as often as any other. */
const AIMS: ReadonlyMap<WorldKind, readonly Aim[]> = Map.groupBy(
  ROWS.flatMap((operation) => cellsOf(operation)),
  ({ operation }) => kindOf(operation),
);

/**
 * What a seed's story aims at, in a world of a kind: several cells of one operation, or nothing.
 *
 * @param wanted One of them. Default: chance decides.
 */
export function aimsOf(seed: number, kind: WorldKind, wanted?: Aim): readonly Aim[] {
  const chance = new Chance(`aims ${seed}`);
  if (wanted === undefined && !chance.odds(SHARES[kind])) return [];
  const first = wanted ?? chance.pick(AIMS.get(kind) ?? []);
  const others = cellsOf(first.operation).filter(({ column }) => column !== first.column);
  const at = chance.below(others.length);
  return [first, ...[...others.slice(at), ...others.slice(0, at)].slice(0, AT_ONCE - 1)];
}

/** All that can happen to an operation, and can be aimed at. */
export function cellsOf(operation: string): Aim[] {
  return columnsOf(operation).filter((column) =>
    column !== DONE && !OUT_OF_REACH.has(cellOf(operation, column))
  ).map((column) => ({ operation, column }));
}

/** In which kind of worlds an operation can happen. */
function kindOf(operation: string): WorldKind {
  const { needs: { service, isVouched } } = occasionOf(operation);
  return service !== undefined ? "service" : isVouched === true ? "trust" : "plain";
}
