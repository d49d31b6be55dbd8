import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { RoomKeysReader } from "../../../src/crypto/backup/backup.ts";

/** What is read of a text, in parts of some length. */
function read(text: string | Uint8Array, length = 7) {
  const reader = new RoomKeysReader();
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const found: [string, string, unknown][] = [];
  for (let start = 0; start < bytes.length; start += length) {
    for (const { roomId, sessionId, data } of reader.add(bytes.slice(start, start + length))) {
      found.push([roomId, sessionId, data]);
    }
  }
  return { found, isWhole: reader.isWhole };
}

const name = fc.string({ unit: "binary", maxLength: 20 });
const rooms = fc.dictionary(
  name,
  fc.record({
    sessions: fc.dictionary(name, fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }), {
      maxKeys: 4,
    }),
    other: fc.jsonValue({ maxDepth: 4 }),
  }),
  { maxKeys: 4 },
);

Deno.test("RoomKeysReader finds all keys of a backup, in parts of whatever length, between whatever else", () => {
  fc.assert(
    fc.property(
      rooms,
      fc.jsonValue(),
      fc.integer({ min: 1, max: 50 }),
      fc.boolean(),
      (rooms, other, length, wide) => {
        const all = { before: other, sessions: rooms, rooms, after: other };
        const text = JSON.stringify(all, undefined, wide ? 2 : 0);
        const parsed = JSON.parse(text).rooms as typeof rooms;
        const expected = Object.entries(parsed).flatMap(([room, { sessions }]) =>
          Object.entries(sessions).map(([session, data]) => [room, session, data])
        );
        const { found, isWhole } = read(text, length);
        assertEquals<unknown>(found, expected);
        assert(isWhole);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("RoomKeysReader gives no data of a key that is too long, too deep, no text or no JSON, and reads on", () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const bad = [`{"a":"${"x".repeat(65_536)}"}`, deep(100), '{"a":}', '{"a":01}'];
  for (const data of bad) {
    const text = `{"rooms":{"!r:x":{"sessions":{"one":${data},"two":{"b":2}}}}}`;
    const { found, isWhole } = read(text, 100);
    assertEquals(found, [["!r:x", "one", undefined], ["!r:x", "two", { b: 2 }]], data.slice(0, 20));
    assert(isWhole);
  }
  const bytes = new TextEncoder().encode('{"rooms":{"!r:x":{"sessions":{"one":{"a":"#"},"two":{"b":2}}}}}');
  bytes[bytes.indexOf(0x23)] = 0xff; // which no text has
  assertEquals(read(bytes).found, [["!r:x", "one", undefined], ["!r:x", "two", { b: 2 }]]);
  const long = `{"rooms":{"${"!".repeat(2_000)}":{"sessions":{"one":{"b":2}}}}}`;
  assertEquals(read(long).found, [["", "one", { b: 2 }]]);
});

Deno.test("RoomKeysReader finds nothing in what is no backup, and notices that it breaks off", () => {
  for (const text of ["[]", "{}", '{"rooms":[]}', '{"rooms":{"!r:x":{"sessions":[{"a":1}]}}}']) {
    const { found, isWhole } = read(text);
    assertEquals([found, isWhole], [[], true], text);
  }
  for (const text of ["", '{"rooms":{"!r:x":{"sessions":{"one":{"a":1}}}}', '{"rooms"', '{"rooms":{"!r']) {
    assertFalse(read(text).isWhole, text);
  }
});

Deno.test("RoomKeysReader takes no list, and nothing in one, for rooms, sessions or keys", () => {
  const key = '{"sessions":{"one":{"a":1}}}';
  const texts = [
    `{"rooms":[${key}]}`,
    `{"rooms":[[],${key}]}`,
    `{"rooms":[{},${key}]}`,
    `{"rooms":["!r:x",${key},[${key}]]}`,
    '{"rooms":{"!r:x":{"sessions":{"one":[{"a":1}]}}}}',
    '{"rooms":{"!r:x":{"sessions":{"one":["a"],"two":1}}}}',
    '{"rooms":{"!r:x":[{"one":{"a":1}}]}}',
  ];
  for (const text of texts) assertEquals(read(text), { found: [], isWhole: true }, text);
});

Deno.test("RoomKeysReader reads keys and names that are as long and as deep as they may be", () => {
  const of = (data: string, room = "!r:x") =>
    read(`{"rooms":{"${room}":{"sessions":{"one":${data}}}}}`, 999).found;
  const long = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
  assert(of(long(65_536))[0]?.[2] !== undefined);
  assertEquals(of(long(65_537))[0]?.[2], undefined);
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  assert(of(deep(16))[0]?.[2] !== undefined);
  assertEquals(of(deep(17))[0]?.[2], undefined);
  const named = (length: number) => of('{"a":1}', "!".repeat(length - 2))[0]?.[0].length;
  assertEquals([named(1_024), named(1_025)], [1_022, 0]);
});
