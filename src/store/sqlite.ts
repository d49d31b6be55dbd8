/**
 * `@greenroom/matrix/store/sqlite`: a store in a file of SQLite, which outlives the process.
 *
 * It needs `node:sqlite`, which Deno has on hosts with a disk.
 *
 * @example
 * ```ts
 * import { SqliteStore } from "@greenroom/matrix/store/sqlite";
 *
 * await using store = await SqliteStore.open(":memory:");
 * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
 * const [entry] = await store.getMany([["greeting", "en"]]);
 * console.assert(entry?.value === "hello");
 * ```
 *
 * @module
 */

export type {
  Store,
  StoreCheck,
  StoreEntry,
  StoreKey,
  StoreListOptions,
  StoreLock,
  StoreMutation,
} from "./base/mod.ts";
export type { Clock } from "../base/clock.ts";
export { type SqliteOptions, SqliteStore } from "./sqlite/sqlite.ts";
