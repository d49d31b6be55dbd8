import { assert, assertEquals, assertFalse } from "@std/assert";
import { decodeBase64, encodeBase64, isKey, sameKey } from "../../../src/types/base64.ts";

const KEY = "A".repeat(42) + "E";

Deno.test("encodeBase64() and decodeBase64() agree with the specification's examples", () => {
  const examples = [
    ["", ""],
    ["f", "Zg"],
    ["fo", "Zm8"],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg"],
    ["fooba", "Zm9vYmE"],
    ["foobar", "Zm9vYmFy"],
  ] as const;
  for (const [text, base64] of examples) {
    const bytes = new TextEncoder().encode(text);
    assertEquals(encodeBase64(bytes), base64);
    assertEquals(decodeBase64(base64), bytes);
  }
});

Deno.test("decodeBase64() takes complete padding", () => {
  assertEquals(decodeBase64("Zg=="), Uint8Array.of(0x66));
  assertEquals(decodeBase64("Zm8="), Uint8Array.of(0x66, 0x6f));
});

Deno.test("decodeBase64() refuses other padding, stray bits, white space, other alphabets and cut texts", () => {
  for (
    const text of [
      "Zg=",
      "Zg===",
      "=",
      "==",
      "Zm9v=",
      "Zm9v==",
      "Zh",
      "Zm9",
      "Zm8 ",
      "Zm9v    ",
      " Zm8",
      "Z\nm8",
      "Z-_8",
      "Z",
      "Zm9vY",
      "Zg==Zg==",
      "Zgé",
    ]
  ) {
    assertEquals(decodeBase64(text), undefined, JSON.stringify(text));
  }
});

Deno.test("isKey() takes the base64 of 32 bytes, padded or not", () => {
  assert(isKey(encodeBase64(crypto.getRandomValues(new Uint8Array(32)))));
  assert(isKey(KEY));
  assert(isKey(`${KEY}=`));
});

Deno.test("isKey() refuses what does not decode to 32 bytes", () => {
  const bad = [
    "",
    KEY.slice(1),
    `${KEY}A`,
    `${KEY}==`,
    "A".repeat(42) + "F",
    `${KEY}\n`,
    `_${KEY.slice(1)}`,
    5,
    null,
    undefined,
    [KEY],
  ];
  for (const text of bad) assertFalse(isKey(text), JSON.stringify(text));
});

Deno.test("isKey() and decodeBase64() agree about every last character", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const last of alphabet) {
    const text = "A".repeat(42) + last;
    assertEquals(isKey(text), decodeBase64(text)?.length === 32, text);
  }
});

Deno.test("sameKey() compares keys as bytes, and what is no key is like nothing", () => {
  assert(sameKey(KEY, `${KEY}=`));
  assertFalse(sameKey(KEY, "A".repeat(43)));
  assertFalse(sameKey("x", "x"));
  assertFalse(sameKey(undefined, undefined));
  assertFalse(sameKey(KEY, `${KEY}and more`));
  assertFalse(sameKey(`${KEY}and more`, KEY));
});
