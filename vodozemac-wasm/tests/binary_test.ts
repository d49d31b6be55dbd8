import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeBase64, encodeBase64, toBytes } from "../src/binary.ts";
import { assertCode } from "./support/assert_code.ts";

Deno.test("decodeBase64() reads what encodeBase64() writes, and the same with padding", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
    assertEquals(decodeBase64(encodeBase64(bytes), "test"), Uint8Array.from(bytes));
    assertEquals(decodeBase64(bytes.toBase64(), "test"), Uint8Array.from(bytes));
    assert(!encodeBase64(bytes).includes("="));
  }));
});

Deno.test("decodeBase64() refuses every other spelling", () => {
  const spellings = [
    ..."A ?".split(" "),
    ...["AAAAA", "AA=", "AAA==", "AAAA=", "AAAA==", "AA===", "=", "==", "A=A=", "=AAA"],
    ...["AB", "AB==", "AAB", "AAB="], // stray bits
    ...["-_-_", "AA\n", " AAAA", "AAAA ", "AA AA", "AA\tAA", "AAA\u00e9", "ＡＡＡＡ", "A\0AA"],
  ];
  for (const spelling of spellings) {
    if (spelling !== "") assertCode("bad_base64", () => decodeBase64(spelling, "test"));
  }
});

Deno.test("decodeBase64() accepts a text only if it is that of the bytes it gives", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12, unit: "binary" }), (text) => {
      let bytes;
      try {
        bytes = decodeBase64(text, "test");
      } catch {
        return;
      }
      assert([bytes.toBase64(), encodeBase64(bytes)].includes(text));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("decodeBase64() does not repeat what it refuses", () => {
  const error = assertCode("bad_base64", () => decodeBase64("secret!!", "test"));
  assert(!error.message.includes("secret"));
  assertEquals(error.cause, undefined);
});

Deno.test("toBytes() checks type and length, the latter before it decodes", () => {
  assertEquals(toBytes(Uint8Array.of(1, 2), "test", 2), Uint8Array.of(1, 2));
  assertCode("bad_length", () => toBytes("!".repeat(100), "test", 32));
  assertCode("bad_length", () => toBytes("AAAA", "test", 32));
  for (const value of [undefined, null, 1, {}, [1], new ArrayBuffer(2), new DataView(new ArrayBuffer(2))]) {
    assertCode("bad_type", () => toBytes(value as never, "test", 2));
  }
});
