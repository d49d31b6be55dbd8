/**
 * What every store must do that several processes use, or that one uses which is killed.
 *
 * @module
 */

import type { KvStore } from "../../store/base/mod.ts";
import type { StoreConformanceOptions } from "./store_conformance.ts";
import type { StoreJob } from "./store_job.ts";
import { endProcess, processCases, type StoreProcess } from "./store_process_cases.ts";

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

/**
 * Defines the tests that every {@link KvStore} must pass which outlives a process: what was
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
  open: (place: string) => KvStore | Promise<KvStore>,
  { start, startStranger, shared = false, locks = false, cleanUp, define = Deno.test }:
    StoreProcessConformanceOptions,
): void {
  const promised = { shared, locks, stranger: startStranger !== undefined };
  const cases = processCases.filter(({ needs }) => needs === undefined || promised[needs]);
  for (const [index, each] of cases.entries()) {
    const place = `store-of-processes-${index}`;
    define(`${name} ${each.name}`, async () => {
      const opened: KvStore[] = [];
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
