import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { attachmentCipher, readSecrets, writeSecrets } from "../../../src/crypto/attachments/attachments.ts";
import { AttachmentError, DecryptionError } from "@greenroom/matrix/errors";

const K = "aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0";
const IV = "w+sE15fzSc0AAAAAAAAAAA";
const SHA = "fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA";
const key = { kty: "oct", alg: "A256CTR", ext: true, key_ops: ["encrypt", "decrypt"], k: K };
const file = { url: "mxc://example.org/x", v: "v2", key, iv: IV, hashes: { sha256: SHA } };

Deno.test("An EncryptedFile is read with or without padding and additions, and written without", () => {
  const secrets = readSecrets(file);
  assertEquals([secrets.key.length, secrets.iv.length, secrets.sha256.length], [32, 16, 32]);
  const { url: _, ...expected } = file;
  assertEquals(writeSecrets(secrets) as unknown, expected);
  const others: unknown[] = [
    { ...file, key: { ...key, k: `${K}=` }, iv: `${IV}==`, hashes: { sha256: `${SHA}=` } },
    { ...file, key: { ...key, key_ops: ["decrypt", "encrypt", "wrapKey"], ext: undefined, use: "enc" } },
    { ...file, mimetype: "image/png", hashes: { sha256: SHA, sha512: 5, __proto__: null } },
    Object.assign(Object.create(null), file),
  ];
  for (const other of others) assertEquals(readSecrets(other), secrets);
});

const WRONG: Readonly<Record<string, unknown>> = {
  "nothing": undefined,
  "null": null,
  "text": "mxc://example.org/x",
  "a list": [file],
  "no version": { ...file, v: undefined },
  "version 1": { ...file, v: "v1" },
  "a version that is a list": { ...file, v: ["v2"] },
  "no key": { ...file, key: undefined },
  "a key that is text": { ...file, key: K },
  "another type of key": { ...file, key: { ...key, kty: "RSA" } },
  "another algorithm": { ...file, key: { ...key, alg: "A128CTR" } },
  "no operations": { ...file, key: { ...key, key_ops: undefined } },
  "operations that are text": { ...file, key: { ...key, key_ops: "encrypt decrypt" } },
  "a key for encrypting only": { ...file, key: { ...key, key_ops: ["encrypt"] } },
  "a key for decrypting only": { ...file, key: { ...key, key_ops: ["decrypt"] } },
  "no k": { ...file, key: { ...key, k: undefined } },
  "a k that is a number": { ...file, key: { ...key, k: 7 } },
  "an empty k": { ...file, key: { ...key, k: "" } },
  "a k of 31 bytes": { ...file, key: { ...key, k: K.slice(0, 42) } },
  "a k of 33 bytes": { ...file, key: { ...key, k: `${K}A` } },
  "a k of 16 bytes": { ...file, key: { ...key, k: K.slice(0, 22) } },
  "a k in the other alphabet": { ...file, key: { ...key, k: K.replaceAll("-", "+").replaceAll("_", "/") } },
  "a k with white space": { ...file, key: { ...key, k: `${K.slice(0, 20)} ${K.slice(20)}` } },
  "a k with too much padding": { ...file, key: { ...key, k: `${K}==` } },
  "a k that is endless": { ...file, key: { ...key, k: K.repeat(100_000) } },
  "no iv": { ...file, iv: undefined },
  "an iv of 8 bytes": { ...file, iv: IV.slice(0, 11) },
  "an iv of 15 bytes": { ...file, iv: IV.slice(0, 20) },
  "an iv of 17 bytes": { ...file, iv: `${IV}A` },
  "an iv in the other alphabet": { ...file, iv: IV.replace("+", "-") },
  "no hashes": { ...file, hashes: undefined },
  "hashes that are a list": { ...file, hashes: [SHA] },
  "no SHA-256": { ...file, hashes: { sha512: SHA } },
  "a SHA-256 that is inherited": { ...file, hashes: Object.create({ sha256: SHA }) },
  "an empty SHA-256": { ...file, hashes: { sha256: "" } },
  "a SHA-256 of 31 bytes": { ...file, hashes: { sha256: SHA.slice(0, 42) } },
  "a SHA-256 in hexadecimal": { ...file, hashes: { sha256: "ab".repeat(32) } },
  "a SHA-256 that is a list": { ...file, hashes: { sha256: [SHA] } },
};

for (const [name, value] of Object.entries(WRONG)) {
  Deno.test(`T55: a file with ${name} is refused before anything is decrypted`, async () => {
    const error = assertThrows(
      () => attachmentCipher.check(value),
      AttachmentError,
      "Cannot use the encrypted file",
    );
    assertEquals([error.problem, error.code, error instanceof DecryptionError], [
      "file",
      "ATTACHMENT_ERROR",
      true,
    ]);
    assert(!error.message.includes(K.slice(0, 8)));
    const source = ReadableStream.from([new Uint8Array(3)]);
    assertThrows(() => attachmentCipher.decryptStream(source, value as never), AttachmentError);
    assert(!source.locked);
    await assertRejects(() => attachmentCipher.decrypt(new Uint8Array(3), value as never), AttachmentError);
  });
}
