/** Arrays of JSON that come in parts. */

import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { KeyFileError } from "@greenroom/matrix/errors";
import { JsonElements } from "../../../src/crypto/key_files/key_files.ts";

/** The elements of an array that comes in parts; undefined for what is too long or too deep. */
function elements(...parts: (string | Uint8Array)[]): (string | undefined)[] {
  const reader = new JsonElements();
  const found = parts.flatMap((part) =>
    reader.add(typeof part === "string" ? new TextEncoder().encode(part) : part)
  );
  reader.end();
  return found.map((element) => element && new TextDecoder().decode(element));
}

Deno.test("JsonElements finds what JSON.parse() finds, wherever the parts are cut", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(fc.property(fc.array(value), fc.array(fc.nat(200)), fc.nat(2), (values, cuts, indent) => {
    const bytes = new TextEncoder().encode(JSON.stringify(values, null, indent));
    const places = [
      0,
      ...cuts.filter((cut) => cut < bytes.length).sort((one, other) => one - other),
      bytes.length,
    ];
    const parts = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
    assertEquals(
      elements(...parts).map((text) => JSON.parse(text ?? "")),
      JSON.parse(JSON.stringify(values)),
    );
  }));
});

Deno.test("JsonElements takes any white space of JSON around the array and in it", () => {
  assertEquals(elements("\t\r\n [\t\r\n ]\t\r\n "), []);
  assertEquals(elements(" \t", "\r\n[1]\r\n", "\t "), ["1"]);
});

Deno.test("JsonElements is not misled by brackets, commas and quotes in strings", () => {
  assertEquals(elements(String.raw`[{"a":"],\"}[,"} ,"\\",["]"]]`), [
    String.raw`{"a":"],\"}[,"} `,
    '"\\\\"',
    '["]"]',
  ]);
});

Deno.test("JsonElements leaves out what is too long or too deep, holds nothing of it, and goes on", () => {
  const long = `"${"x".repeat(70_000)}"`;
  const deep = "[".repeat(50_000) + "]".repeat(50_000);
  assertEquals(elements(`[1,${long},2,${deep},3]`), ["1", undefined, "2", undefined, "3"]);
  assertEquals(elements("[1,", ...long, ",2]"), ["1", undefined, "2"]);
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assertEquals(elements(`[${nested(15)},${nested(16)}]`), [nested(15), undefined]);
  assertEquals(elements(`[[${nested(15)},[]]]`), [undefined], "whatever follows in it");
});

Deno.test("JsonElements takes only an array that ends, and nothing beside it", () => {
  assertEquals(elements(" [ ] \n"), []);
  assertEquals(elements("[1,]"), ["1", ""]);
  for (
    const wrong of [
      "",
      "  ",
      "{}",
      '"a"',
      "1",
      "[",
      "[1",
      '["]',
      "[1]]",
      "[1}",
      "[1] 2",
      "[1] [2]",
      "1]",
      "[[1]",
      "x[1]",
      "\uFEFF[]",
    ]
  ) {
    assertThrows(() => elements(wrong), KeyFileError, "its content is no list of keys");
  }
});
