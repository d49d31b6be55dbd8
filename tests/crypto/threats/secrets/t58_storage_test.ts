/** A stored secret whose MAC is compared in a time that tells how much of it was guessed. */

import { assertEquals } from "@std/assert";
import { StorageKey } from "../../../../src/crypto/secrets/secrets.ts";

Deno.test("T58: nothing but WebCrypto compares the MACs of keys and secrets, in constant time", async () => {
  const { verify } = crypto.subtle;
  const compared: number[] = [];
  using key = new StorageKey("id", new Uint8Array(32));
  const encrypted = await key.encrypt("com.example.token", "hunter2");
  const check = await key.newCheck();
  crypto.subtle.verify = (_algorithm, _key, signature) => {
    compared.push(signature.byteLength);
    return Promise.resolve(Boolean("whatever the MAC is"));
  };
  try {
    const mac = new Uint8Array(32);
    const read = await key.decrypt("com.example.token", { ...encrypted, mac: mac.toBase64() });
    assertEquals([read, await key.fits({ ...check, mac })], ["hunter2", true]);
  } finally {
    crypto.subtle.verify = verify;
  }
  assertEquals(compared, [32, 32]);
});
