import { KvStore } from "../../../src/store/deno_kv/deno_kv.ts";

await KvStore.open(":memory:");
