import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { Vodozemac, VodozemacError } from "../mod.ts";
import { decodeBase64 } from "../src/binary.ts";
import { assertCode } from "./support/assert_code.ts";

const vodozemac = await Vodozemac.load();
const { keys, olm } = vodozemac;

Deno.test("Base64 is read with all of its padding or none, and not with a character too many or too few", () => {
  for (
    const [text, length] of [["", 0], ["AA", 1], ["AA==", 1], ["AAA", 2], ["AAA=", 2], ["AAAA", 3]] as const
  ) {
    assertEquals(decodeBase64(text, "read").length, length);
  }
  const refused = [
    "A",
    "AAAAA",
    "A===",
    "AA=",
    "AAA==",
    "AAAA=",
    "AAAA==",
    "=",
    "==",
    "AA AA",
    " AAA",
    "AAAA\n",
    "AAAA    ",
    "AA AA AA",
    "AB",
  ];
  for (const text of refused) assertCode("bad_base64", () => decodeBase64(text, "read"));
});

Deno.test("a Curve25519 key is 32 bytes, or the Base64 of 32 bytes, padded or not", () => {
  const bytes = new Uint8Array(32).fill(1);
  const text = bytes.toBase64();
  for (const key of [bytes, text, text.slice(0, 43)]) assert(keys.isCurve25519(key));
  const others = [bytes.subarray(1), new Uint8Array(33), `${text}A`, "AAAA", "", 5, null, undefined, [], {}];
  for (const other of others) assertFalse(keys.isCurve25519(other as string));
});

Deno.test("Account.generateFallbackKey() names the key whose private half is gone: the last but one", () => {
  using account = olm.createAccount();
  assertEquals(account.generateFallbackKey(), undefined);
  const first = account.fallbackKey()?.key;
  assertEquals(account.generateFallbackKey(), undefined);
  assertEquals(account.generateFallbackKey(), first);
});

Deno.test("an HPKE message that is shorter than a key is malformed, and uses nothing up", () => {
  const recipient = vodozemac.createHpke();
  assertCode("malformed", () => recipient.accept(new Uint8Array(31)));
  const opened = vodozemac.openHpke(recipient.publicKey, "hello");
  assertCode("malformed", () => opened.channel.complete(new Uint8Array(31)));
  assertFalse(opened.channel.disposed);
  const accepted = recipient.accept(opened.message);
  assertEquals(accepted.plaintext, new TextEncoder().encode("hello"));
});

Deno.test("an HPKE message that is as long as a key is no message, and uses the channel up", () => {
  const recipient = vodozemac.createHpke();
  const { channel } = vodozemac.openHpke(recipient.publicKey, "hello");
  const key = keys.createCurve25519().publicKey;
  assertCode("decryption_failed", () => recipient.accept(key));
  assertCode("decryption_failed", () => channel.complete(key));
  assert(recipient.disposed && channel.disposed);
});

Deno.test("HPKE takes bytes and text alike, but no text that UTF-8 can't hold", () => {
  const recipient = vodozemac.createHpke();
  const { message } = vodozemac.openHpke(recipient.publicKey, Uint8Array.of(1, 2), {
    additionalData: new TextEncoder().encode("\u0003\u00e9"),
  });
  assertEquals(recipient.accept(message, { additionalData: "\u0003\u00e9" }).plaintext, Uint8Array.of(1, 2));
  const { publicKey } = keys.createCurve25519();
  assertCode("malformed", () => vodozemac.openHpke(publicKey, "\ud800"));
  for (const name of ["info", "additionalData"]) {
    assertCode("malformed", () => vodozemac.openHpke(publicKey, "hello", { [name]: "\ud800" }));
  }
});

Deno.test("an error says which index is known only where that is why, and names a cause only where there is one", () => {
  using sender = vodozemac.megolm.createOutbound();
  using receiver = vodozemac.megolm.createInbound(sender.sessionKey());
  const message = Uint8Array.fromBase64(sender.encrypt("hello"));
  message[10] = (message[10] ?? 0) ^ 1;
  const error = assertThrows(() => receiver.decrypt(message), VodozemacError);
  assertEquals([error.firstKnownIndex, error.messageIndex], [undefined, undefined]);
  assertFalse("cause" in error);
});
