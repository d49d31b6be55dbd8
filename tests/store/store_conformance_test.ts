import { KvStore } from "@greenroom/matrix/store/kv";
import { MemoryStore } from "../../src/store/base/mod.ts";
import { storeConformance } from "../../src/testing/conformance/conformance.ts";
import { contentOf, spoilDenoKv } from "./support/spoiled_deno_kv.ts";

storeConformance("MemoryStore", () => new MemoryStore());

storeConformance("KvStore in memory", () => KvStore.open(":memory:"), { copies: true });

const folders = new Map<string, string>();

function fileOf(place: string): string {
  const folder = folders.get(place) ?? Deno.makeTempDirSync();
  folders.set(place, folder);
  return `${folder}/store.db`;
}

storeConformance("KvStore on a file", (place) => KvStore.open(fileOf(place)), {
  durable: true,
  shared: true,
  locks: true,
  copies: true,
  spoil: spoilDenoKv(fileOf),
  contentOf: (place) => contentOf(fileOf(place)),
  cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
});
