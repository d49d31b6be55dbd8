/**
 * `@greenroom/matrix/store/kv`: a store on Deno KV, which outlives the process.
 *
 * For a file or memory, Deno needs `--unstable-kv` on its command line, or `"unstable": ["kv"]` in
 * `deno.json`. For a server, it needs neither, but an access token.
 *
 * @example
 * ```ts
 * import { KvStore } from "@greenroom/matrix/store/kv";
 *
 * await using store = await KvStore.open(":memory:");
 * await store.commit([{ type: "set", key: ["greeting", "en"], value: "hello" }]);
 * const [entry] = await store.getMany([["greeting", "en"]]);
 * console.assert(entry?.value === "hello");
 * ```
 *
 * @module
 */

export { type KvOptions, KvStore } from "./deno_kv/deno_kv.ts";
export type { Clock } from "../base/clock.ts";
export type {
  Store,
  StoreCheck,
  StoreEntry,
  StoreKey,
  StoreListOptions,
  StoreLock,
  StoreMutation,
} from "./base/mod.ts";
