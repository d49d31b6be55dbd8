/**
 * Prints how often a process reads from files for a hundred small commits beside large values: run by
 * `rows_test.ts`, since only a process with all permissions may ask that of Linux.
 *
 * @module
 */

import { SqliteStore } from "@greenroom/matrix/store/sqlite";

/** How often this process has read from files so far. */
function reads(): number {
  return Number(/syscr: (\d+)/.exec(Deno.readTextFileSync("/proc/self/io"))?.[1]);
}

const folder = await Deno.makeTempDir();
await using store = await SqliteStore.open(`${folder}/store.db`);
const large = "x".repeat(20_000);
const commit = (part: string, value: unknown) => store.commit([{ type: "set", key: [part], value }]);
for (let index = 0; index < 300; index++) await commit(`${index * 7 % 300}`, large);
await commit("small", 0); // what it needs of the file is in memory then
const before = reads();
for (let index = 0; index < 100; index++) await commit("small", index);
console.log(reads() - before);
await store.close();
await Deno.remove(folder, { recursive: true });
