import { assertEquals, assertNotEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";
import { text } from "./support/pair.ts";

const { pk } = await Vodozemac.load();

Deno.test("PkDecryption decrypts libolm's own vector", () => {
  // From libolm's tests (test_pk.cpp).
  using key = pk.importDecryption(
    Uint8Array.fromHex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),
  );
  assertEquals(key.publicKey, "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo");
  const plaintext = key.decrypt({
    ciphertext: "ntk49j/KozVFtSqJXhCejg",
    mac: "zpzU6BkZcNI",
    ephemeral: "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08",
  });
  assertEquals(text(plaintext), "This is a test");
});

Deno.test("Pk.encrypt() uses a fresh key each time", () => {
  using key = pk.createDecryption();
  const [one, two] = [pk.encrypt(key.publicKey, "x"), pk.encrypt(key.publicKey, "x")];
  assertNotEquals(one.ephemeral, two.ephemeral);
  assertEquals([text(key.decrypt(one)), text(key.decrypt(two))], ["x", "x"]);
  using again = pk.importDecryption(key.toBytes());
  assertEquals(again.publicKey, key.publicKey);
  assertEquals(text(again.decrypt(one)), "x");
});

Deno.test("PkDecryption.decrypt() wants the whole MAC and the right key", () => {
  using key = pk.createDecryption();
  using other = pk.createDecryption();
  const message = pk.encrypt(key.publicKey, "secret");
  assertCode("bad_mac", () => other.decrypt(message));
  assertCode("bad_length", () => key.decrypt({ ...message, mac: message.mac.slice(0, 4) }));
  assertCode("bad_length", () => key.decrypt({ ...message, ephemeral: "AAAA" }));
  assertCode("non_contributory_key", () => key.decrypt({ ...message, ephemeral: new Uint8Array(32) }));
  assertCode("bad_padding", () => key.decrypt({ ...message, ciphertext: new Uint8Array(15) }));
  assertCode("non_contributory_key", () => pk.encrypt(new Uint8Array(32), "secret"));
});
