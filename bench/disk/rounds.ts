/**
 * What the workload commits: the changes of a round follow from its number, and so does what a
 * store has after it.
 *
 * @module
 */

import type { Store, StoreMutation } from "@greenroom/matrix";
import { seeded } from "../kill/random.ts";

/**
 * Which commits are made: `everyday`: of one key and of many, small ones and large ones, removals;
 * `split`: also some that Deno KV can't make at once; `large`: so much that the log is checkpointed
 * and begins anew, and gets longer than it stays.
 */
export type Plan = "everyday" | "split" | "large";

type Change = readonly [key: readonly string[], size: number | undefined];

/** The changes of a round; rounds count from 1. */
export function changesOf(plan: Plan, round: number): StoreMutation[] {
  const changes = plan === "large"
    ? largeChanges(round)
    : everydayChanges(round, plan === "split" ? 1_050 : 150);
  return [[["head"], 16] as const, ...changes].map(([key, size]) =>
    size === undefined ? { type: "delete", key } : { type: "set", key, value: valueOf(round, size) }
  );
}

function everydayChanges(round: number, many: number): Change[] {
  const random = seeded(round * 7_919);
  const below = (limit: number) => Math.floor(random() * limit);
  const changes: Change[] = [[["log", String(round % 40)], 20 + below(300)]];
  const several = (name: string, count: number, size?: number) => {
    for (let index = 0; index < count; index++) changes.push([[name, String(index)], size]);
  };
  if (round % 29 === 13) several("bulk", many, 10);
  else if (round % 29 === 22) several("bulk", many);
  else if (round % 5 === 3) several("many", 20 + below(40), 40);
  else if (round % 9 === 5) several("many", 60);
  else if (round % 8 === 7) changes.push([["large", String(below(3))], 5_000 + below(90_000)]);
  else if (round % 8 === 2) changes.push([["large", String(below(3))], undefined]);
  else if (random() < 0.3) changes.push([["log", String(below(40))], undefined]);
  return [...new Map(changes.map((change) => [change[0].join(), change])).values()];
}

function largeChanges(round: number): Change[] {
  if (round % 16 === 9) return [[["flood"], 5_000_000]];
  if (round % 16 === 10) return [[["flood"], undefined]];
  return round % 3 === 0 ? [[["large", String(round % 4)], 90_000 + round * 100]] : [];
}

/** Begins with the round, so that each is different. */
function valueOf(round: number, size: number): Uint8Array {
  const value = new Uint8Array(size);
  for (let at = 0; at < size; at++) value[at] = Math.imul(round + 1, at + 17) >> 3;
  new DataView(value.buffer).setUint32(0, round);
  return value;
}

/** What stores have after each round. */
export class Expected {
  readonly #plan: Plan;
  readonly #after: ReadonlyMap<string, Uint8Array>[] = [new Map()];

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** The values by their keys. */
  after(round: number): ReadonlyMap<string, Uint8Array> {
    for (let next = this.#after.length; next <= round; next++) {
      const values = new Map(this.#after[next - 1]);
      for (const change of changesOf(this.#plan, next)) {
        if (change.type === "delete") values.delete(change.key.join());
        else values.set(change.key.join(), change.value as Uint8Array); // of valueOf()
      }
      this.#after.push(values);
    }
    return this.#after[round] ?? new Map();
  }
}

/** The last round that a store has; 0 before the first. */
export async function lastRound(store: Store): Promise<number> {
  const [head] = await store.getMany([["head"]]);
  const value = head?.value;
  return value instanceof Uint8Array ? new DataView(value.buffer, value.byteOffset).getUint32(0) : 0;
}
