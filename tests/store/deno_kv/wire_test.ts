import { assertEquals, assertThrows } from "@std/assert";
import { StoreFormatError } from "@greenroom/matrix/errors";
import {
  decodeRead,
  decodeWrite,
  encodeRead,
  encodeWrite,
  rangeOf,
  recordOf,
} from "../../../src/store/deno_kv/wire.ts";

const hex = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));

Deno.test("encodeRead() asks for the ranges", () => {
  assertEquals(encodeRead([rangeOf(["a"])]).toHex(), hex("0a0d 0a03026100 120402610000 1801").toHex());
  assertEquals(encodeRead([]).length, 0);
});

Deno.test("encodeWrite() says what to check, to put and to remove", () => {
  const written = encodeWrite(
    [{ key: ["a"], versionstamp: null }, { key: ["b"], versionstamp: "00000000000000090000" }],
    [
      { key: ["c"], record: Uint8Array.of(7), expireAt: 2 ** 41 },
      { key: ["d"], record: undefined },
    ],
  );
  const expected = [
    "0a07 0a03026100 1200",
    "0a11 0a03026200 120a 00000000000000090000",
    "1215 0a03026300 1205 0a0107 1003 1801 20808080808040",
    "1207 0a03026400 1802",
  ].join("");
  assertEquals(written.toHex(), hex(expected).toHex());
});

Deno.test("A record of more than a hundred bytes has a length of several bytes", () => {
  const record = new Uint8Array(300).fill(1);
  assertEquals(
    encodeWrite([], [{ key: ["a"], record }]).subarray(0, 15).toHex(),
    hex("12bb02 0a03026100 12b102 0aac02 01").toHex(),
  );
});

Deno.test("decodeRead() takes the entries of each range, and leaves out what it does not know", () => {
  const entry = "0a03026100 120107 1803 220a00000000000000090000";
  const answer = hex(`0a18 0a16 ${entry} 0a00 2001 4001 78ffffffff0f 7d00000000 790000000000000000`);
  const found = { key: ["a"], value: Uint8Array.of(7), versionstamp: "00000000000000090000" };
  assertEquals(decodeRead(answer), [[found], []]);
  assertEquals(recordOf(["a"], [found]), found);
  assertEquals(recordOf(["a"], []), { key: ["a"], value: null, versionstamp: null });
  assertEquals(decodeRead(hex("1001")), undefined); // the server does not read now
  assertEquals(decodeRead(hex("4002")), undefined);
});

Deno.test("decodeRead() gives no bytes for a value that others have written", () => {
  assertEquals(decodeRead(hex("0a0c 0a0a 0a03026100 1201ff 1801"))?.[0]?.[0]?.value, { encoding: 1 });
});

Deno.test("decodeWrite() distinguishes a write, a failed check and a refusal", () => {
  assertEquals(decodeWrite(hex("0801 120a00000000000000090000")), { versionstamp: "00000000000000090000" });
  assertEquals(decodeWrite(hex("0802 220100")), { versionstamp: undefined });
  assertEquals(decodeWrite(hex("0805")), undefined);
  assertEquals(decodeWrite(hex("")), undefined);
});

Deno.test("What is not a message is refused", () => {
  for (const broken of ["08", "0aff01", "0a05 00", "0b", "0801 12", "1001 0a8080"]) {
    assertThrows(() => decodeWrite(hex(broken)), StoreFormatError, "it is not KV Connect");
  }
});
