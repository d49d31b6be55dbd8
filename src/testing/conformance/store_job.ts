/**
 * The store conformance suite: what another process does with a store.
 *
 * @module
 */

import { deepStrictEqual } from "node:assert";
import { platform } from "../../base/platform/mod.ts";
import type { Store, StoreKey, StoreMutation } from "../../../mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { listed, read, readValue, set } from "./store_case.ts";

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
