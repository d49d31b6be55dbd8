/**
 * What every store must do: also one that several processes share.
 *
 * @module
 */

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { Store } from "../../../mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { letGo, listed, readValue, type StoreJob, wholeRounds } from "./store_case.ts";
import type { StoreConformanceOptions } from "./store_conformance.ts";

export { runStoreJob, type SpoiledStore, type StoreJob } from "./store_case.ts";
export {
  type SpoilOptions,
  type SpoilStore,
  storeConformance,
  type StoreConformanceOptions,
} from "./store_conformance.ts";

/** What a store promises, how its processes are started, and how its tests are defined. */
export interface StoreProcessConformanceOptions
  extends Pick<StoreConformanceOptions, "shared" | "locks" | "cleanUp" | "define"> {
  /**
   * Starts a process that opens the store of the place and hands it, with the job, to
   * `runStoreJob()`.
   *
   * @param place The place.
   * @param job What it is to do.
   * @returns The process, like a `Deno.ChildProcess` whose standard output is piped.
   */
  start: (place: string, job: StoreJob) => StoreProcess;
  /**
   * Starts a process that opens the place with another program, reads something of it, closes it
   * and ends, as a backup of a database does. By default, only the store can open its place.
   */
  startStranger?: (place: string) => StoreProcess;
}

const OPTIONS: OptionNames<StoreProcessConformanceOptions> = {
  ...{ start: true, startStranger: true, shared: true, locks: true, cleanUp: true, define: true },
};

/**
 * Defines the tests that every {@link Store} must pass which outlives a process: what was
 * committed is there after a process was killed, and no commit is there by half; and, if it can be
 * open more than once, what processes do side by side. They take seconds, and a process that can
 * start others.
 *
 * @param name Begins the name of each test.
 * @param open Opens the store of a place in this process. Each test has a place of its own, in
 * which nothing is yet; a place is a word that can be part of a file's name.
 * @param options How to start the other processes.
 *
 * @example With a program `worker.ts` as at `runStoreJob()`
 * ```ts
 * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
 * import { storeProcessConformance } from "@greenroom/matrix/testing";
 *
 * const tests = new Map<string, () => Promise<void>>();
 * const path = (place: string) => `/tmp/${place}.db`;
 * storeProcessConformance("SqliteStore", (place) => SqliteStore.open(path(place)), {
 *   shared: true,
 *   start: (place, job) =>
 *     new Deno.Command(Deno.execPath(), { args: ["run", "-A", "worker.ts", path(place), job], stdout: "piped" }).spawn(),
 *   cleanUp: (place) => Deno.remove(path(place)),
 *   define: (name, run) => tests.set(name, run), // by default, Deno.test()
 * });
 * console.assert(tests.size > 0);
 * ```
 */
export function storeProcessConformance(
  name: string,
  open: (place: string) => Store | Promise<Store>,
  options: StoreProcessConformanceOptions,
): void {
  checkOptions(options, OPTIONS, "define the tests");
  const { start, startStranger, shared = false, locks = false, cleanUp, define = Deno.test } = options;
  const promised = { shared, locks, stranger: startStranger !== undefined };
  const cases = processCases.filter(({ needs }) => needs === undefined || promised[needs]);
  for (const [index, each] of cases.entries()) {
    const place = `store-of-processes-${index}`;
    define(`${name} ${each.name}`, async () => {
      const opened: Store[] = [];
      const started: StoreProcess[] = [];
      const tracked = (process: StoreProcess) => {
        started.push(process);
        return process;
      };
      try {
        await each.run(
          async () => {
            const store = await open(place);
            opened.push(store);
            return store;
          },
          (job) => tracked(start(place, job)),
          startStranger && (() => tracked(startStranger(place))),
        );
      } finally {
        for (const process of started) await endProcess(process);
        for (const store of opened) await store.close();
        await cleanUp?.(place);
      }
    });
  }
}

/** A process that does a job. */
export interface StoreProcess {
  /** What it writes to its standard output. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Settles when it has ended. */
  readonly status: Promise<{ readonly success: boolean }>;
  /** Kills the process, as `SIGKILL` does. */
  kill(signal: "SIGKILL"): void;
}

/** Something that every store does when several processes use it. */
interface StoreProcessCase {
  /** A sentence that the store's name begins. */
  readonly name: string;
  /**
   * Only for stores of which several can be open on one place, that have locks, or that strangers
   * can open too.
   */
  readonly needs?: "shared" | "locks" | "stranger";
  /**
   * Fails if the store does something else.
   *
   * @param open Opens the store of the case's place in this process.
   * @param start Starts another process.
   * @param startStranger Starts one that is not the store's own, if there can be one.
   */
  run(
    open: () => Promise<Store>,
    start: (job: StoreJob) => StoreProcess,
    startStranger?: () => StoreProcess,
  ): Promise<void>;
}

