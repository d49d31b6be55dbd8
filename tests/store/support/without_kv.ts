import { DenoKvStore } from "../../../src/store/deno_kv/deno_kv.ts";

await DenoKvStore.open(":memory:");
