import { assert } from "@std/assert";
import fc from "fast-check";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { first, pair } from "./support/pair.ts";

// deno-lint-ignore no-explicit-any -- the point of it: what no type checker would let through
type Anything = any;

const vodozemac = await Vodozemac.create();
const { olm, megolm, keys, pk } = vodozemac;
const { alice, bob, fromAlice } = pair(vodozemac);
const outbound = megolm.createOutbound();
const inbound = megolm.createInbound(outbound.sessionKey());
const key = keys.createCurve25519();
const signing = keys.createEd25519();
const decryption = pk.createDecryption();
const sas = vodozemac.createSas().establish(vodozemac.createSas().publicKey);

/** Every public function that takes an argument. */
const FUNCTIONS: Record<string, (a: Anything, b: Anything, c: Anything) => unknown> = {
  "Account.createInboundSession": (a, b) => alice.createInboundSession(a, b),
  "Account.createInboundSession, type 0": (a, b) =>
    alice.createInboundSession(key.publicKey, { type: a, body: b }),
  "Account.createOutboundSession": (a, b) => alice.createOutboundSession(a, b),
  "Account.dehydrate": (a) => alice.dehydrate(a),
  "Account.generateOneTimeKeys": (a) => alice.generateOneTimeKeys(a),
  "Account.removeOneTimeKey": (a) => bob.removeOneTimeKey(a),
  "Account.sign": (a) => alice.sign(a),
  "Curve25519SecretKey.diffieHellman": (a) => key.diffieHellman(a),
  "Ecies.accept": (a) => vodozemac.createEcies().accept(a),
  "Ecies.open": (a, b) => vodozemac.createEcies().open(a, b),
  "Ed25519SecretKey.sign": (a) => signing.sign(a),
  "EstablishedSas.bytes": (a, b) => sas.bytes(a, b),
  "EstablishedSas.mac": (a, b) => sas.mac(a, b),
  "EstablishedSas.macInvalidBase64": (a, b) => sas.macInvalidBase64(a, b),
  "EstablishedSas.string": (a) => sas.string(a),
  "EstablishedSas.verifyMac": (a, b, c) => sas.verifyMac(a, b, c),
  "EstablishedSas.verifyMacInvalidBase64": (a, b, c) => sas.verifyMacInvalidBase64(a, b, c),
  "HpkeRecipient.accept": (a, b) => vodozemac.createHpke().accept(a, { additionalData: b }),
  "InboundGroupSession.advanceTo": (a) => megolm.createInbound(outbound.sessionKey()).advanceTo(a),
  "InboundGroupSession.compare": (a) => inbound.compare(a),
  "InboundGroupSession.decrypt": (a) => inbound.decrypt(a),
  "InboundGroupSession.decryptAll": (a, b) => inbound.decryptAll([a, b]),
  "InboundGroupSession.exportAt": (a) => inbound.exportAt(a),
  "InboundGroupSession.merge": (a) => inbound.merge(a),
  "Keys.importCurve25519": (a) => keys.importCurve25519(a),
  "Keys.importEd25519": (a) => keys.importEd25519(a),
  "Keys.isCurve25519": (a) => keys.isCurve25519(a),
  "Keys.isEd25519": (a) => keys.isEd25519(a),
  "Keys.verify": (a, b, c) => keys.verify(a, b, c),
  "Megolm.createInbound": (a) => megolm.createInbound(a),
  "Megolm.importInbound": (a) => megolm.importInbound(a),
  "Megolm.importLibolmInbound": (a, b) => megolm.importLibolmInbound(a, b),
  "Megolm.importLibolmOutbound": (a, b) => megolm.importLibolmOutbound(a, b),
  "Megolm.messageIndex": (a) => megolm.messageIndex(a),
  "Megolm.restoreInbound": (a) => megolm.restoreInbound(a),
  "Megolm.restoreOutbound": (a) => megolm.restoreOutbound(a),
  "Olm.importLibolmAccount": (a, b) => olm.importLibolmAccount(a, b),
  "Olm.importLibolmSession": (a, b) => olm.importLibolmSession(a, b),
  "Olm.readPreKeyMessage": (a) => olm.readPreKeyMessage(a),
  "Olm.rehydrateAccount": (a, b, c) => olm.rehydrateAccount({ ciphertext: a, nonce: b }, c),
  "Olm.restoreAccount": (a) => olm.restoreAccount(a),
  "Olm.restoreSession": (a) => olm.restoreSession(a),
  "OlmSession.decrypt": (a, b) => fromAlice.decrypt({ type: a, body: b }),
  "OlmSession.decryptAll": (a, b) => fromAlice.decryptAll([a, { type: 1, body: b }]),
  "OlmSession.encrypt": (a) => fromAlice.encrypt(a),
  "OutboundGroupSession.encrypt": (a) => outbound.encrypt(a),
  "OutboundGroupSession.signKey": (a) => outbound.signKey(a),
  "Pk.encrypt": (a, b) => pk.encrypt(a, b),
  "Pk.importDecryption": (a) => pk.importDecryption(a),
  "Pk.importLibolmDecryption": (a, b) => pk.importLibolmDecryption(a, b),
  "PkDecryption.decrypt": (a, b, c) => decryption.decrypt({ ephemeral: a, mac: b, ciphertext: c }),
  "PkDecryption.decrypt, anything": (a) => decryption.decrypt(a),
  "Sas.establish": (a) => vodozemac.createSas().establish(a),
  "Vodozemac.createEcies": (a) => vodozemac.createEcies({ info: a }),
  "Vodozemac.createHpke": (a) => vodozemac.createHpke({ info: a }),
  "Vodozemac.openHpke": (a, b, c) => vodozemac.openHpke(a, b, { info: c, additionalData: b }),
};

