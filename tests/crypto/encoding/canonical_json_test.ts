import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { canonicalJson, canonicalJsonWithout } from "../../../src/crypto/encoding/encoding.ts";
import { ValueError } from "@greenroom/matrix/errors";

/**
 * The examples of the specification's appendix on canonical JSON:
 * as they are given, and as they have to come out.
 */
const EXAMPLES: readonly [given: string, canonical: string][] = [
  [`{}`, `{}`],
  [`{ "one": 1, "two": "Two" }`, `{"one":1,"two":"Two"}`],
  [`{ "b": "2", "a": "1" }`, `{"a":"1","b":"2"}`],
  [`{"b":"2","a":"1"}`, `{"a":"1","b":"2"}`],
  [
    `{ "auth": { "success": true, "mxid": "@john.doe:example.com", "profile": { "display_name": "John Doe",
       "three_pids": [ { "medium": "email", "address": "john.doe@example.org" }, { "medium": "msisdn", "address": "123456789" } ] } } }`,
    `{"auth":{"mxid":"@john.doe:example.com","profile":{"display_name":"John Doe","three_pids":[{"address":"john.doe@example.org","medium":"email"},{"address":"123456789","medium":"msisdn"}]},"success":true}}`,
  ],
  [`{ "a": "日本語" }`, `{"a":"日本語"}`],
  [`{ "本": 2, "日": 1 }`, `{"日":1,"本":2}`],
  [`{ "a": "\\u65E5" }`, `{"a":"日"}`],
  [`{ "a": null }`, `{"a":null}`],
  [`{ "a": -0, "b": 1e10 }`, `{"a":0,"b":10000000000}`],
];

Deno.test("canonicalJson() writes the specification's examples as the specification does", () => {
  for (const [given, canonical] of EXAMPLES) assertEquals(canonicalJson(JSON.parse(given)), canonical);
});

Deno.test("canonicalJson() orders names by code point, not by 16-bit unit", () => {
  const names = ["\u{1f600}", "\uffff", "\ue000", "\ud7ff", "\u{10000}a", "\u{10000}", "a", "", "\u{10ffff}"];
  const canonical = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
  const order = ["", "a", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10000}a", "\u{1f600}", "\u{10ffff}"];
  assertEquals(canonical, `{${order.map((name) => `${JSON.stringify(name)}:0`).join()}}`);
});

Deno.test("canonicalJson() puts a name before those that begin with it, in whichever order they come", () => {
  const names = ["\u{1f600}", "\u{1f600}a", "\u{1f600}ab"];
  const canonical = `{${names.map((name) => `"${name}":0`).join()}}`;
  for (const given of [names, names.toReversed()]) {
    assertEquals(canonicalJson(Object.fromEntries(given.map((name) => [name, 0]))), canonical);
  }
});

Deno.test("canonicalJson() takes objects without a prototype", () => {
  const object: object = Object.assign(Object.create(null), { b: 1, a: 2 });
  assertEquals(canonicalJson(object), `{"a":2,"b":1}`);
});

Deno.test("canonicalJson() orders names that look like numbers as text", () => {
  assertEquals(canonicalJson(JSON.parse(`{"10":1,"9":2,"b":3,"1":4}`)), `{"1":4,"10":1,"9":2,"b":3}`);
});

Deno.test("canonicalJson() escapes what JSON has to escape, in the shortest form, and nothing else", () => {
  const text = '"\\/\b\f\n\r\t\0\x1f\x7f\x80\u2028é\u{1f600}';
  assertEquals(
    canonicalJson(text),
    `"\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\x80\u2028é\u{1f600}"`,
  );
  assertEquals(canonicalJson({ "\n": 1 }), `{"\\n":1}`);
});

Deno.test("canonicalJson() takes integers up to 2^53 - 1 in size, and no other number", () => {
  assertEquals(
    canonicalJson([0, -1, 9007199254740991, -9007199254740991]),
    "[0,-1,9007199254740991,-9007199254740991]",
  );
  assertEquals(canonicalJson(JSON.parse("[1e3]")), "[1000]");
  for (const number of [1.5, NaN, Infinity, -Infinity, 9007199254740992, -9007199254740992, 1e21, 1e-7]) {
    assertThrows(() => canonicalJson({ a: [number] }), ValueError);
  }
});

Deno.test("canonicalJson() refuses lone surrogates, in names too", () => {
  for (const text of ["\ud800", "a\udc00", "\udc00\ud800"]) {
    assertThrows(() => canonicalJson(text), ValueError, "lone surrogate");
    assertThrows(() => canonicalJson({ [text]: 1 }), ValueError, "lone surrogate");
  }
});

Deno.test("canonicalJson() refuses what is not JSON, and leaves out members that are undefined", () => {
  assertEquals(canonicalJson({ a: undefined, b: 1 }), `{"b":1}`);
  for (
    const value of [
      undefined,
      [undefined],
      () => 1,
      Symbol("a"),
      1n,
      new Map(),
      new Date(0),
      new Uint8Array(1),
    ]
  ) {
    assertThrows(() => canonicalJson(value), ValueError);
    assertThrows(() => canonicalJson({ a: value === undefined ? [value] : value }), ValueError);
  }
});

Deno.test("canonicalJson() takes 128 levels and refuses any more, however many", () => {
  const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  assertEquals(canonicalJson(nested(128)).length, 256);
  assertThrows(() => canonicalJson(nested(129)), ValueError, "128 levels");
  assertThrows(() => canonicalJson(nested(1_000)), ValueError, "128 levels");
});

Deno.test("canonicalJson() takes names that objects have by themselves for names like others", () => {
  const given = JSON.parse(`{"toString":1,"__proto__":{"b":2,"a":1},"constructor":"c"}`);
  assertEquals(canonicalJson(given), `{"__proto__":{"a":1,"b":2},"constructor":"c","toString":1}`);
});

Deno.test("canonicalJsonWithout() leaves out members of the object itself only", () => {
  const object = { b: 1, unsigned: 1.5, a: { unsigned: 2 } };
  assertEquals(canonicalJsonWithout(object, ["unsigned"]), `{"a":{"unsigned":2},"b":1}`);
});

Deno.test("canonicalJson() does as the slow and plain way does, for any JSON", () => {
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: "small" },
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.string({ unit: "binary" }),
      fc.array(tie("json")),
      fc.dictionary(fc.string({ unit: "binary" }), tie("json")),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const canonical = canonicalJson(value);
      assertEquals(canonical, plainly(value));
      assertEquals(canonicalJson(JSON.parse(canonical)), canonical);
      assert(canonical.isWellFormed());
    }),
    { seed: 1 },
  );
});

/** Canonical JSON by way of lists of code points. */
function plainly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainly).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const points = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const entries = Object.entries(value).sort(([one], [other]) => {
    const [first, second] = [points(one), points(other)];
    const place = first.findIndex((point, index) => point !== second[index]);
    return place < 0 ? first.length - second.length : (first[place] ?? 0) - (second[place] ?? -1);
  });
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${plainly(member)}`).join(",")}}`;
}
