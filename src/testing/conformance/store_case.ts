/**
 * A case of the store conformance suite, and its cases in which another process uses the store.
 *
 * @module
 */

import { deepStrictEqual } from "node:assert";
import type { Store, StoreEntry, StoreKey, StoreMutation } from "../../../mod.ts";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";

/** What a case asks of a store beside the interface. */
type StoreTrait = "copies" | "durable" | "locks" | "shared";

/** What can be wrong with a place. */
export type StoreProblem = "full" | "readOnly" | "corrupted" | "foreign" | "newer";

/** Something is wrong with a place. */
export interface SpoiledStore {
  /** The class of the error with which the store says so. */
  readonly error: abstract new (...args: never[]) => Error;
  /** Opens the store of the place as it is now. By default, as that of any other place. */
  readonly open?: () => Store | Promise<Store>;
  /**
   * Takes the cause away; a store that is open then goes on if it was only full. By default,
   * nothing takes it away.
   */
  readonly mend?: () => void | Promise<void>;
}

/** Where a case takes place. */
export interface StoreScene {
  /** Makes something be wrong with the place, in which no store is open. */
  spoil(problem: StoreProblem): Promise<SpoiledStore & { readonly open: () => Promise<Store> }>;
  /** What the place holds, to be compared; `undefined` if it can't be read. */
  content(): Promise<unknown>;
}

/** Something that every store does, and how to see it. */
export interface StoreCase {
  /** A sentence that the store's name begins. */
  readonly name: string;
  /** Only for stores with this trait, or of which a place can be spoiled so. */
  readonly needs?: StoreTrait | StoreProblem;
  /**
   * Fails if the store does something else.
   *
   * @param open Opens the case's own store, empty at first.
   * @param scene What can be done to the store's place.
   */
  run(open: () => Promise<Store>, scene: StoreScene): Promise<void>;
}

/** A case that takes place in one store, open once. */
export function withStore(
  name: string,
  run: (store: Store) => Promise<void>,
  needs?: StoreCase["needs"],
): StoreCase {
  return { name, needs, run: async (open) => await run(await open()) };
}

/** Makes a mutation that puts a value somewhere. */
export function set(key: StoreKey, value: unknown): StoreMutation {
  return { type: "set", key, value };
}

/** Makes a mutation that removes a value. */
export function remove(key: StoreKey): StoreMutation {
  return { type: "delete", key };
}

export async function read(store: Store, key: StoreKey): Promise<StoreEntry | undefined> {
  return (await store.getMany([key]))[0];
}

/** Reads one value; `undefined` if there is none. */
export async function readValue(store: Store, key: StoreKey): Promise<unknown> {
  return (await read(store, key))?.value;
}

/** Reads the versionstamp that a check of the key must name. */
export async function stampOf(store: Store, key: StoreKey): Promise<string | null> {
  return (await read(store, key))?.versionstamp ?? null;
}

/** Reads all that lies below a prefix. */
export async function listed(store: Store, prefix: StoreKey): Promise<StoreEntry[]> {
  return await Array.fromAsync(store.list(prefix));
}

/** Bytes that are the same in every run, and no two pieces of which are. */
export function someBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** So many keys are more than one commit of Deno KV takes. */
const MANY = 1_200;
const LARGE = 150_000;

/**
 * Each so many rounds, a commit is larger than usual: once by a value, once by the number of its
 * changes.
 */
const CYCLE = 5;
const LARGE_ROUND = 3;
const MANY_ROUND = 4;

const GO: StoreKey = ["go"];

/**
 * Looks so often whether it may go: for a store that loses commits not to be waited for without
 * end.
 */
const MAX_LOOKS = 200_000;

/** What another process is to do. As text: a word, and a number. */
export type StoreJob = `${"rounds" | "again" | "lock" | "count" | "turns"} ${number}`;

/**
 * Does what the suite has asked for, and says on standard output how far it is. The whole program
 * of a process that `storeProcessConformance()` starts.
 *
 * @param open Opens the store of the place, once or more often.
 * @param job What the suite handed to the function that starts the process.
 * @throws {ValueError} If there is no such job.
 *
 * @example The program `worker.ts`, started with the path and the job
 * ```ts
 * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
 * import { runStoreJob } from "@greenroom/matrix/testing";
 *
 * const [path, job] = Deno.args;
 * if (path !== undefined && job !== undefined) {
 *   await runStoreJob(() => SqliteStore.open(path), job);
 * }
 * ```
 */
