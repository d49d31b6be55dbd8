import { assert, assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";

const { keys } = await Vodozemac.load();

/** RFC 8032, 7.1: secret, public key, message, signature. */
const RFC_8032 = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
] as const;

Deno.test("Ed25519SecretKey signs the vectors of RFC 8032", () => {
  for (const [secret, publicKey, message, signature] of RFC_8032) {
    using key = keys.importEd25519(Uint8Array.fromHex(secret));
    assertEquals(key.publicKey, Uint8Array.fromHex(publicKey).toBase64({ omitPadding: true }));
    assertEquals(
      key.sign(Uint8Array.fromHex(message)),
      Uint8Array.fromHex(signature).toBase64({ omitPadding: true }),
    );
    assert(
      keys.verify(Uint8Array.fromHex(publicKey), Uint8Array.fromHex(message), Uint8Array.fromHex(signature)),
    );
    assertEquals(key.toBytes().toHex(), secret);
  }
});

Deno.test("Ed25519SecretKey signs the empty object as the Matrix specification does", () => {
  // The specification's seed has stray bits in its last character, which this library refuses.
  const seed = "YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1";
  assertCode("bad_base64", () => keys.importEd25519(seed));
  using key = keys.importEd25519(Uint8Array.fromBase64(seed));
  assertEquals(key.publicKey, "XGX0JRS2Af3be3knz2fBiRbApjm2Dh61gXDJA8kcJNI");
  assertEquals(
    key.sign("{}"),
    "K8280/U9SSy9IVtjBuVeLr+HpOB4BQFWbg+UZaADMtTdGYI7Geitb76LTrr5QV/7Xg4ahLwYGYZzuHGZKM5ZAQ",
  );
});

Deno.test("Curve25519SecretKey agrees on the secret of RFC 7748", () => {
  using alice = keys.importCurve25519(
    Uint8Array.fromHex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),
  );
  assertEquals(
    Uint8Array.fromBase64(alice.publicKey + "=").toHex(),
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
  );
  const bob = Uint8Array.fromHex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  assertEquals(
    alice.diffieHellman(bob).toHex(),
    "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742",
  );
});

Deno.test("Curve25519SecretKey.diffieHellman() refuses keys of small order", () => {
  using key = keys.createCurve25519();
  for (
    const y of [
      "00".repeat(32),
      "01" + "00".repeat(31),
      "ec" + "ff".repeat(30) + "7f",
      "ed" + "ff".repeat(30) + "7f",
    ]
  ) {
    assertCode("non_contributory_key", () => key.diffieHellman(Uint8Array.fromHex(y)));
  }
});

Deno.test("keys can be created, taken out and put back", () => {
  using signing = keys.createEd25519();
  using agreement = keys.createCurve25519();
  using signingAgain = keys.importEd25519(signing.toBytes());
  using agreementAgain = keys.importCurve25519(agreement.toBytes().toBase64());
  assertEquals(signingAgain.publicKey, signing.publicKey);
  assertEquals(agreementAgain.publicKey, agreement.publicKey);
});

Deno.test("Keys.verify() says false of a bad signature and throws at what is no key or no signature", () => {
  using key = keys.createEd25519();
  const signature = key.sign("message");
  assert(!keys.verify(key.publicKey, "other", signature));
  assertCode("bad_length", () => keys.verify(key.publicKey, "message", signature.slice(0, 40)));
  assertCode("bad_base64", () => keys.verify(key.publicKey, "message", "*".repeat(86)));
  assertCode("bad_key", () => keys.verify(new Uint8Array(32).fill(2), "message", signature));
  assertCode("malformed", () => keys.verify(key.publicKey, "\udfff", signature));
});

Deno.test("keys of 44 characters that do not hold 32 bytes are refused, where vodozemac would panic", () => {
  for (const key of ["A".repeat(44), "A".repeat(42) + "==", "A".repeat(43) + "!", "A".repeat(40) + "===="]) {
    assert(!keys.isEd25519(key));
    assert(!keys.isCurve25519(key));
    assertCode(
      key === "A".repeat(44) || key.endsWith("==") && !key.endsWith("===") ? "bad_length" : "bad_base64",
      () => keys.importEd25519(key),
    );
  }
  assert(keys.isEd25519("A".repeat(43)));
});

Deno.test("Keys.isEd25519() and isCurve25519() say false of anything that is no key", () => {
  for (const value of [undefined, null, 7, {}, [], "", "A", new Uint8Array(31), new Uint8Array(33)]) {
    assert(!keys.isEd25519(value as never));
    assert(!keys.isCurve25519(value as never));
  }
  assert(!keys.isEd25519(new Uint8Array(32).fill(2)), "not on the curve");
});
