import { DenoKvStore } from "../../../src/store/deno_kv/deno_kv_store.ts";

await DenoKvStore.open(":memory:");
