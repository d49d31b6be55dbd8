import { assert, assertEquals } from "@std/assert";
import { concat } from "@std/bytes/concat";
import fc from "fast-check";
import {
  cutBytes,
  decodeWrites,
  encodeWrites,
  fitsOneCommit,
  keyBytes,
  type KvWrite,
  packWrites,
} from "../../../src/store/deno_kv/database.ts";
import { LocalDatabase } from "../../../src/store/deno_kv/local_database.ts";

/** Sizes instead of bytes, so that a counterexample can be read. */
const shape = fc.record({
  key: fc.integer({ min: 1, max: 1_000 }),
  record: fc.constantFrom(undefined, 0, 100, 3_000, 65_536),
});

Deno.test("packWrites() makes packs that Deno KV takes, in the order of the writes", async () => {
  using kv = await Deno.openKv(":memory:");
  await fc.assert(
    fc.asyncProperty(
      fc.array(shape, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 600 }),
      async (some, count) => {
        const writes = Array.from({ length: count }, (_, index): KvWrite => {
          const { key, record } = some[index % some.length] ?? { key: 1, record: 0 };
          return {
            key: ["k".repeat(key)],
            record: record === undefined ? undefined : new Uint8Array(record),
          };
        });
        const packs = packWrites(writes);
        assert(packs.flat().length === count && packs.flat().every((each, index) => each === writes[index]));
        for (const [index, pack] of packs.entries()) {
          assert(await new LocalDatabase(kv).commit([], pack) !== undefined);
          const next = packs[index + 1]?.[0];
          if (next !== undefined) assertEquals(packWrites([...pack, next]).length, 2);
        }
        assertEquals(fitsOneCommit(writes, [], 0), packs.length <= 1);
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("packWrites() fills its packs to what Deno KV takes but for a little", () => {
  const puts = (count: number, key: number, record: number) =>
    packWrites(
      Array.from({ length: count }, () => ({ key: ["k".repeat(key - 2)], record: new Uint8Array(record) })),
    );
  assertEquals(puts(990, 60, 100).length, 1);
  assertEquals(puts(991, 60, 100).length, 2);
  assertEquals(puts(75, 1_000, 1).length, 1);
  assertEquals(puts(76, 1_000, 1).length, 2);
  assertEquals(puts(12, 100, 65_536).length, 1);
  assertEquals(puts(13, 100, 65_536).length, 2);
});

Deno.test("fitsOneCommit() counts the checks, and what their keys take", async () => {
  using kv = await Deno.openKv(":memory:");
  const database = new LocalDatabase(kv);
  const { maxChecks } = database;
  const checks = (count: number, length: number) =>
    Array.from(
      { length: count },
      (_, index) => ({ key: [`${index}`.padEnd(length, "c")], versionstamp: null }),
    );
  const writes = (bytes: number): KvWrite[] =>
    cutBytes(new Uint8Array(bytes)).map((record, index) => ({ key: [index], record }));
  assert(fitsOneCommit([], checks(98, 2_000), maxChecks));
  assert(!fitsOneCommit([], checks(99, 1), maxChecks));
  assert(fitsOneCommit(writes(600_000), checks(98, 2_000), maxChecks));
  assert(!fitsOneCommit(writes(640_000), checks(98, 2_000), maxChecks));
  const own = checks(2, 60); // as the store adds
  assert(await database.commit([...own, ...checks(98, 2_000)], writes(600_000)) !== undefined);
  assert(keyBytes(own[0]?.key ?? []) > 60);
});

Deno.test("cutBytes() cuts bytes into pieces that fit into a record, and leaves nothing out", () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536)));
    const all = new Uint8Array(length);
    all.set(bytes);
    const pieces = cutBytes(all);
    assert(pieces.every((piece) => piece.length > 0 && piece.length <= 65_536));
    assertEquals(concat(pieces), all);
  }
});

const write = fc.record({
  key: fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.nat()), { minLength: 1, maxLength: 4 }),
  record: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
});

Deno.test("decodeWrites() makes the writes again that encodeWrites() has put one behind the other", () => {
  fc.assert(
    fc.property(fc.array(fc.array(write, { maxLength: 20 }), { maxLength: 4 }), (frames) => {
      const bytes = concat(frames.map(encodeWrites));
      assertEquals(decodeWrites(bytes), frames.flat());
    }),
  );
});
