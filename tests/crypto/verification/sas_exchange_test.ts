import { assertEquals, assertThrows } from "@std/assert";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { commitmentTo, SasExchange, sasOffer } from "../../../src/crypto/verification/sas_exchange.ts";
import { checkedContent, VerificationFault } from "../../../src/crypto/verification/protocol.ts";
import type { JsonObject } from "@greenroom/matrix/types";

const vodozemac = await Vodozemac.load();

const ALICE = { userId: "@alice:example.org", deviceId: "ALICE" } as const;
const BOB = { userId: "@bob:example.org", deviceId: "BOB" } as const;
const BINDING = { flowId: "flow" } as const;

/** An exchange of which the starter makes an offer. */
function exchange(offer: JsonObject = {}): [SasExchange, SasExchange] {
  const start = { from_device: "ALICE", ...sasOffer(), ...offer, transaction_id: "flow" };
  const alice = SasExchange.started(vodozemac, { ...BINDING, own: ALICE, other: BOB }, start);
  const received = { start, offer: checkedContent("start", start) };
  const bob = SasExchange.received(vodozemac, { ...BINDING, own: BOB, other: ALICE }, received);
  alice.accepted(checkedContent("accept", bob.acceptance()));
  bob.receiveKey({ key: alice.publicKey });
  alice.receiveKey({ key: bob.publicKey });
  return [alice, bob];
}

Deno.test("A commitment is the one of another implementation", () => {
  // A vector that other clients test with, too.
  const start = {
    from_device: "XOWLHHFSWM",
    transaction_id: "bYxBsirjUJO9osar6ST4i2M2NjrYLA7l",
    method: "m.sas.v1",
    key_agreement_protocols: ["curve25519-hkdf-sha256", "curve25519"],
    hashes: ["sha256"],
    message_authentication_codes: ["hkdf-hmac-sha256", "hmac-sha256"],
    short_authentication_string: ["decimal", "emoji"],
  };
  assertEquals(
    commitmentTo("Q/NmNFEUS1fS+YeEmiZkjjblKTitrKOAk7cPEumcMlg", start),
    "CCQmB4JCdB0FW21FdAnHj/Hu8+W9+Nb0vgwPEnZZQ4g",
  );
});

for (const mac of ["hkdf-hmac-sha256.v2", "hkdf-hmac-sha256"]) {
  Deno.test(`Keys are verified with ${mac}, by their names and their texts`, () => {
    const [alice, bob] = exchange({ message_authentication_codes: [mac] });
    const keys = new Map([["ed25519:ALICE", "A".repeat(43)], ["ed25519:x", "B".repeat(43)]]);
    const macs = checkedContent("mac", alice.macs(keys));
    assertEquals(bob.verify(macs, keys), new Set(keys.keys()));
    assertEquals(bob.verify(macs, new Map([["ed25519:x", "B".repeat(43)]])), new Set(["ed25519:x"]));
    using _one = alice;
    using _other = bob;
  });
}

for (const isStarter of [true, false]) {
  const who = isStarter ? "who starts" : "who accepts";
  Deno.test(`T46: short strings and MACs of ${who} are bound to both users, devices and keys, and to the verification, as the specification has it`, () => {
    using sas = vodozemac.createSas(); // Bob's, who is played by the letter of the specification
    const bobKey = sas.publicKey;
    const start = { from_device: isStarter ? "ALICE" : "BOB", ...sasOffer(), transaction_id: "flow" };
    const binding = { ...BINDING, own: ALICE, other: BOB };
    using alice = isStarter
      ? SasExchange.started(vodozemac, binding, start)
      : SasExchange.received(vodozemac, binding, { start, offer: checkedContent("start", start) });
    if (isStarter) {
      alice.accepted({
        key_agreement_protocol: "curve25519-hkdf-sha256",
        hash: "sha256",
        message_authentication_code: "hkdf-hmac-sha256.v2",
        short_authentication_string: ["decimal", "emoji"],
        commitment: commitmentTo(bobKey, start),
      });
    }
    const aliceKey = alice.publicKey;
    if (!isStarter) {
      assertEquals(alice.acceptance(), {
        method: "m.sas.v1",
        key_agreement_protocol: "curve25519-hkdf-sha256",
        hash: "sha256",
        message_authentication_code: "hkdf-hmac-sha256.v2",
        short_authentication_string: ["decimal", "emoji"],
        commitment: commitmentTo(aliceKey, start),
      });
    }
    alice.receiveKey({ key: bobKey });
    using bob = sas.establish(aliceKey);

    const [ofAlice, ofBob] = [`@alice:example.org|ALICE|${aliceKey}`, `@bob:example.org|BOB|${bobKey}`];
    const parties = isStarter ? `${ofAlice}|${ofBob}` : `${ofBob}|${ofAlice}`;
    const { emojiIndices, decimals } = bob.string(`MATRIX_KEY_VERIFICATION_SAS|${parties}|flow`);
    assertEquals(alice.shortString, { emojiIndices, decimals });

    const [one, other] = ["A".repeat(43), "B".repeat(43)];
    const base = "MATRIX_KEY_VERIFICATION_MAC";
    const toBob = `${base}@alice:example.orgALICE@bob:example.orgBOBflow`;
    assertEquals(alice.macs(new Map([["ed25519:b", other], ["ed25519:ALICE", one]])), {
      mac: {
        "ed25519:ALICE": bob.mac(one, `${toBob}ed25519:ALICE`),
        "ed25519:b": bob.mac(other, `${toBob}ed25519:b`),
      },
      keys: bob.mac("ed25519:ALICE,ed25519:b", `${toBob}KEY_IDS`),
    });
    const macs = (info: string) => ({
      mac: { "ed25519:BOB": bob.mac(one, `${info}ed25519:BOB`) },
      keys: bob.mac("ed25519:BOB", `${info}KEY_IDS`),
    });
    const expected = new Map([["ed25519:BOB", one]]);
    const toAlice = `${base}@bob:example.orgBOB@alice:example.orgALICEflow`;
    assertEquals(alice.verify(macs(toAlice), expected), new Set(["ed25519:BOB"]));
    for (
      const wrong of [
        toBob, // reflected
        `${base}@eve:example.orgBOB@alice:example.orgALICEflow`,
        `${base}@bob:example.orgEVE@alice:example.orgALICEflow`,
        `${base}@bob:example.orgBOB@eve:example.orgALICEflow`,
        `${base}@bob:example.orgBOB@alice:example.orgEVEflow`,
        `${base}@bob:example.orgBOB@alice:example.orgALICEother`,
      ]
    ) {
      const fault = assertThrows(() => alice.verify(macs(wrong), expected), VerificationFault);
      assertEquals(fault.problem, "m.key_mismatch", wrong);
    }
  });
}

