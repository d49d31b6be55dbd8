/**
 * Finds out how little it takes for a fault.
 *
 * @module
 */

import { parsed } from "./input.ts";
import { jsonText } from "./odd_values.ts";
import { type Fault, play, type PlayOptions } from "./play.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How often it is played again, at most. */
const MAX_PLAYS = 400;

const encoder = new TextEncoder();

/** Plays again with ever less, as long as there is a fault; gives the last one. */
export async function shrink(options: PlayOptions, fault: Fault): Promise<Fault> {
  let found = fault;
  let plays = 0;
  const fails = async (change: Pick<PlayOptions, "only" | "edit">): Promise<boolean> => {
    if (plays++ >= MAX_PLAYS) return false;
    const count = Math.max(...fault.responses.keys()) + 1;
    const { fault: again } = await play({ ...options, ...change, count });
    if (again !== undefined) found = again;
    return again !== undefined;
  };
  const only = await fewest(fault, (indices) => fails({ only: new Set(indices) }));
  const edits = new Map<number, Bytes>();
  const edit: PlayOptions["edit"] = (index, bytes) => edits.get(index) ?? bytes;
  if (!await fails({ only: new Set(only) })) return found;
  for (const index of [...only].reverse()) {
    let value = parsed(found.responses.get(index) ?? new Uint8Array());
    for (let next = 0; typeof value === "object" && value !== null; next++) {
      const smaller = without(value, next);
      if (smaller === undefined) break;
      edits.set(index, encoder.encode(jsonText(smaller)));
      if (await fails({ only: new Set(only), edit })) [value, next] = [smaller, next - 1];
    }
    if (value !== undefined) edits.set(index, encoder.encode(jsonText(value)));
  }
  await fails({ only: new Set(only), edit });
  return found;
}

/**
 * The fewest responses that it takes: those given last, or else all up to them, halved as long as
 * that helps.
 */
async function fewest(
  { responses }: Fault,
  fails: (indices: readonly number[]) => Promise<boolean>,
): Promise<readonly number[]> {
  const last = [...responses.keys()];
  const all = Array.from({ length: Math.max(...last) + 1 }, (_, index) => index);
  let indices: readonly number[] = await fails(last) ? last : all;
  for (let size = Math.ceil(indices.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < indices.length && indices.length > 1;) {
      const rest = [...indices.slice(0, from), ...indices.slice(from + size)];
      if (rest.length > 0 && await fails(rest)) indices = rest;
      else from += size;
    }
  }
  return indices;
}

/**
 * A tree without its nth member or item, counted from the top down; undefined: there are no more.
 */
function without(root: object, nth: number): unknown {
  const copy = structuredClone(root);
  const level: object[] = [copy];
  for (let left = nth; level.length > 0;) {
    const parent = level.shift() as object;
    const names = Object.keys(parent);
    const name = names[left];
    if (name !== undefined) {
      if (Array.isArray(parent)) parent.splice(Number(name), 1);
      else Reflect.deleteProperty(parent, name);
      return copy;
    }
    left -= names.length;
    for (const value of Object.values(parent)) {
      if (typeof value === "object" && value !== null) level.push(value);
    }
  }
  return undefined;
}