export async function runStoreJob(open: () => Store | Promise<Store>, job: string): Promise<void> {
  const store = await open();
  const [kind, text] = job.split(" ");
  const number = Number(text);
  if (kind === "lock") {
    const lock = await store.lock?.(["device"]);
    await lock?.leave("by the other process");
  }
  if (kind === "rounds" || kind === "lock") return await goRounds(store, number);
  if (kind === "again") {
    await (await open()).close();
    await open();
  }
  say("ready");
  await waitToGo(store);
  if (kind === "again") {
    await goRounds(store, number);
  } else if (kind === "count") {
    await countUp(store, number);
  } else if (kind === "turns") {
    const who = crypto.randomUUID();
    for (let turn = 0; turn < number; turn++) {
      if (await takeTurn(store, turn, who)) say(String(turn));
    }
  } else {
    throw new ValueError(`Cannot do a job: there is none of the name ${kind}; use the suite's own version`);
  }
  await store.close();
}

/** Lets those begin that are ready. */
export async function letGo(store: Store): Promise<void> {
  await store.commit([set(GO, 1)]);
}

/**
 * Adds one to the count, so many times, each by reading, checking and writing until no other
 * process came between.
 */
export async function countUp(store: Store, times: number): Promise<void> {
  for (let left = times; left > 0;) {
    const entry = await read(store, ["count"]);
    const check = { key: ["count"], versionstamp: entry?.versionstamp ?? null };
    if (await store.commit([set(["count"], Number(entry?.value ?? 0) + 1)], [check])) left--;
  }
}

/** Tries to take a turn, and returns whether it did. */
export async function takeTurn(store: Store, turn: number, who: string): Promise<boolean> {
  const key = ["turn", String(turn)];
  return await store.commit([set(key, who)], [{ key, versionstamp: null }]);
}

/** The last round that is there; fails if not exactly all rounds up to it are there, each whole. */
export async function wholeRounds(store: Store): Promise<number> {
  const log = await listed(store, ["log"]);
  deepStrictEqual(log.map(({ value }) => value), log.map((_, round) => round));
  const round = log.length - 1;
  const many = (await listed(store, ["many"])).map(({ value }) => value);
  deepStrictEqual(
    [
      await readValue(store, ["first"]),
      await readValue(store, ["last"]),
      await readValue(store, ["large"]),
      many,
    ],
    [
      round < 0 ? undefined : round,
      round < 0 ? undefined : round,
      round < LARGE_ROUND ? undefined : largeValue(lastOf(round, LARGE_ROUND)),
      round < MANY_ROUND ? [] : Array(MANY).fill(lastOf(round, MANY_ROUND)),
    ],
  );
  return round;
}

async function waitToGo(store: Store): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (await readValue(store, GO) !== undefined) return;
  }
  throw new ValueError(
    "Cannot begin a job: nothing is seen of what the other process has committed; see to the store",
  );
}

async function goRounds(store: Store, first: number): Promise<never> {
  for (let round = first;; round++) {
    await store.commit(roundChanges(round));
    say(String(round));
  }
}

function roundChanges(round: number): StoreMutation[] {
  const changes = [
    set(["first"], round),
    set(["log", String(round).padStart(8, "0")], round),
    set(["last"], round),
  ];
  if (round % CYCLE === LARGE_ROUND) changes.push(set(["large"], largeValue(round)));
  if (round % CYCLE === MANY_ROUND) {
    for (let index = 0; index < MANY; index++) changes.push(set(["many", String(index)], round));
  }
  return changes;
}

/** The last round up to this one that did what one of each cycle does. */
function lastOf(round: number, ofCycle: number): number {
  return round - (round - ofCycle) % CYCLE;
}

function largeValue(round: number): Uint8Array {
  return new Uint8Array(LARGE).fill(round);
}

function say(line: string): void {
  platform.process.print(line);
}
