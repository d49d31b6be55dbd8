import { assertEquals, assertRejects } from "@std/assert";
import { StoreKeyError } from "@greenroom/matrix/errors";
import type { StoreKey } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { set } from "../support/records.ts";

const KEY = new Uint8Array(32).fill(7);

Deno.test("SealedStore fails at a record that does not open after the earlier ones were listed", async () => {
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  const key = (index: number): StoreKey => ["n", String(index).padStart(3, "0")];
  await store.commit(Array.from({ length: 200 }, (_, index) => set(key(index), index)));
  await inner.commit([set(key(150), new Uint8Array(40))]);
  const seen: unknown[] = [];
  await assertRejects(async () => {
    for await (const { value } of store.list(["n"])) seen.push(value);
  }, StoreKeyError);
  assertEquals(seen, Array.from({ length: 150 }, (_, index) => index));
  for await (const { value } of store.list(["n"])) if (value === 100) break; // leaves nothing unhandled
});

Deno.test("SealedStore stops reading when a listing is left early", async () => {
  const store = await SealedStore.open(new MemoryStore(), KEY);
  await store.commit(Array.from({ length: 20 }, (_, index) => set(["n", String(index)], index)));
  const { decrypt } = SubtleCrypto.prototype;
  const begun: Promise<unknown>[] = [];
  let ended = 0;
  SubtleCrypto.prototype.decrypt = function (...args) {
    const opening = Promise.all([decrypt.apply(this, args), ...begun.slice(-1)]).then(async ([bytes]) => {
      await new Promise<void>((resolve) => setImmediate(resolve)); // each later than the one before
      ended++;
      return bytes;
    });
    begun.push(opening);
    return opening;
  };
  try {
    for await (const _ of store.list(["n"])) break;
  } finally {
    SubtleCrypto.prototype.decrypt = decrypt;
  }
  assertEquals([begun.length, ended], [20, 20]);
});