/** After how many rounds to kill a process. The larger commits of each cycle are hit too. */
const KILLS = [1, 3, 4, 5, 9, 10, 14];
const RIVALS = 3;
const COUNTS = 40;
const TURNS = 60;
const LOOKS = 50;
const ROUNDS = 10;

/** Kills a process, unless it has ended. */
async function endProcess(process: StoreProcess): Promise<void> {
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
  await process.status;
}

/** Reads what a process says, line by line; to read no further kills it. */
async function* linesOf(process: StoreProcess): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of process.stdout) {
      text += decoder.decode(bytes, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? ""; // a line that may go on
      yield* lines;
    }
  } finally {
    await endProcess(process);
  }
}

/** Lets processes begin when all of them are ready, and gives what each said afterwards. */
async function race(store: Store, processes: readonly StoreProcess[]): Promise<string[][]> {
  const lines = processes.map(linesOf);
  for (const each of lines) strictEqual((await each.next()).value, "ready");
  await letGo(store);
  const said = await Promise.all(lines.map((each) => Array.fromAsync(each)));
  for (const { status } of processes) ok((await status).success);
  return said;
}

/** What a store does that several processes use. */
const processCases: readonly StoreProcessCase[] = [
  {
    name: "has every commit, each whole, when its process was killed",
    async run(open, start) {
      let next = 0;
      for (const rounds of KILLS) {
        let last = "";
        for await (const line of linesOf(start(`rounds ${next}`))) {
          last = line;
          if (Number(line) >= next + rounds - 1) break;
        }
        const store = await open();
        const whole = await wholeRounds(store);
        ok(whole >= Number(last), `round ${last} was committed, but only ${whole} is there`);
        ok(whole >= next + rounds - 1, `the process ended after round ${last}`);
        await store.close();
        next = whole + 1;
      }
    },
  },
  {
    name:
      "can be created by several processes together, and counts right when they read, check and write again",
    needs: "shared",
    async run(open, start) {
      const processes = Array.from({ length: RIVALS }, () => start(`count ${COUNTS}`));
      const store = await open();
      await race(store, processes);
      strictEqual(await readValue(store, ["count"]), RIVALS * COUNTS);
    },
  },
  {
    name: "applies one commit of each round of several processes",
    needs: "shared",
    async run(open, start) {
      const processes = Array.from({ length: RIVALS }, () => start(`turns ${TURNS}`));
      const store = await open();
      const won = await race(store, processes);
      const turns = won.flat().map(Number).sort((first, second) => first - second);
      deepStrictEqual(turns, Array.from({ length: TURNS }, (_, turn) => turn));
      for (const [who, own] of won.entries()) {
        const names = await store.getMany(own.map((turn) => ["turn", turn]));
        ok(new Set(names.map((entry) => entry?.value)).size <= 1, `process ${who} does not have its turns`);
      }
      strictEqual((await listed(store, ["turn"])).length, TURNS);
    },
  },
  {
    name: "shows all or nothing of another process's commit",
    needs: "shared",
    async run(open, start) {
      const lines = linesOf(start("rounds 0"));
      await lines.next();
      const store = await open();
      for (let look = 0; look < LOOKS; look++) {
        const found = await store.getMany([["first"], ["many", "0"], ["many", "1199"], ["last"]]);
        const [first, one, other, last] = found.map((entry) => entry?.value);
        deepStrictEqual([last, other], [first, one]);
      }
      await lines.return(undefined);
      await wholeRounds(store);
    },
  },
  {
    name: "releases a lock when its process was killed, and not before, and keeps its content",
    needs: "locks",
    async run(open, start) {
      const lines = linesOf(start("lock 0"));
      strictEqual((await lines.next()).value, "0");
      const store = await open();
      strictEqual(await store.lock?.(["device"]), undefined);
      await lines.return(undefined);
      const lock = await store.lock?.(["device"]);
      strictEqual(lock?.left, "by the other process");
      lock.release();
    },
  },
  {
    name:
      "has all that was committed when its process had it open twice, a stranger came and went, and it was killed",
    needs: "stranger",
    async run(open, start, startStranger) {
      const lines = linesOf(start("again 0"));
      strictEqual((await lines.next()).value, "ready");
      const stranger = startStranger?.();
      ok(stranger !== undefined);
      await Array.fromAsync(stranger.stdout);
      ok((await stranger.status).success, "the stranger has failed");
      const store = await open();
      await letGo(store);
      let last: string | void = undefined;
      for (let rounds = 0; rounds < ROUNDS; rounds++) last = (await lines.next()).value;
      await lines.return(undefined);
      await store.close();
      const whole = await wholeRounds(await open());
      ok(whole >= Number(last), `round ${last} was committed, but only ${whole} is there`);
    },
  },
];
