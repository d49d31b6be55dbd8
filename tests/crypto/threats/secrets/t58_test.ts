/** Comparisons that take longer the more of a secret was guessed. */

import { assertEquals } from "@std/assert";

/** Names of values that an attacker could guess. */
const SECRET = /\b\w*(mac|hash|digest|sha256|secret|private|session_?key|passphrase)\w*\b/i;
/** Comparisons that end at the first difference. */
const COMPARISON = /[!=]==|\bsameKey\(|\.every\(|\.some\(|\.includes\(|\.startsWith\(|\blocaleCompare\(/;
/** Whether something is there, or of a kind, is no secret. */
const HARMLESS = /[!=]== (undefined|null|0|"\w+")|"\w+" [!=]==|\.(length|size|kind|type|code) [!=]==/;

/** Lines of a source that compare what may be secret. */
function suspects(source: string): string[] {
  return source.split("\n").filter((line) =>
    !/^\s*(\*|\/\/|\/\*)/.test(line) && SECRET.test(line) && COMPARISON.test(line) && !HARMLESS.test(line)
  );
}

Deno.test("T58: no comparison of encryption takes longer the more of a secret is right", async () => {
  const folder = new URL("../../../../src/crypto/", import.meta.url);
  const compared: string[] = [];
  const sources = (await Array.fromAsync(Deno.readDir(folder)))
    .filter(({ isDirectory }) => isDirectory)
    .flatMap(({ name: room }) =>
      Array.from(Deno.readDirSync(new URL(room, folder)), ({ name }) => `${room}/${name}`)
    );
  for (const name of sources) {
    const source = await Deno.readTextFile(new URL(name, folder));
    assertEquals([name, ...suspects(source)], [name]);
    if (/\btimingSafeEqual\(/.test(source)) compared.push(name);
  }
  // What somebody else says of a hash, a MAC or a secret; WebCrypto and vodozemac compare the others.
  assertEquals(compared.sort(), [
    "attachments/attachments.ts",
    "key_files/key_files.ts",
    "verification/qr_reciprocation.ts",
  ]);
});

Deno.test("T58: such a comparison would be found", () => {
  const bad = [
    "if (actual.toHex() === sha256.toHex()) return;",
    "return mac.every((byte, index) => byte === other[index]);",
    "if (sameKey(secret, given)) return true;",
  ];
  for (const line of bad) assertEquals(suspects(line), [line]);
  for (const line of ['typeof sessionKey !== "string"', "secret === undefined", "// hash === hash"]) {
    assertEquals(suspects(line), []);
  }
});
