import { assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { commitmentTo, SasExchange, sasOffer } from "../../../src/crypto/verification/sas_exchange.ts";
import { checkedContent } from "../../../src/crypto/verification/verification_message.ts";
import type { JsonObject } from "../../../src/types/json.ts";

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
