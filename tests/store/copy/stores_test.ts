import { assertEquals } from "@std/assert";
import { KvStore } from "@greenroom/matrix/store/kv";
import { exportDevice, importDevice } from "../../../src/store/copy/copy.ts";
import type { Store } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { clock, DEVICE, KEY, OTHER_KEY, recordsOf, set, some } from "../support/device_copies.ts";

Deno.test("A device moves through all kinds of stores and comes back as it was", async () => {
  const first = await some();
  await first.commit(Array.from({ length: 1_200 }, (_, index) => set(["state", String(index)], { index })));
  await first.commit([set(["large"], new Uint8Array(700_000).fill(3)), set(["odd", "\uD800"], undefined)]);
  const stores: Store[] = [
    await KvStore.open(":memory:"),
    await SealedStore.open(new MemoryStore(), KEY),
    await SealedStore.open(await KvStore.open(":memory:"), OTHER_KEY),
    await SqliteStore.open(":memory:"),
    await SealedStore.open(await SqliteStore.open(":memory:"), KEY),
    new MemoryStore(),
  ];
  let from: Store = first;
  for (const to of stores) {
    await importDevice(to, exportDevice(from, { ...DEVICE, clock }), { clock });
    from = to;
  }
  assertEquals(await recordsOf(from), await recordsOf(first));
  for (const store of stores) await store.close();
});
