import {
  assert,
  assertEquals,
  assertFalse,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import fc from "fast-check";
import { StoreFormatError, StoreKeyError, ValueError } from "@greenroom/matrix/errors";
import type { Store, StoreCheck, StoreKey, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { assertNotSealed, sealKey } from "../../../src/store/device/mod.ts";
import { set, valueOf } from "../support/records.ts";

const KEY = new Uint8Array(32).fill(7);
const OTHER_KEY = new Uint8Array(32).fill(8);
const RECORD: StoreKey = ["@alice:example.org", "DEVICE", "crypto", "account"];

async function sealedBytes(inner: Store, key: StoreKey): Promise<Uint8Array> {
  const value = await valueOf(inner, key);
  assert(value instanceof Uint8Array);
  return value;
}

function contains(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes).includes(text);
}

/** A store that notes the order in which commits reach it, and can be held up. */
class NotingStore extends MemoryStore {
  readonly commits: StoreMutation[][] = [];
  hold: Promise<void> | undefined;

  override async commit(
    mutations: readonly StoreMutation[],
    checks?: readonly StoreCheck[],
  ): Promise<boolean> {
    this.commits.push([...mutations]);
    const held = await super.commit(mutations, checks);
    await this.hold;
    return held;
  }
}

Deno.test("SealedStore puts nothing of a value into the store below, and leaves the key as it is", async () => {
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  await store.commit([
    set(RECORD, { pickle: "SECRET-PICKLE", bytes: new TextEncoder().encode("SECRET-BYTES") }),
  ]);
  for await (const { value } of inner.list([RECORD[0] ?? ""])) {
    assert(value instanceof Uint8Array);
    assertFalse(contains(value, "SECRET"));
    assertFalse(contains(value, "pickle"));
  }
  assertEquals((await Array.fromAsync(inner.list(["@alice:example.org"]))).map(({ key }) => key), [RECORD]);
});

Deno.test("SealedStore seals each value differently each time, also the same one", async () => {
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  const nonces = new Set<string>();
  for (let round = 0; round < 200; round++) {
    await store.commit([set(RECORD, "same")]);
    nonces.add((await sealedBytes(inner, RECORD)).subarray(1, 13).toHex());
  }
  assertEquals(nonces.size, 200);
});

Deno.test("SealedStore uses another key in each store, also of the same user key", async () => {
  const inners = [new MemoryStore(), new MemoryStore()];
  const [first, second] = await Promise.all(inners.map((inner) => SealedStore.open(inner, KEY)));
  await first?.commit([set(RECORD, "one")]);
  await inners[1]?.commit([set(RECORD, await sealedBytes(inners[0] ?? new MemoryStore(), RECORD))]);
  await assertRejects(() => second?.getMany([RECORD]) ?? Promise.resolve(), StoreKeyError);
});

Deno.test("SealedStore opens with the same key again, as bytes or as a CryptoKey", async () => {
  const inner = new MemoryStore();
  const given = new Uint8Array(KEY);
  const store = await SealedStore.open(inner, given);
  given.fill(0); // it was copied
  await store.commit([set(RECORD, "kept")]);
  const extractable = false;
  const handle = await crypto.subtle.importKey("raw", KEY, "HKDF", extractable, ["deriveKey"]);
  for (const key of [KEY, handle]) {
    assertEquals(await valueOf(await SealedStore.open(inner, key), RECORD), "kept");
  }
});

Deno.test("SealedStore refuses another key, and changes nothing", async () => {
  const inner = new NotingStore();
  const store = await SealedStore.open(inner, KEY);
  await store.commit([set(RECORD, "kept")]);
  const commits = inner.commits.length;
  const error = await assertRejects(() => SealedStore.open(inner, OTHER_KEY), StoreKeyError);
  assertEquals(error.code, "STORE_KEY");
  assertStringIncludes(error.message, "another key");
  assertEquals(inner.commits.length, commits);
});

Deno.test("SealedStore refuses a store that is not sealed, says what to do, and changes nothing", async () => {
  for (const key of [RECORD, ["other"], []]) {
    const inner = new NotingStore();
    await inner.commit([set(key, "clear")]);
    const error = await assertRejects(() => SealedStore.open(inner, KEY), StoreKeyError);
    assertStringIncludes(error.message, "exportDevice()");
    assertEquals(inner.commits.length, 1);
    assertEquals(await valueOf(inner, key), "clear");
  }
});

Deno.test("SealedStore refuses what is no key of 32 bytes, before it looks at the store", async () => {
  const inner = new NotingStore();
  const extractable = false;
  const aes = await crypto.subtle.importKey("raw", KEY, "AES-GCM", extractable, ["encrypt"]);
  const bits = await crypto.subtle.importKey("raw", KEY, "HKDF", extractable, ["deriveBits"]);
  const text = "a passphrase" as unknown as Uint8Array; // as who does not check types does
  for (const key of [new Uint8Array(), new Uint8Array(16), new Uint8Array(33), aes, bits, text]) {
    await assertRejects(() => SealedStore.open(inner, key), ValueError);
  }
  assertEquals(inner.commits.length, 0);
});

Deno.test("SealedStore refuses a seal of a newer version", async () => {
  for (
    const seal of [{ format: 2, salt: new Uint8Array(32), proof: new Uint8Array(29) }, { format: 1 }, {}]
  ) {
    const inner = new NotingStore();
    await inner.commit([set(sealKey, seal)]);
    await assertRejects(() => SealedStore.open(inner, KEY), StoreFormatError);
    assertEquals(inner.commits.length, 1);
  }
});

Deno.test("SealedStore agrees on one seal when two open an empty store at the same time", async () => {
  const inner = new MemoryStore();
  const [first, second] = await Promise.all([SealedStore.open(inner, KEY), SealedStore.open(inner, KEY)]);
  await first.commit([set(RECORD, "one")]);
  assertEquals(await valueOf(second, RECORD), "one");
  const empty = new MemoryStore();
  const rivals = await Promise.allSettled([SealedStore.open(empty, KEY), SealedStore.open(empty, OTHER_KEY)]);
  assertEquals(rivals.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

Deno.test("T59: SealedStore opens no record of which any byte was changed, or that was cut or extended", async () => {
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  await store.commit([set(RECORD, "SECRET")]);
  const sealed = await sealedBytes(inner, RECORD);
  const changed: unknown[] = Array.from(sealed, (byte, index) => sealed.with(index, byte ^ 1));
  for (let length = 0; length < sealed.length; length++) changed.push(sealed.slice(0, length));
  changed.push(new Uint8Array([...sealed, 0]), "SECRET", undefined, null, {});
  for (const value of changed) {
    await inner.commit([set(RECORD, value)]);
    const error = await assertRejects(() => store.getMany([RECORD]), StoreKeyError);
    assertStringIncludes(error.message, "(crypto/account)");
    for (const secret of ["SECRET", "alice", "DEVICE"]) assertFalse(error.message.includes(secret));
    await assertRejects(() => Array.fromAsync(store.list([])), StoreKeyError);
  }
  await inner.commit([set(RECORD, sealed)]);
  assertEquals(await valueOf(store, RECORD), "SECRET");
});

Deno.test("T59: SealedStore opens no record that was moved to another key, however alike", async () => {
  const part = fc.constantFrom("", "a", '"', ",", '","', "\\", "\0", "\uD800", "\\ud800", "\uFFFD", "😀");
  const key = fc.array(part, { maxLength: 4 });
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  await fc.assert(
    fc.asyncProperty(key, key, async (from, to) => {
      fc.pre(JSON.stringify(from) !== JSON.stringify(to));
      await store.commit([set(from, "moved")]);
      await inner.commit([set(to, await sealedBytes(inner, from))]);
      await assertRejects(() => store.getMany([to]), StoreKeyError);
      assertEquals(await valueOf(store, from), "moved");
    }),
    { numRuns: 300 },
  );
});

Deno.test("SealedStore hands commits on in the order in which they were begun, without waiting for one another", async () => {
  const inner = new NotingStore();
  const store = await SealedStore.open(inner, KEY);
  inner.commits.length = 0;
  const held = Promise.withResolvers<void>();
  inner.hold = held.promise;
  const sizes = [1_000_000, 10, 0, 300_000, 1];
  const begun = sizes.map((size, index) =>
    store.commit([set(["order", String(index)], new Uint8Array(size))])
  );
  const removal = store.commit([{ type: "delete", key: ["order", "0"] }]); // has nothing to seal
  const refused = store.commit([set(["x"], () => {})]);
  await assertRejects(() => refused, ValueError);
  const last = store.commit([], [{ key: ["order", "1"], versionstamp: null }]);
  while (inner.commits.length < 7) await Promise.resolve().then(() => crypto.subtle.digest("SHA-256", KEY));
  assertEquals(inner.commits.map(([change]) => change?.key[1]), ["0", "1", "2", "3", "4", "0", undefined]);
  held.resolve();
  assert((await Promise.all([...begun, removal])).every(Boolean));
  assertFalse(await last);
  assertEquals(await valueOf(store, ["order", "0"]), undefined);
});

Deno.test("SealedStore takes changes and checks as they were when they were handed over", async () => {
  const store = await SealedStore.open(new MemoryStore(), KEY);
  const changes = [set(["a"], 1)];
  const checks = [{ key: ["a"], versionstamp: null as string | null }];
  const begun = store.commit(changes, checks);
  changes.push(set(["b"], 1));
  checks.push({ key: ["a"], versionstamp: "other" });
  assert(await begun);
  assertEquals((await store.getMany([["a"], ["b"]])).map((entry) => entry?.value), [1, undefined]);
});

Deno.test("SealedStore goes on after a commit that failed, and closes after what was begun", async () => {
  const inner = new class extends NotingStore {
    failures = 0;
    closed = 0;
    override commit(mutations: readonly StoreMutation[], checks?: readonly StoreCheck[]): Promise<boolean> {
      return this.failures-- > 0 ? Promise.reject(new ValueError("Full")) : super.commit(mutations, checks);
    }
    override close(): void {
      this.closed = this.commits.length;
    }
  }();
  const store = await SealedStore.open(inner, KEY);
  inner.failures = 1;
  const [first, second] = await Promise.allSettled([
    store.commit([set(["a"], 1)]),
    store.commit([set(["a"], 2)]),
  ]);
  assertEquals([first?.status, second?.status], ["rejected", "fulfilled"]);
  assertEquals(await valueOf(store, ["a"]), 2);
  const begun = store.commit([set(["a"], new Uint8Array(100_000))]);
  await store.close();
  assert(await begun);
  assertEquals(inner.closed, inner.commits.length);
});

Deno.test("SealedStore neither shows the record of its seal nor lets it be changed", async () => {
  const inner = new MemoryStore();
  const store = await SealedStore.open(inner, KEY);
  assertEquals(await store.getMany([sealKey]), [undefined]);
  assertEquals(await Array.fromAsync(store.list([])), []);
  await assertRejects(() => store.commit([set(["a"], 1), set(sealKey, 1)]), ValueError);
  await assertRejects(() => store.commit([{ type: "delete", key: sealKey }]), ValueError);
  assertEquals(await valueOf(store, ["a"]), undefined);
  assert(await store.commit([set([...sealKey, "below"], 1)]));
});

Deno.test("SealedStore shows nothing of its key or its store when it is printed", async () => {
  const store = await SealedStore.open(new MemoryStore(), KEY);
  assertEquals(Deno.inspect(store, { showHidden: true, depth: 9 }), "SealedStore {}");
  assertEquals(JSON.stringify(store), "{}");
});

Deno.test("A sealed store without its seal around it is recognised", async () => {
  const inner = new MemoryStore();
  await assertNotSealed(inner);
  const store = await SealedStore.open(inner, KEY);
  await assertNotSealed(store);
  await assertRejects(() => assertNotSealed(inner), StoreKeyError);
  assertNotEquals(await inner.getMany([sealKey]), [undefined]);
});
