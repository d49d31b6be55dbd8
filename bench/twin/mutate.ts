/** Changes a request so that it is half valid, or not at all. */

import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import { asObject } from "./step.ts";
import type { Move } from "./world.ts";

/** Values of all types, to stand where another is expected. */
const VALUES: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => false,
  () => 0,
  () => 1,
  () => -1,
  () => 1.5,
  () => 2 ** 53,
  () => 2 ** 53 - 1,
  () => "",
  () => "x",
  () => "1",
  () => "x".repeat(256),
  () => [],
  () => [null],
  () => ["x"],
  () => [1],
  () => [{}],
  () => ({}),
  () => ({ x: 1 }),
  () => ({ x: "y" }),
  () => ({ x: {} }),
];

const TEXTS = [
  "",
  "x",
  "0",
  "-1",
  "1",
  "1.5",
  "true",
  "null",
  "{}",
  "[",
  "x".repeat(256),
  "a b",
  "@x:y",
  "#x:y",
];

const MUTATIONS: readonly ((random: Random, move: Move) => Move)[] = [
  mutateBody,
  mutateBody,
  mutateBody,
  mutateBody,
  mutateQuery,
  mutateQuery,
  mutatePath,
  (random, move) => ({ ...move, method: random.pick(["GET", "PUT", "POST", "DELETE", "PATCH"]) }),
  (random, move) => ({ ...move, token: random.chance(30) ? undefined : random.pick(["", "wrong"]) }),
  (random, move) => ({ ...move, ...withoutBody(random, move) }),
];

/** A changed request. */
export function mutate(random: Random, move: Move): Move {
  const mutated = random.pick(MUTATIONS)(random, move);
  if (mutated.method === "GET" && (mutated.body !== undefined || mutated.text !== undefined)) {
    return { ...mutated, body: undefined, text: undefined };
  }
  return mutated;
}

function withoutBody(random: Random, move: Move): Partial<Move> {
  if (move.method === "GET") return {};
  const text = random.chance(10) ? undefined : random.pick([
    "",
    "{",
    "null",
    "[]",
    "7",
    '"x"',
    '{"a":1,"a":2}',
    "{'a':1}",
    '{"a":NaN}',
  ]);
  return { body: undefined, text };
}

function mutatePath(random: Random, move: Move): Move {
  const index = 3 + random.below(Math.max(1, move.path.length - 3));
  const segment = random.pick([...TEXTS, move.path[3 + random.below(move.path.length)] ?? "x"]);
  const path = random.chance(85)
    ? move.path.with(Math.min(index, move.path.length - 1), segment)
    : random.chance(50)
    ? move.path.slice(0, -1)
    : [...move.path, segment];
  return { ...move, path };
}

function mutateQuery(random: Random, move: Move): Move {
  const query: Record<string, string> = { ...move.query };
  const names = Object.keys(query);
  const known = ["limit", "from", "to", "dir", "since", "filter", "timeout", "at", "unknown", "set_presence"];
  if (names.length > 0 && random.chance(30)) {
    delete query[random.pick(names)];
    return { ...move, query };
  }
  query[random.pick(names.length > 0 && random.chance(80) ? names : known)] = random.pick(TEXTS);
  return { ...move, query };
}

function mutateBody(random: Random, move: Move): Move {
  if (move.body === undefined) return mutateQuery(random, move);
  const body = structuredClone(move.body);
  const places = placesOf(body);
  const place = places.length === 0 ? undefined : random.pick(places);
  if (place === undefined || random.chance(12)) {
    return {
      ...move,
      body: { ...asObject(body), [random.pick(["unknown", "org.example.x", ""])]: random.pick(VALUES)() },
    };
  }
  const [parent, key] = place;
  if (random.chance(30)) {
    Array.isArray(parent) ? parent.splice(Number(key), 1) : Reflect.deleteProperty(parent, key);
  } else Reflect.set(parent, key, random.pick(VALUES)());
  return { ...move, body };
}

/** Every member and item of a body: where it lies, and under which key. */
function placesOf(value: unknown): [object, string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap((
    [key, item],
  ) => [[value, key] as [object, string], ...placesOf(item)]);
}
