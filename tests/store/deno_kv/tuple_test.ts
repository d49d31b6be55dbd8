import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { StoreFormatError } from "@greenroom/matrix/errors";
import { keyBytes } from "../../../src/store/deno_kv/database.ts";
import { decodeKey, encodeKey } from "../../../src/store/deno_kv/wire.ts";

const part = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", "\0", "\0\0", "a\0", "\u{10FFFF}"),
  fc.double({ noNaN: true }),
  fc.integer(),
);
const key = fc.array(part, { maxLength: 4 });

function compare(one: Uint8Array, other: Uint8Array): number {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  if (at === -1) return one.length - other.length;
  return (one[at] ?? 0) - (other[at] ?? -1);
}

Deno.test("decodeKey() gives the key that encodeKey() was given, which takes as many bytes as keyBytes() says", () => {
  fc.assert(
    fc.property(key, (each) => {
      const bytes = encodeKey(each);
      assertEquals(decodeKey(bytes), each);
      assertEquals(keyBytes(each), bytes.length);
    }),
  );
});

Deno.test("encodeKey() keeps the order that Deno KV has", async () => {
  using kv = await Deno.openKv(":memory:");
  const keys = fc.sample(key.filter((each) => each.length > 0), { numRuns: 400, seed: 1 });
  for (const each of keys) await kv.set(each, 1);
  const listed = await Array.fromAsync(kv.list({ prefix: [] }), (entry) => entry.key);
  assertEquals(listed, listed.toSorted((one, other) => compare(encodeKey(one), encodeKey(other))));
});

Deno.test("decodeKey() reads what others have in a database, but for kinds that it does not know", () => {
  assertEquals(decodeKey(Uint8Array.of(1, 7, 0, 255, 0, 0x26, 0x27)), [Uint8Array.of(7, 0), false, true]);
  assertThrows(() => decodeKey(Uint8Array.of(0x15, 1)), StoreFormatError, "an unknown kind");
  for (const broken of [[2, 97], [0x21, 1, 2], [2]]) decodeKey(Uint8Array.from(broken));
});
