import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { type EstablishedSas, Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";

const vodozemac = await Vodozemac.load();

function established(): [EstablishedSas, EstablishedSas] {
  const [alice, bob] = [vodozemac.createSas(), vodozemac.createSas()];
  const [aliceKey, bobKey] = [alice.publicKey, bob.publicKey];
  return [alice.establish(bobKey), bob.establish(aliceKey)];
}

Deno.test("EstablishedSas gives both sides the same string, bound to the info", () => {
  const [alice, bob] = established();
  assertEquals(alice.string("info"), bob.string("info"));
  assertNotEquals(alice.string("info"), alice.string("other"));
  const { emojiIndices, decimals } = alice.string("info");
  const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0] = alice.bytes("info", 6);
  // As in the Matrix specification: 13 bits each for the decimals, 6 for the emoji.
  const bits = [one, two, three, four, five, six].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  assertEquals(decimals, [0, 13, 26].map((start) => parseInt(bits.slice(start, start + 13), 2) + 1000));
  assertEquals(
    emojiIndices,
    [0, 6, 12, 18, 24, 30, 36].map((start) => parseInt(bits.slice(start, start + 6), 2)),
  );
});

Deno.test("EstablishedSas.bytes() yields up to 8160 bytes and refuses more", () => {
  const [alice, bob] = established();
  assertEquals(alice.bytes("info", 8160), bob.bytes("info", 8160));
  assertEquals(alice.bytes("info", 0).length, 0);
  assertCode("out_of_range", () => alice.bytes("info", 8161));
});

Deno.test("EstablishedSas.verifyMac() takes only the MAC of this text and info", () => {
  const [alice, bob] = established();
  const mac = alice.mac("text", "info");
  assertEquals(Uint8Array.fromBase64(mac + "=").length, 32);
  assert(bob.verifyMac("text", "info", mac));
  assert(bob.verifyMac("text", "info", mac + "="));
  for (
    const [text, info, tag] of [["text", "other", mac], ["other", "info", mac], [
      "text",
      "info",
      "A".repeat(43),
    ]] as const
  ) {
    assert(!bob.verifyMac(text, info, tag));
  }
  for (const tag of ["", "A", mac.slice(0, 11), mac + mac, "?".repeat(43)]) {
    assert(!bob.verifyMac("text", "info", tag));
  }
});

Deno.test("EstablishedSas.verifyMac() gives no verdict where it could not look", () => {
  const [alice, bob] = established();
  const mac = alice.mac("text", "info");
  assertCode("bad_type", () => bob.verifyMac("text", "info", 5 as never));
  for (const odd of [5, Uint8Array.of(1)] as never[]) {
    assertCode("bad_type", () => bob.verifyMac(odd, "info", mac));
    assertCode("bad_type", () => bob.mac(odd, "info"));
  }
  assertCode("malformed", () => bob.verifyMac("text", "\ud800", mac));
  assertCode("malformed", () => bob.verifyMac("\ud800", "info", mac));
  bob[Symbol.dispose]();
  assertCode("disposed", () => bob.verifyMac("text", "info", mac));
});

Deno.test("EstablishedSas.verifyMacInvalidBase64() verifies the old encoding", () => {
  const [alice, bob] = established();
  const mac = alice.macInvalidBase64("text", "info");
  assert(bob.verifyMacInvalidBase64("text", "info", mac));
  assert(!bob.verifyMacInvalidBase64("text", "info", alice.mac("text", "info")));
  assert(!bob.verifyMacInvalidBase64("text", "other", mac));
  assert(!bob.verifyMacInvalidBase64("text", "info", mac + "A"));
});

Deno.test("Sas.establish() uses the key up, refuses a key that adds nothing, and survives one of the wrong form", () => {
  const sas = vodozemac.createSas();
  assertCode("bad_length", () => sas.establish("AAAA"));
  assert(!sas.disposed);
  assertCode("non_contributory_key", () => sas.establish(new Uint8Array(32)));
  assert(sas.disposed);
  assertCode("disposed", () => sas.establish(sas.publicKey));
});
