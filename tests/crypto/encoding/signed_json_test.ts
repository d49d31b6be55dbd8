import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { signableJson, verifySignedJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import type { JsonObject } from "@greenroom/matrix/types";

const vodozemac = await Vodozemac.create();

/**
 * The signing key of the specification's test vectors, whose text ends with a "1": with bits that belong to
 * no byte.
 */
const SEED = "YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA0";

/**
 * The specification's test vectors: what is signed by "domain" with the key "ed25519:1", and the signature.
 */
const VECTORS: readonly [object: JsonObject, signature: string][] = [
  [{}, "K8280/U9SSy9IVtjBuVeLr+HpOB4BQFWbg+UZaADMtTdGYI7Geitb76LTrr5QV/7Xg4ahLwYGYZzuHGZKM5ZAQ"],
  [
    { one: 1, two: "Two" },
    "KqmLSbO39/Bzb0QIYE82zqLwsA+PDzYIpIRA2sRQ4sL53+sN6/fpNSoqE7BP7vBZhG6kYdD13EIMJpvhJI+6Bw",
  ],
];

function signed(object: JsonObject, user = "domain", keyId = "ed25519:1"): JsonObject {
  using key = vodozemac.keys.importEd25519(SEED);
  return withSignature(object, { userId: user, keyId, signature: key.sign(signableJson(object)) });
}

function signer(userId = "domain", keyId = "ed25519:1") {
  using key = vodozemac.keys.importEd25519(SEED);
  return { userId, keyId, publicKey: key.publicKey };
}

Deno.test("signatures are those of the specification's test vectors, and verify", () => {
  for (const [object, signature] of VECTORS) {
    assertEquals(signed(object), { ...object, signatures: { domain: { "ed25519:1": signature } } });
    assert(verifySignedJson(vodozemac, signed(object), signer()));
  }
});

Deno.test("signableJson() leaves out signatures and unsigned, and nothing else", () => {
  const object = { unsigned: { age: 1.5 }, signatures: 5, dehydrated: true, device: { unsigned: 1 } };
  assertEquals(signableJson(object), `{"dehydrated":true,"device":{"unsigned":1}}`);
});

Deno.test("verifySignedJson() sees every change but those of signatures and unsigned", () => {
  const object = signed({ a: 1, unknown: { b: "c" } });
  assert(verifySignedJson(vodozemac, { ...object, unsigned: { name: 1.5 } }, signer()));
  assert(
    verifySignedJson(vodozemac, withSignature(object, { userId: "x", keyId: "y", signature: "z" }), signer()),
  );
  assertFalse(verifySignedJson(vodozemac, { ...object, a: 2 }, signer()));
  assertFalse(verifySignedJson(vodozemac, { ...object, more: null }, signer()));
  const { unknown: _, ...less } = object;
  assertFalse(verifySignedJson(vodozemac, less, signer()));
});

Deno.test("verifySignedJson() takes padded signatures and keys", () => {
  const padded = withSignature({}, {
    userId: "domain",
    keyId: "ed25519:1",
    signature: `${VECTORS[0]?.[1]}==`,
  });
  assert(verifySignedJson(vodozemac, padded, { ...signer(), publicKey: `${signer().publicKey}=` }));
});

Deno.test("verifySignedJson() finds no signature under another name, and none with another key", () => {
  const object = signed({ a: 1 });
  assertFalse(verifySignedJson(vodozemac, object, signer("other")));
  assertFalse(verifySignedJson(vodozemac, object, signer("domain", "ed25519:2")));
  using other = vodozemac.keys.createEd25519();
  assertFalse(verifySignedJson(vodozemac, object, { ...signer(), publicKey: other.publicKey }));
});

Deno.test("verifySignedJson() says false of whatever is malformed", () => {
  const { signatures, ...object } = signed({ a: 1 });
  const good = signatures as Record<string, Record<string, string>>;
  const malformed: unknown[] = [undefined, null, 5, [], { domain: null }, { domain: [] }, {
    domain: { "ed25519:1": 7 },
  }];
  for (
    const text of ["", "!", "AAAA", "A".repeat(85), `${good.domain?.["ed25519:1"]}A`, "A".repeat(100_000)]
  ) {
    malformed.push({ domain: { "ed25519:1": text } });
  }
  for (const bad of malformed) {
    assertFalse(
      verifySignedJson(vodozemac, { ...object, signatures: bad }, signer()),
      JSON.stringify(bad)?.slice(0, 80),
    );
  }
  for (
    const publicKey of ["", "!", "A".repeat(44), "A".repeat(42) + "B", "A".repeat(43), "/".repeat(42) + "w"]
  ) {
    assertFalse(
      verifySignedJson(vodozemac, { ...object, signatures }, { ...signer(), publicKey }),
      publicKey,
    );
  }
  assertFalse(verifySignedJson(vodozemac, { ...object, signatures, a: 1.5 }, signer()));
});

Deno.test("verifySignedJson() finds signatures under names that objects have by themselves only where they are", () => {
  assertFalse(verifySignedJson(vodozemac, { signatures: {} }, signer("__proto__", "toString")));
  assertFalse(verifySignedJson(vodozemac, { signatures: { domain: {} } }, signer("domain", "toString")));
  const object = JSON.parse(JSON.stringify(signed({ a: 1 }, "__proto__", "__proto__")));
  assert(verifySignedJson(vodozemac, object, signer("__proto__", "__proto__")));
});

Deno.test("verifySignedJson() does not take an instance that has died for a bad signature", async () => {
  const object = signed({ a: 1 });
  const who = { ...signer(), publicKey: "A".repeat(42) + "E" };
  const dead = await Vodozemac.create();
  dead[Symbol.dispose]();
  assertThrows(() => verifySignedJson(dead, object, who), VodozemacError);
});

Deno.test("withSignature() keeps the signatures that are there, and leaves what it was given as it is", () => {
  const object = { a: 1, signatures: { "@a:x": { "ed25519:A": "1" }, "@b:x": { "ed25519:B": "2" } } };
  const before = structuredClone(object);
  assertEquals(withSignature(object, { userId: "@a:x", keyId: "ed25519:C", signature: "3" }), {
    a: 1,
    signatures: { "@a:x": { "ed25519:A": "1", "ed25519:C": "3" }, "@b:x": { "ed25519:B": "2" } },
  });
  assertEquals(object, before);
});