Deno.test("That the cryptographic library has failed is no fault of the other device", () => {
  const establish = () => {
    throw new VodozemacError("instance_dead", "establish");
  };
  const createSas = () => ({ publicKey: "A".repeat(43), establish });
  const failing = { createSas } as unknown as Vodozemac;
  const start = { from_device: "ALICE", ...sasOffer(), transaction_id: "flow" };
  const received = { start, offer: checkedContent("start", start) };
  const bob = SasExchange.received(failing, { ...BINDING, own: BOB, other: ALICE }, received);
  using other = vodozemac.createSas();
  assertThrows(() => bob.receiveKey({ key: other.publicKey }), VodozemacError);
});

Deno.test("What an exchange has made is freed with it", () => {
  const start = { from_device: "ALICE", ...sasOffer(), transaction_id: "flow" };
  const received = { start, offer: checkedContent("start", start) };
  using other = vodozemac.createSas();
  const sas = vodozemac.createSas();
  const early = SasExchange.received(
    { createSas: () => sas } as unknown as Vodozemac,
    { ...BINDING, own: BOB, other: ALICE },
    received,
  );
  early[Symbol.dispose]();
  assertThrows(() => sas.establish(other.publicKey), VodozemacError);

  using mine = vodozemac.createSas();
  const established = mine.establish(other.publicKey);
  const createSas = () => ({
    publicKey: mine.publicKey,
    establish: () => established,
    [Symbol.dispose]() {},
  });
  const late = SasExchange.received(
    { createSas } as unknown as Vodozemac,
    { ...BINDING, own: BOB, other: ALICE },
    received,
  );
  late.receiveKey({ key: other.publicKey });
  established.mac("text", "info");
  late[Symbol.dispose]();
  assertThrows(() => established.mac("text", "info"), VodozemacError);
});

Deno.test("MACs that are good, over keys that nobody expects, verify nothing", () => {
  const [alice, bob] = exchange();
  const macs = checkedContent("mac", alice.macs(new Map([["ed25519:x", "A".repeat(43)]])));
  const expected = new Map([["ed25519:ALICE", "A".repeat(43)]]);
  const fault = assertThrows(() => bob.verify(macs, expected), VerificationFault);
  assertEquals(fault.problem, "m.key_mismatch");
  const none = checkedContent("mac", alice.macs(new Map()));
  assertThrows(() => bob.verify(none, expected), VerificationFault);
});

Deno.test("T46: each step of an exchange is taken once, and at its time", () => {
  const [alice, bob] = exchange();
  const problem = (work: () => void) => assertThrows(work, VerificationFault).problem;
  const accept = checkedContent("accept", bob.acceptance());
  assertEquals(problem(() => alice.accepted(accept)), "m.unexpected_message"); // a second time
  assertEquals(problem(() => bob.accepted(accept)), "m.unexpected_message"); // its own start was not
  assertEquals(problem(() => alice.receiveKey({ key: bob.publicKey })), "m.unexpected_message");
  const start = { from_device: "ALICE", ...sasOffer(), transaction_id: "flow" };
  using early = SasExchange.started(vodozemac, { ...BINDING, own: ALICE, other: BOB }, start);
  assertEquals(problem(() => early.receiveKey({ key: bob.publicKey })), "m.unexpected_message");
  assertEquals(problem(() => early.macs(new Map())), "m.unexpected_message");
});

Deno.test("A code in place of an offer to compare is refused", () => {
  const start = { from_device: "ALICE", method: "m.reciprocate.v1", secret: "x" };
  const received = { start, offer: checkedContent("start", start) };
  const binding = { ...BINDING, own: BOB, other: ALICE };
  const fault = assertThrows(() => SasExchange.received(vodozemac, binding, received), VerificationFault);
  assertEquals(fault.problem, "m.unknown_method");
});
