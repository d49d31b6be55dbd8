/** Makes sequences of requests that make sense, for the most part. */

import { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import { accountMoves, register } from "./moves/account.ts";
import { eventMoves } from "./moves/events.ts";
import { keyMoves } from "./moves/keys.ts";
import { readingMoves, syncOf } from "./moves/reading.ts";
import { createRoom, roomMoves } from "./moves/rooms.ts";
import { settingMoves } from "./moves/settings.ts";
import { slideOf, slidingMoves } from "./moves/sliding.ts";
import { mutate } from "./mutate.ts";
import type { Step } from "./step.ts";
import { type Move, v3, World } from "./world.ts";

type Weighted = readonly (readonly [number, (world: World) => Move])[];

/** The moves of each area, and how much of a sequence is about it. */
const AREAS: readonly (readonly [number, Weighted])[] = [
  [10, roomMoves],
  [24, eventMoves],
  [24, readingMoves],
  [10, accountMoves],
  [8, keyMoves],
  [5, settingMoves],
  [6, slidingMoves],
];

/** A sequence has more of one area, this many times. */
const EMPHASIS = 4;
const NAMES = ["alice", "bob", "carol"];
/** So many requests of a hundred are changed, and so many have another beside them. */
const MUTATED = 25;
const BESIDE = 3;

/** Makes the sequence of a seed. */
export function generate(seed: number): Step[] {
  const random = new Random(seed);
  const world = new World(random);
  const steps: Step[] = [];
  let next = 0;
  const add = (...moves: Move[]): void => {
    const [step, beside] = moves.map(({ done: _, isAsItIs: __, ...move }): Step => ({ id: next++, ...move }));
    if (step === undefined) return;
    steps.push(beside === undefined ? step : { ...step, beside });
    moves.forEach((move, index) => move.done?.(step.id + index));
  };
  for (const name of NAMES) add(register(world, name));
  add({ ...createRoom(world), token: world.people[0]?.logins[0]?.token });
  const areas = AREAS.map(([weight, moves]) => [weight, moves] as [number, Weighted]);
  random.pick(areas)[0] *= EMPHASIS;
  for (let left = 25 + random.below(45); left > 0; left--) {
    const one = oneMove(world, areas);
    if (random.chance(BESIDE)) add(one, oneMove(world, areas));
    else add(one);
  }
  for (const move of lastLook(world)) add(move);
  return steps;
}

function oneMove(world: World, areas: Weighted | (readonly (readonly [number, Weighted])[])): Move {
  if (world.rooms.length === 0) return createRoom(world);
  const move = weighted(world, weighted(world, areas as readonly (readonly [number, Weighted])[]))(world);
  return move.isAsItIs !== true && world.random.chance(MUTATED)
    ? { ...mutate(world.random, move), done: undefined }
    : move;
}

function weighted<T>({ random }: World, items: readonly (readonly [number, T])[]): T {
  let at = random.below(items.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, item] of items) {
    at -= weight;
    if (at < 0) return item;
  }
  throw new RangeError("Cannot choose: there is nothing to choose from");
}

/** What shows the state that a sequence leaves. */
function lastLook(world: World): Move[] {
  const filter = JSON.stringify({ room: { timeline: { limit: 100 }, include_leave: true } });
  const device_keys = Object.fromEntries(world.people.map(({ id }) => [id, []]));
  return world.people.flatMap((person) => {
    const login = world.login(person);
    const since = login.batches.at(-1);
    const query = { set_presence: "offline", timeout: "0" };
    return [
      ...(since === undefined ? [] : [syncOf(world, person, login, { ...query, since })]),
      syncOf(world, person, login, { ...query, filter }),
      slideOf(login, { pos: login.positions.at(-1) }),
      slideOf(login),
      world.by(person, "GET", v3("pushrules", "")),
      world.by(person, "GET", v3("devices")),
      world.by(person, "POST", v3("keys", "query"), { body: { device_keys } }),
      ...world.rooms.slice(0, 3).flatMap(({ id }) => [
        world.by(person, "GET", v3("rooms", id, "state")),
        world.by(person, "GET", v3("rooms", id, "messages"), { query: { dir: "b", limit: "100" } }),
      ]),
    ];
  });
}
