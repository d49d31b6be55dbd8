import { assert, assertEquals } from "@std/assert";
import { newAuthData, readPublicKey } from "../../../src/types/identifiers.ts";
import { backupSecret } from "../../../src/crypto/backup/backup.ts";
import { readKeySecret } from "../../../src/crypto/secrets/secrets.ts";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import { testContext } from "../support/context.ts";
import { DEVICE_KEY, SECRET, VERSION } from "./vectors.ts";

const { public_key: KEY } = VERSION.auth_data;

Deno.test("readPublicKey() reads the key of a version, and its signature verifies", () => {
  assertEquals(readPublicKey(VERSION), KEY);
  assertEquals(readPublicKey({ ...VERSION, auth_data: { public_key: `${KEY}=` } }), KEY);
  assertEquals(readPublicKey({ ...VERSION, version: "1".repeat(255) }), KEY);
  const { vodozemac } = testContext();
  const signer = { userId: "@alice:localhost", keyId: "ed25519:test_device", publicKey: DEVICE_KEY };
  assert(verifySignedJson(vodozemac, VERSION.auth_data, signer));
});

Deno.test("readPublicKey() reads no version of another algorithm, and none without a key", () => {
  assertEquals(readPublicKey({ ...VERSION, algorithm: "m.megolm_backup.v2" }), undefined);
  for (const auth_data of [undefined, null, KEY, [KEY], {}, { public_key: 1 }, { public_key: `${KEY}A` }]) {
    assertEquals(readPublicKey({ ...VERSION, auth_data }), undefined);
  }
});

Deno.test("readPublicKey() reads no version whose name is longer than any that a server gives", () => {
  assertEquals(readPublicKey({ ...VERSION, version: "1".repeat(256) }), undefined);
});

Deno.test("newAuthData() names the public key, and is signed", () => {
  assertEquals(newAuthData(KEY, (object) => ({ ...object, signatures: {} })), {
    public_key: KEY,
    signatures: {},
  });
});

Deno.test("readKeySecret() reads the base64 of 32 bytes, padded or not, and nothing else", () => {
  const bytes = readKeySecret(SECRET);
  assert(bytes);
  assertEquals(backupSecret(bytes), SECRET.slice(0, -1));
  assertEquals(readKeySecret(backupSecret(bytes)), bytes);
  for (
    const text of ["", "AAAA", "A".repeat(44), `${SECRET}=`, "A".repeat(1_000_000), ` ${SECRET.slice(1)}`]
  ) {
    assertEquals(readKeySecret(text), undefined);
  }
});
