/**
 * What a client under test is given, one response after the other: a seed repeats it.
 *
 * @module
 */

import { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import type { Senders } from "./senders.ts";
import { Grammar } from "./grammar.ts";
import { mutateTree } from "./mutations.ts";
import { jsonText, OddValues } from "./odd_values.ts";

const encoder = new TextEncoder();
/**
 * How many responses of a hundred are as the grammar makes them, and how many more are changed as
 * trees; the rest as bytes.
 */
const SHARES = { grammar: 45, tree: 42 };

/** How a response came about. */
export type Making = "grammar" | "tree" | "bytes";

/** A response. */
export interface Input {
  readonly making: Making;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One response: its number and the seed say all of it but for what is encrypted. */
export interface InputPlace {
  readonly seed: number;
  readonly index: number;
  readonly senders: Senders;
}

/** Where random numbers for a purpose come from. */
export function randomFor({ seed, index }: Pick<InputPlace, "seed" | "index">, purpose: number): Random {
  return new Random(
    (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b) ^ (purpose << 24)) >>> 0,
  );
}

/** Makes the response with a number, and the token that it should end with. */
export function inputAt(place: InputPlace, nextBatch: string): Input {
  const random = randomFor(place, 1);
  const oddValues = new OddValues(random, place.seed >>> 10);
  const grammar = new Grammar({ random, oddValues, senders: place.senders });
  const tree = grammar.response(nextBatch);
  const share = random.below(100);
  const making: Making = share < SHARES.grammar
    ? "grammar"
    : share < SHARES.grammar + SHARES.tree
    ? "tree"
    : "bytes";
  if (making === "tree") mutateTree(random, oddValues, tree);
  const bytes = encoder.encode(jsonText(tree));
  return { making, bytes: making === "bytes" ? new Uint8Array(random.mutate(bytes, [])) : bytes };
}

/** What a text says; undefined if it is no JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
