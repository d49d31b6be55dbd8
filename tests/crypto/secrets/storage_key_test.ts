import { assert, assertEquals, assertFalse, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import theirDecrypt from "matrix-js-sdk/lib/utils/decryptAESSecretStorageItem.js";
import theirEncrypt from "matrix-js-sdk/lib/utils/encryptAESSecretStorageItem.js";
import { decodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";
import { readCheck, StorageKey } from "../../../src/crypto/secrets/storage_key.ts";
import { macOf } from "../support/storage_mac.ts";

const NAME = "com.example.token";

/** A key of a byte. */
function keyOf(byte: number): StorageKey {
  return new StorageKey("id", new Uint8Array(32).fill(byte));
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => work, SecretStorageError)).problem;
}

Deno.test("StorageKey.fits() accepts a check value that matrix-rust-sdk has made", async () => {
  // Of the tests of matrix-rust-sdk (Apache-2.0).
  const bytes = decodeRecoveryKey("EsTj 3yST y93F SLpB jJsz eAXc 2XzA ygD3 w69H fGaN TKBj jXEd");
  const check = readCheck("xv5b6/p3ExEw++wTyfSHEg==", "ujBBbXahnTAMkmPUX2/0+VTfUh63pGyVRuBcDMgmJC8=");
  assert(check !== undefined);
  assert(await new StorageKey("id", bytes).fits(check));
  assertFalse(await keyOf(1).fits(check));
});

Deno.test("StorageKey.fits() accepts its own check values, and no others", async () => {
  const check = await keyOf(1).newCheck();
  assert(await keyOf(1).fits(check));
  assertFalse(await keyOf(2).fits(check));
  assertFalse(await keyOf(1).fits({ ...check, iv: new Uint8Array(16) }));
});

Deno.test("StorageKey encrypts what matrix-js-sdk decrypts, and the other way round", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.string({ unit: "grapheme", minLength: 1 }),
      async (bytes, secret, name) => {
        using key = new StorageKey("id", Uint8Array.from(bytes));
        assertEquals(await theirDecrypt(await key.encrypt(name, secret), bytes, name), secret);
        assertEquals(await key.decrypt(name, await theirEncrypt(secret, bytes, name)), secret);
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("StorageKey.encrypt() writes base64 without padding, with bit 63 of a new vector cleared", async () => {
  const seen = new Set<string>();
  for (let time = 0; time < 50; time++) {
    const { iv, ciphertext, mac } = await keyOf(1).encrypt(NAME, "hunter2");
    assertFalse(`${iv}${ciphertext}${mac}`.includes("="));
    assertEquals((Uint8Array.fromBase64(iv)[8] ?? 0) & 0x80, 0);
    seen.add(iv).add(ciphertext);
  }
  assertEquals(seen.size, 100);
});

Deno.test("StorageKey.decrypt() refuses each change of each part", async () => {
  const encrypted = await keyOf(1).encrypt(NAME, "hunter2");
  for (const part of ["ciphertext", "mac"] as const) {
    const bytes = Uint8Array.fromBase64(encrypted[part]);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const work = keyOf(1).decrypt(NAME, { ...encrypted, [part]: changed.toBase64() });
      assertEquals(await problemOf(work), "damaged");
    }
  }
});

Deno.test("StorageKey.decrypt() refuses what is no encrypted secret", async () => {
  const encrypted = await keyOf(1).encrypt(NAME, "hunter2");
  const spoiled: unknown[] = [
    undefined,
    null,
    "text",
    [],
    {},
    { ...encrypted, iv: undefined },
    { ...encrypted, iv: "AAAA" },
    { ...encrypted, mac: encrypted.mac.slice(0, 11) },
    { ...encrypted, mac: "A".repeat(1_000_000) },
    { ...encrypted, ciphertext: 5 },
    { ...encrypted, ciphertext: "***" },
    { ...encrypted, ciphertext: "A".repeat(1_400_000) },
  ];
  for (const value of spoiled) assertEquals(await problemOf(keyOf(1).decrypt(NAME, value)), "damaged");
});

Deno.test("StorageKey.decrypt() decodes no more than the largest secret has", async () => {
  const encrypted = await keyOf(1).encrypt(NAME, "hunter2");
  for (const [length, why] of [[87_384, "it was changed"], [87_385, "more than 65536 bytes"]] as const) {
    const work = keyOf(1).decrypt(NAME, { ...encrypted, ciphertext: "A".repeat(length) });
    await assertRejects(() => work, SecretStorageError, why);
  }
});

Deno.test("StorageKey.decrypt() refuses what is no text", async () => {
  const key = keyOf(1);
  const encrypted = await key.encrypt(NAME, "\u0000".repeat(2));
  // What is encrypted with the same vector differs by the same bits; its MAC is what a client made.
  const bytes = Uint8Array.fromBase64(encrypted.ciphertext).map((byte) => byte ^ 0xff);
  const mac = await macOf(new Uint8Array(32).fill(1), NAME, bytes);
  const work = key.decrypt(NAME, { ...encrypted, ciphertext: bytes.toBase64(), mac: mac.toBase64() });
  assertEquals((await assertRejects(() => work, SecretStorageError, "it is no text")).problem, "damaged");
});

Deno.test("StorageKey.encrypt() refuses a megabyte, half a character, and what is no text", async () => {
  const key = keyOf(1);
  await assertRejects(() => key.encrypt(NAME, "x".repeat(1_000_000)), ValueError, "1000000 bytes");
  await assertRejects(() => key.encrypt(NAME, "é".repeat(32_769)), ValueError, "65538 bytes");
  await assertRejects(() => key.encrypt(NAME, "\ud800"), ValueError, "well-formed");
  await assertRejects(() => key.encrypt(NAME, 5 as never), ValueError, "text");
  const most = "x".repeat(65_536);
  assertEquals(await key.decrypt(NAME, await key.encrypt(NAME, most)), most);
});

Deno.test("StorageKey is wiped when it is disposed of, and can do nothing more", async () => {
  const bytes = new Uint8Array(32).fill(7);
  const key = new StorageKey("id", bytes);
  const encrypted = await key.encrypt(NAME, "hunter2");
  assertNotEquals(bytes, new Uint8Array(32));
  key[Symbol.dispose]();
  assertEquals(bytes, new Uint8Array(32));
  assertEquals(await problemOf(key.encrypt(NAME, "hunter2")), "closed");
  assertEquals(await problemOf(key.decrypt(NAME, encrypted)), "closed");
  assertThrows(() => key.recoveryKey, SecretStorageError, "open it again");
});
