import { KvStore } from "@greenroom/matrix/store/kv";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { storeConformance } from "../../../src/testing/conformance/conformance.ts";

const KEY = new Uint8Array(32).fill(7);

storeConformance("SealedStore over MemoryStore", () => SealedStore.open(new MemoryStore(), KEY), {
  copies: true,
});

storeConformance(
  "SealedStore over KvStore in memory",
  async () => await SealedStore.open(await KvStore.open(":memory:"), KEY),
  { copies: true },
);
