/**
 * Changes of what was valid.
 *
 * @module
 */

import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import { type OddValues, put } from "./odd_values.ts";

type Parent = Record<string, unknown> | unknown[];

/** A place in a tree: a member of an object, or an item of a list. */
interface Place {
  readonly parent: Parent;
  readonly name: string;
}

/** How far up the tree a place may be looked for again, when the way down ends. */
const MAX_DEPTH = 200;

/**
 * What is changed seldom: of a response that does not say where to go on nothing else is looked at,
 * and where counts of keys are missing, the client makes fifty new ones, which takes longer than
 * all else.
 */
const SELDOM = ["next_batch", "device_one_time_keys_count", "device_unused_fallback_key_types"];

/** Changes a tree in place, here and there. */
export function mutateTree(random: Random, oddValues: OddValues, root: Record<string, unknown>): void {
  for (let count = 1 + random.below(4); count > 0; count--) {
    const place = placeIn(random, root);
    if (place !== undefined) mutateAt(random, oddValues, place, root);
  }
}

/** A place: most are far down, where the leaves are. */
function placeIn(random: Random, root: Parent): Place | undefined {
  let found: Place | undefined;
  let parent = root;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    let names = Object.keys(parent);
    if (parent === root && names.length > 1 && random.chance(95)) {
      names = names.filter((name) => !SELDOM.includes(name));
    }
    if (names.length === 0) return found;
    found = { parent, name: random.pick(names) };
    const below = valueAt(found);
    if (typeof below !== "object" || below === null || random.chance(depth === 0 ? 2 : 15)) return found;
    parent = below as Parent;
  }
  return found;
}

function mutateAt(random: Random, oddValues: OddValues, place: Place, root: Parent): void {
  const { parent, name } = place;
  const value = valueAt(place);
  switch (random.below(10)) {
    case 0: // gone
      if (Array.isArray(parent)) parent.splice(Number(name), 1);
      else delete parent[name];
      return;
    case 1: // twice
      if (Array.isArray(parent)) parent.push(value);
      else put(parent, oddValues.name(), value);
      return;
    case 2: { // that of another place
      const other = placeIn(random, root);
      if (other !== undefined) set(place, structuredClone(valueAt(other)));
      return;
    }
    case 3: // one more
      if (Array.isArray(value)) value.push(oddValues.value());
      else if (isObject(value)) put(value, oddValues.name(), oddValues.value());
      else set(place, [value]);
      return;
    case 4: // in another wrapping
      set(place, random.chance(50) ? [value] : { [name]: value });
      return;
    case 5: // a text that is nearly the same
      set(place, typeof value === "string" ? nearly(random, oddValues, value) : oddValues.value());
      return;
    case 6: // many
      set(place, Array.isArray(value) ? repeated(value, random.pick([2, 20, 200])) : oddValues.value());
      return;
    default:
      set(place, oddValues.value());
  }
}

function nearly(random: Random, oddValues: OddValues, text: string): string {
  const at = random.below(text.length + 1);
  const to = at + random.below(text.length - at + 1);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + oddValues.text() + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, at) + random.pick(["A", "0", "=", "/", "_", ":", "\u0000"]) + text.slice(at + 1);
    default:
      return text.toUpperCase();
  }
}

/** At most some thousand items: there are quadratic ways to make them. */
function repeated(list: readonly unknown[], times: number): unknown[] {
  return Array.from({ length: times }, () => list).flat().slice(0, 2_000);
}

function valueAt({ parent, name }: Place): unknown {
  return Reflect.get(parent, name);
}

function set({ parent, name }: Place, value: unknown): void {
  if (Array.isArray(parent)) parent[Number(name)] = value;
  else put(parent, name, value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
