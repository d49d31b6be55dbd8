import { assert, assertEquals, assertFalse, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { deriveRecoveryKeyFromPassphrase } from "matrix-js-sdk/lib/crypto-api/key-passphrase.js";
import {
  describe,
  hashingOf,
  keyOfPassphrase,
  newHashing,
  readDescription,
  StorageKey,
} from "../../../src/crypto/secrets/secrets.ts";

const CONTENT = {
  algorithm: "m.secret_storage.v1.aes-hmac-sha2",
  name: "Mine",
  iv: "xv5b6/p3ExEw++wTyfSHEg==",
  mac: "ujBBbXahnTAMkmPUX2/0+VTfUh63pGyVRuBcDMgmJC8=",
};
const PASSPHRASE = { algorithm: "m.pbkdf2", salt: "salt", iterations: 500_000 };

function refusal(content: Record<string, unknown>): string {
  return assertThrows(() => readDescription("id", content), SecretStorageError).problem;
}

function hashingRefusal(passphrase: unknown): string {
  const description = readDescription("id", { ...CONTENT, passphrase });
  return assertThrows(() => hashingOf(description), SecretStorageError).problem;
}

Deno.test("keyOfPassphrase() makes the key that matrix-js-sdk makes", async () => {
  for (const salt of ["c2FsdA==", "not base64: é"]) {
    const ours = await keyOfPassphrase("correct horse", { salt, iterations: 1_000 });
    assertEquals(ours, await deriveRecoveryKeyFromPassphrase("correct horse", salt, 1_000));
  }
});

Deno.test("keyOfPassphrase() refuses no passphrase at all", async () => {
  for (const passphrase of ["", "\ud800", undefined as never]) {
    await assertRejects(() => keyOfPassphrase(passphrase, PASSPHRASE), ValueError, "not empty");
  }
});

Deno.test("newHashing() has a salt of its own each time, and as many iterations as other clients", () => {
  assertEquals(newHashing().iterations, 500_000);
  assertNotEquals(newHashing().salt, newHashing().salt);
});

Deno.test("readDescription() reads what a server has of a key, with iv and mac or without", () => {
  const { keyId, name, check, passphrase } = readDescription("id", CONTENT);
  assertEquals([keyId, name, check?.iv.length, check?.mac.length, passphrase], [
    "id",
    "Mine",
    16,
    32,
    undefined,
  ]);
  for (const absent of [{ iv: undefined }, { mac: undefined }, { iv: null, mac: null }]) {
    assertEquals(readDescription("id", { ...CONTENT, ...absent }).check, undefined);
  }
  assertEquals(readDescription("id", { ...CONTENT, name: 5 }).name, undefined);
});

Deno.test("readDescription() refuses what is gone, of another algorithm, or damaged", () => {
  assertThrows(() => readDescription("id", undefined), SecretStorageError, "reset()");
  assertEquals(refusal({}), "absent");
  assertEquals(refusal({ ...CONTENT, algorithm: "m.secret_storage.v1.curve25519-aes-sha2" }), "unusable");
  assertEquals(refusal({ ...CONTENT, algorithm: ["m.secret_storage.v1.aes-hmac-sha2"] }), "unusable");
  assertEquals(refusal({ ...CONTENT, iv: "O0BOvTqiIAYjC+RMcyHfWwMeowMeowMeow" }), "unusable");
  assertEquals(refusal({ ...CONTENT, mac: 5 }), "unusable");
  assertEquals(refusal({ ...CONTENT, mac: "A".repeat(10_000_000) }), "unusable");
});

Deno.test("hashingOf() reads how a passphrase is hashed, within bounds", () => {
  const hashing = (passphrase: unknown) => hashingOf(readDescription("id", { ...CONTENT, passphrase }));
  assertEquals(hashing(PASSPHRASE), { salt: "salt", iterations: 500_000 });
  assertEquals(hashing({ ...PASSPHRASE, bits: 256, iterations: 1_000 }).iterations, 1_000);
  assertEquals(hashing({ ...PASSPHRASE, iterations: 10_000_000 }).iterations, 10_000_000);
  assertEquals(hashing({ ...PASSPHRASE, salt: "s".repeat(1_024) }).salt.length, 1_024);
  for (const none of [undefined, null, "text", [], 5]) assertEquals(hashingRefusal(none), "no-passphrase");
  for (const iterations of [0, 1, 999, 10_000_001, 2 ** 31, 1e300, -1, 1_000.5, NaN, "500000", undefined]) {
    assertEquals(hashingRefusal({ ...PASSPHRASE, iterations }), "unusable");
  }
  for (const bits of [128, 512, "256", 0]) assertEquals(hashingRefusal({ ...PASSPHRASE, bits }), "unusable");
  for (const salt of [undefined, 5, "s".repeat(1_025)]) {
    assertEquals(hashingRefusal({ ...PASSPHRASE, salt }), "unusable");
  }
  assertEquals(hashingRefusal({ ...PASSPHRASE, algorithm: "m.scrypt" }), "unusable");
});

Deno.test("describe() describes a key so that it can be checked, and never holds it", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  using key = new StorageKey("id", bytes);
  const content = await describe(key, { salt: "salt", iterations: 500_000 });
  const description = readDescription("id", content);
  assertEquals(hashingOf(description), { salt: "salt", iterations: 500_000 });
  assert(description.check && await key.fits(description.check));
  assertFalse(JSON.stringify(content).includes(bytes.toBase64({ omitPadding: true })));
  assertEquals((await describe(key, undefined)).passphrase, undefined);
});
