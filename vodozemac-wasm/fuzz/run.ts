/**
 * The fuzz loop: `deno task fuzz [--seconds=10] [--seed=1]`.
 *
 * It calls every operation of the instance, past the checks of the TypeScript surface, with handles
 * of the right and the wrong kind, with valid input, mutated input and nonsense, in any order.
 * Nothing may trap and nothing may take longer than two seconds. What fails is written to
 * `fuzz/crashes/` and printed with its seed; once understood it goes into `fuzz/corpus/`, which
 * every run replays.
 *
 * @module
 */

import { Engine, MAX_INPUT_BYTES } from "../src/engine.ts";
import { VodozemacError } from "../src/error.ts";
import { type Operation, OPERATIONS } from "../src/operations.ts";
import { wasmModule } from "../src/wasm_module.ts";
import { seal, unseal } from "./pickle_cipher.ts";
import { Random } from "./random.ts";
import { CONSUMES, CREATES, type Kind, pickleInput, pickles, play, type Seeds, worksOn } from "./seeds.ts";

const OPERATION_NAMES = Object.keys(OPERATIONS) as Operation[];
/** The slowest there is, 5000 one-time keys at once, takes 200 on an idle machine. */
const MAX_MILLISECONDS = 2000;
/** An instance and its objects are replaced after so many calls. */
const ROUND = 20_000;
const MAX_OBJECTS = 12;

/** What a run came to. */
export interface Report {
  /** How many calls were made. */
  readonly calls: number;
  /** How many of them succeeded. */
  readonly successes: number;
  /** The outcomes of each operation: "ok" and codes. */
  readonly outcomes: ReadonlyMap<Operation, ReadonlyMap<string, number>>;
  /** The slowest call, in milliseconds. */
  readonly slowest: readonly [Operation, number];
}

/** One call, and enough to repeat it. */
interface Call {
  readonly operation: Operation;
  readonly handle: number;
  readonly input: Uint8Array;
  readonly number: number;
}

interface World {
  readonly engine: Engine;
  readonly objects: Map<Kind, number[]>;
  readonly seeds: Seeds;
}

async function newWorld(): Promise<World> {
  const world: World = {
    engine: await Engine.instantiate(await wasmModule()),
    objects: new Map(),
    seeds: new Map(),
  };
  play(world.engine, world.objects, world.seeds);
  for (const [operation, pickle] of pickles()) {
    world.seeds.set(operation, [...world.seeds.get(operation) ?? [], pickleInput(pickle)]);
  }
  return world;
}

function choose({ objects, seeds }: World, random: Random): Call {
  const operation = random.pick(OPERATION_NAMES);
  const kind = worksOn(operation);
  const right = kind === undefined ? [] : objects.get(kind) ?? [];
  const handle = right.length > 0 && random.chance(95) ? random.pick(right) : random.number();
  const own = seeds.get(operation) ?? [new Uint8Array()];
  const all = seeds.get(random.pick(OPERATION_NAMES)) ?? own;
  const input = random.chance(15)
    ? random.pick(own)
    : random.chance(5)
    ? random.bytes(random.below(300))
    : random.mutate(random.pick(random.chance(90) ? own : all), all);
  // Of the numbers some are handles, and some of the loops run as often as they say.
  const others = objects.get("inbound") ?? [0];
  const number = operation === "account_generate_one_time_keys" && !random.chance(1)
    ? random.below(20)
    : operation === "inbound_compare" || operation === "inbound_merge"
    ? random.chance(90) && others.length > 0 ? random.pick(others) : random.number()
    : random.chance(40)
    ? random.below(2)
    : random.number();
  return { operation, handle, input, number };
}

/** Pickles whose contents were changed: only with a good MAC does anyone look at them. */
function choosePickle(random: Random, contents: readonly (readonly [Operation, Uint8Array])[]): Call {
  const [operation, content] = random.pick(contents);
  const mutated = random.mutate(content, contents.map(([, other]) => other));
  return { operation, handle: 0, input: pickleInput(seal(mutated, "key")), number: 0 };
}

