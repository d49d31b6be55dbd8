import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { serialize } from "node:v8";
import { StoreFormatError, ValueError } from "@greenroom/matrix/errors";
import { decodeValue, encodeValue } from "../../../src/store/base/mod.ts";

const isText = (value: unknown) => encodeValue(value)[0] !== 0xff && !isMixed(value);
const isMixed = (value: unknown) => encodeValue(value)[0] === 0xfe;

const json: [string, unknown][] = [
  ["an event", {
    type: "m.room.name",
    state_key: "",
    content: { name: "Grüne Stube 🌿\0", n: [1, null, -2.5] },
  }],
  ["nothing", null],
  ["a number", 0],
  ["a text with half a pair", { "\ud83c": "\udf3f" }],
  ["a text that begins with a mark of byte order", "\ufeffa"],
  ["a name that objects have by themselves", JSON.parse('{"__proto__":{"a":1},"toJSON":1,"constructor":2}')],
  ["empty things", { list: [], record: {} }],
  ["what has no prototype", Object.assign(Object.create(null), { a: 1 })],
];
for (const [name, value] of json) {
  Deno.test(`encodeValue() makes JSON of ${name}, and gives it back`, () => {
    assert(isText(value));
    const back = decodeValue(encodeValue(value));
    assertEquals(JSON.stringify(back), JSON.stringify(value));
    assertEquals(back, structuredClone(value));
  });
}

const circle: Record<string, unknown> = { a: 1 };
circle.self = circle;
const deep = JSON.parse("[".repeat(100) + "]".repeat(100));
const large = Array.from({ length: 20_000 }, () => ({}));
const named = Object.assign([1], { name: "list" });
const holes = Object.assign(new Array(1), { name: "as many as its numbers" });
const others: [string, unknown][] = [
  ["undefined", undefined],
  ["a property that is undefined", { a: undefined }],
  ["bytes in an object in an object", { a: { bytes: Uint8Array.of(1, 2, 3) } }],
  ["bytes beside what JSON does not know", { bytes: Uint8Array.of(1, 2, 3), at: new Date(5) }],
  ["other numbers than bytes", { list: Uint16Array.of(1, 2, 3) }],
  ["a number that JSON does not know", [NaN, -Infinity]],
  ["zero below zero", -0],
  ["a bigint", 1n],
  ["a time", new Date(5)],
  ["a map and a set", [new Map([[1, { a: 1 }]]), new Set(["x"])]],
  ["an array with a name", named],
  ["an array with a hole", holes],
  ["a hole alone", [1, , 2]],
  ["what goes round in circles", circle],
  ["what is very deep", deep],
  ["what is very large", large],
];
for (const [name, value] of others) {
  Deno.test(`encodeValue() gives back ${name}, which is not left to JSON`, () => {
    assertFalse(isText(value));
    assertEquals(decodeValue(encodeValue(value)), structuredClone(value));
  });
}

const mixed: [string, unknown][] = [
  ["bytes", Uint8Array.of(0, 255)],
  ["no bytes", new Uint8Array()],
  ["a view of bytes", Uint8Array.of(1, 2, 3, 4).subarray(1, 3)],
  ["bytes in an object", { id: "ü", state: Uint8Array.of(1, 2, 3), none: new Uint8Array(), of: { n: [1] } }],
  [
    "bytes under a name that objects have by themselves",
    Object.fromEntries([["__proto__", Uint8Array.of(1)]]),
  ],
];
for (const [name, value] of mixed) {
  Deno.test(`encodeValue() leaves ${name} as they are, and gives them back`, () => {
    assert(isMixed(value));
    const back = decodeValue(encodeValue(value));
    assertEquals(back, structuredClone(value));
    if (!(value instanceof Uint8Array)) {
      assertEquals(Object.keys(back as object), Object.keys(value as object));
    }
  });
}

Deno.test("encodeValue() gives back zero below zero as such", () => {
  assertStrictEquals(decodeValue(encodeValue(-0)), -0);
});

Deno.test("encodeValue() looks no longer at what branches again and again than at anything else", () => {
  let branch: unknown = {};
  for (let depth = 0; depth < 30; depth++) branch = [branch, branch];
  assertFalse(isText(branch));
});

Deno.test("encodeValue() refuses bytes that are a proxy's, or that have been handed on", () => {
  const detached = Uint8Array.of(1, 2, 3);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  for (const bytes of [detached, new Proxy(new Uint8Array(1), {})]) {
    for (const value of [bytes, { bytes }, { of: { bytes } }]) {
      assertThrows(() => encodeValue(value), ValueError, "it is not plain data");
    }
  }
});

Deno.test("encodeValue() refuses what is not plain data, also if it says how to make JSON of it", () => {
  for (
    const value of [
      () => 1,
      { toJSON: () => 1 },
      Symbol("x"),
      new WeakMap(),
      [new Proxy({}, {})],
      new Proxy([], {}),
    ]
  ) {
    assertThrows(() => encodeValue(value), ValueError, "it is not plain data");
  }
});

Deno.test("decodeValue() reads what was written before values were JSON", () => {
  const value = { type: "m.room.name", content: { name: "a" } };
  assertEquals(decodeValue(serialize(value)), value);
});

Deno.test("decodeValue() says that bytes are damaged", () => {
  const bytes = encodeValue({ name: "ü" });
  const mixed = encodeValue({ state: Uint8Array.of(1, 2, 3) });
  const damaged = [
    new Uint8Array(),
    bytes.subarray(1),
    bytes.subarray(0, 5),
    bytes.with(9, 0xff),
    Uint8Array.of(0, 17),
    mixed.subarray(0, 3),
    mixed.subarray(0, 9),
    mixed.subarray(0, -1),
    mixed.with(4, 1),
    Uint8Array.of(...mixed, 0),
    mixed.with(mixed.length - 6, "-".charCodeAt(0)),
  ];
  for (const each of [...damaged, serialize({ a: 1 }).subarray(0, 4)]) {
    assertThrows(() => decodeValue(each), StoreFormatError, "it is damaged");
  }
});