const length = fc.constantFrom(0, 1, 8, 12, 31, 32, 33, 63, 64, 65, 100, 165, 229);
const bytes = length.chain((size) => fc.uint8Array({ minLength: size, maxLength: size }));
const anything = fc.oneof(
  { arbitrary: bytes, weight: 4 },
  { arbitrary: bytes.map((each) => each.toBase64({ omitPadding: true })), weight: 4 },
  { arbitrary: fc.string({ unit: "binary" }), weight: 2 },
  {
    arbitrary: fc.constantFrom("A".repeat(44), "\ud800", "x".repeat(3_000_000), new Uint8Array(9_000_000)),
    weight: 1,
  },
  { arbitrary: fc.oneof(fc.integer(), fc.double(), fc.bigInt()), weight: 2 },
  { arbitrary: fc.anything({ withTypedArray: true, withDate: true, withMap: true }), weight: 3 },
);

Deno.test("property: every function returns or throws a VodozemacError, whatever it is given", () => {
  for (const [name, run] of Object.entries(FUNCTIONS)) {
    fc.assert(
      fc.property(anything, anything, anything, (a, b, c) => {
        try {
          run(a, b, c);
        } catch (error) {
          assert(error instanceof VodozemacError, `${name}: ${error}`);
          assert(error.code !== "instance_dead" && error.code !== "bad_handle", `${name}: ${error}`);
        }
      }),
      { numRuns: 150 },
    );
  }
  assert(!vodozemac.dead);
  first([alice.sign("still alive")]);
});

Deno.test("property: one message where a list belongs, or nothing at all, is refused too", () => {
  for (const value of [undefined, null, 7, "text", {}, new Uint8Array(3)] as Anything[]) {
    for (
      const run of [
        () => inbound.decryptAll(value),
        () => fromAlice.decryptAll(value),
        () => fromAlice.decrypt(value),
        () => alice.createInboundSession(key.publicKey, value),
        () => decryption.decrypt(value),
        () => olm.rehydrateAccount(value, new Uint8Array(32)),
      ]
    ) {
      try {
        run();
      } catch (error) {
        assert(error instanceof VodozemacError, String(error));
      }
    }
  }
});