function outcomeOf(engine: Engine, { operation, handle, input, number }: Call): [string, number] {
  try {
    const status = engine.call(operation, handle, [input], number);
    engine.bytes();
    return ["ok", status];
  } catch (error) {
    if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
    return [error.code, 0];
  }
}

function keep({ engine, objects }: World, { operation, handle }: Call, status: number, random: Random): void {
  const worked = worksOn(operation);
  if (worked !== undefined && CONSUMES.has(operation)) {
    objects.set(worked, (objects.get(worked) ?? []).filter((other) => other !== handle));
  }
  const created = CREATES[operation];
  if (created === undefined || status <= 0) return;
  const list = [...objects.get(created) ?? [], status];
  if (list.length > MAX_OBJECTS) {
    const [dropped] = list.splice(random.below(list.length - 1), 1);
    if (dropped !== undefined) engine.free(dropped);
  }
  objects.set(created, list);
}

/** Fuzzes for a time. */
async function fuzz(seconds: number, seed: number): Promise<Report> {
  const random = new Random(seed);
  const contents = pickles().map(([operation, pickle]) => [operation, unseal(pickle, "key")] as const);
  const outcomes = new Map<Operation, Map<string, number>>();
  let [calls, successes] = [0, 0];
  let slowest: [Operation, number] = ["account_new", 0];
  const end = performance.now() + seconds * 1000;
  let world = await newWorld();
  while (performance.now() < end) {
    if (calls % ROUND === ROUND - 1) world = await newWorld();
    const call = random.chance(10) ? choosePickle(random, contents) : choose(world, random);
    const start = performance.now();
    let outcome, status;
    try {
      [outcome, status] = outcomeOf(world.engine, call);
    } catch (error) {
      throw await crash(call, seed, calls, error);
    }
    const took = performance.now() - start;
    if (took > slowest[1]) slowest = [call.operation, took];
    if (took > MAX_MILLISECONDS) {
      throw await crash(call, seed, calls, new Error(`took ${took} ms`));
    }
    keep(world, call, status, random);
    calls += 1;
    if (outcome === "ok") successes += 1;
    const counts = outcomes.get(call.operation) ?? new Map<string, number>();
    outcomes.set(call.operation, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  }
  return { calls, successes, outcomes, slowest };
}

async function crash(call: Call, seed: number, calls: number, cause: unknown): Promise<Error> {
  const directory = new URL("./crashes/", import.meta.url);
  await Deno.mkdir(directory, { recursive: true });
  const { operation, handle, number } = call;
  await Deno.writeFile(
    new URL(`${operation}-${seed}-${calls}`, directory),
    call.input.slice(0, MAX_INPUT_BYTES),
  );
  return new Error(
    `${operation}(${handle}, ${call.input.length} bytes, ${number}) at seed ${seed}, call ${calls}`,
    { cause },
  );
}

function option(name: string, byDefault: number): number {
  const found = Deno.args.find((arg) => arg.startsWith(`--${name}=`));
  return found === undefined ? byDefault : Number(found.slice(name.length + 3));
}

if (import.meta.main) {
  const seed = option("seed", Date.now() % 1_000_000);
  const seconds = option("seconds", 10);
  const { calls, successes, outcomes, slowest } = await fuzz(seconds, seed);
  const lines = [...outcomes].sort().map(([operation, counts]) =>
    `${operation}: ${[...counts].sort().map(([outcome, count]) => `${outcome} ${count}`).join(", ")}`
  );
  lines.push(
    `seed ${seed}, ${seconds} s: ${calls} calls of ${outcomes.size} operations, ${successes} succeeded, no trap; ` +
      `slowest ${slowest[0]}, ${slowest[1].toFixed(1)} ms`,
  );
  await Deno.stdout.write(new TextEncoder().encode(lines.join("\n") + "\n"));
}
