/**
 * `@greenroom/matrix/store/indexeddb`: a store in IndexedDB, which outlives a page of a browser.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";
 *
 * export async function start(): Promise<void> {
 *   await using store = await IndexedDbStore.open("matrix");
 *   await using client = new Client({ baseUrl: "https://matrix.example.org", store });
 *   await client.start();
 * }
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
export { IndexedDbStore } from "./indexeddb/indexeddb.ts";
