/** Key files as they are written. */

import { assert, assertEquals } from "@std/assert";
import { openKeyFile, writeKeyFile } from "../../../src/crypto/key_files/key_files.ts";

const PROTECTION = { passphrase: "pässword", rounds: 1_000 };

async function written(parts: readonly string[]): Promise<string> {
  return await new Response(ReadableStream.from(writeKeyFile(ReadableStream.from(parts), PROTECTION))).text();
}

async function read(file: string): Promise<string> {
  const { size, content } = await openKeyFile(file, PROTECTION);
  const bytes = await new Blob(await Array.fromAsync(content())).bytes();
  assertEquals(size, bytes.length);
  return new TextDecoder().decode(bytes);
}

Deno.test("writeKeyFile() writes what is read again, in parts of whatever length", async () => {
  const long = "ä€😀".repeat(100_000);
  for (
    const parts of [[""], ["[]"], ["", "a", "", "bc".repeat(9), "d"], ["x".repeat(16)], [long, "end", long]]
  ) {
    assertEquals(await read(await written(parts)), parts.join(""));
  }
});

Deno.test("writeKeyFile() writes lines of 96 characters between the two that say what it is, as Element does", async () => {
  const lines = (await written(["x".repeat(1_000)])).split("\n");
  assertEquals([lines.shift(), lines.pop(), lines.pop()], [
    "-----BEGIN MEGOLM SESSION DATA-----",
    "",
    "-----END MEGOLM SESSION DATA-----",
  ]);
  const last = lines.pop() ?? "";
  assert(lines.every((line) => /^[A-Za-z0-9+/]{96}$/.test(line)));
  assert(/^[A-Za-z0-9+/]{0,96}={0,2}$/.test(last) && last.length % 4 === 0);
});

Deno.test("writeKeyFile() never uses a salt or a counter twice, and leaves the counter's highest bit out", async () => {
  const heads = await Promise.all(Array.from({ length: 20 }, async () => {
    const line = (await written(["[]"])).split("\n")[1] ?? "";
    return Uint8Array.fromBase64(line.slice(0, 52)).subarray(0, 37);
  }));
  assertEquals(new Set(heads.map((head) => head.subarray(1, 17).toHex())).size, 20);
  assertEquals(new Set(heads.map((head) => head.subarray(17, 33).toHex())).size, 20);
  for (const head of heads) {
    assertEquals([head[0], new DataView(head.buffer).getUint32(33)], [1, PROTECTION.rounds]);
    assert((head[25] ?? 255) < 128);
  }
});
