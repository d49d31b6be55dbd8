import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { KvStore } from "@greenroom/matrix/store/kv";
import type { Store, StoreKey, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../src/store/base/mod.ts";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

/** Few and odd parts, so that keys meet, and lie below each other. */
const part = fc.constantFrom("", "a", "ab", "__proto__", "\0", "ä", "\uD800", "\uE000", "\uFFFF", "😀");
const key = fc.array(part, { maxLength: 3 });

/** A number stands for as many bytes. */
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 50 }) },
  { weight: 1, arbitrary: fc.constantFrom(65_500, 65_530, 70_000, 200_000) },
);

const mutation: fc.Arbitrary<StoreMutation> = fc.oneof(
  fc.record({ type: fc.constant("set" as const), key, value: size }),
  fc.record({ type: fc.constant("delete" as const), key }),
);

/** What a store must hold: the sizes under the keys as text. */
type Model = Map<string, number>;

function apply(model: Model, mutations: readonly StoreMutation[]): void {
  for (const each of mutations) {
    if (each.type === "delete") model.delete(JSON.stringify(each.key));
    else model.set(JSON.stringify(each.key), Number(each.value));
  }
}

function codePoints(key: StoreKey): string {
  const points = (part: string) => Array.from(part, (character) => character.codePointAt(0) ?? 0);
  const text = (point: number) =>
    String.fromCharCode(...[point >> 12, point & 0xfff].map((half) => half + 1));
  return key.map((part) => points(part).map(text).join("") + "\0").join("");
}

function below(model: Model, prefix: StoreKey): [StoreKey, number][] {
  return [...model]
    .map(([text, value]): [StoreKey, number] => [JSON.parse(text), value])
    .filter(([key]) => key.length > prefix.length && prefix.every((part, index) => key[index] === part))
    .sort(([first], [second]) => codePoints(first) < codePoints(second) ? -1 : 1);
}

const filled = (mutations: readonly StoreMutation[]): StoreMutation[] =>
  mutations.map((each) =>
    each.type === "set" ? { ...each, value: new Uint8Array(Number(each.value)) } : each
  );

const stores: [string, () => Store | Promise<Store>][] = [
  ["MemoryStore", () => new MemoryStore()],
  ["KvStore", () => KvStore.open(":memory:")],
  ["SqliteStore", () => SqliteStore.open(":memory:")],
];

for (const [name, open] of stores) {
  Deno.test(`${name} reads and lists what a plain map of the same commits holds`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(mutation, { maxLength: 4 }), { maxLength: 12 }),
        key,
        key,
        fc.nat(4),
        async (commits, prefix, rest, limit) => {
          const store = await open();
          const model: Model = new Map();
          const begun = commits.map((mutations) => store.commit(filled(mutations)));
          for (const mutations of commits) apply(model, mutations);
          assert((await Promise.all(begun)).every(Boolean));

          const size = (value: unknown) => value instanceof Uint8Array ? value.length : undefined;
          const entries = await Array.fromAsync(store.list(prefix));
          assertEquals(entries.map(({ key, value }) => [key, size(value)]), below(model, prefix));
          const after = [...prefix, ...rest];
          const page = await Array.fromAsync(store.list(prefix, { after, limit }), ({ key }) => key);
          const behind = below(model, prefix).map(([key]) => key).filter((key) =>
            codePoints(key) > codePoints(after)
          );
          assertEquals(page, behind.slice(0, limit));
          const keys = [prefix, ...commits.flat().map(({ key }) => key)];
          const read = await store.getMany(keys);
          assertEquals(
            read.map((entry) => size(entry?.value)),
            keys.map((each) => model.get(JSON.stringify(each))),
          );
          await store.close();
        },
      ),
      { numRuns: 100 },
    );
  });
}
