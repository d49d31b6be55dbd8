import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { type InboundGroupSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";
import { text } from "./support/pair.ts";

const { megolm } = await Vodozemac.load();

/** From libolm's own tests (test_group_session.cpp): a session key, and "Message" at index 0. */
const LIBOLM_KEY = "AgAAAAAwMTIzNDU2Nzg5QUJERUYwMTIzNDU2Nzg5QUJDREVGMDEyMzQ1Njc4OUFCREVGM" +
  "DEyMzQ1Njc4OUFCQ0RFRjAxMjM0NTY3ODlBQkRFRjAxMjM0NTY3ODlBQkNERUYwMTIzND" +
  "U2Nzg5QUJERUYwMTIzNDU2Nzg5QUJDREVGMDEyMw0bdg1BDq4Px/slBow06q8n/B9WBfw" +
  "WYyNOB8DlUmXGGwrFmaSb9bR/eY8xgERrxmP07hFmD9uqA2p8PMHdnV5ysmgufE6oLZ5+" +
  "8/mWQOW3VVTnDIlnwd8oHUYRuk8TCQ";
const LIBOLM_MESSAGE = "AwgAEhAcbh6UpbByoyZxufQ+h2B+8XHMjhR69G8F4+qjMaFlnIXusJZX3r8LnRORG9T3D" +
  "XFdbVuvIWrLyRfm4i8QRbe8VPwGRFG57B1CtmxanuP8bHtnnYqlwPsD";

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.fromBase64(base64 + "=".repeat((4 - base64.length % 4) % 4));
}

function exported(session: InboundGroupSession, index?: number): string {
  const key = session.exportAt(index);
  assert(key !== undefined);
  return key;
}

Deno.test("InboundGroupSession decrypts libolm's own vector, before and after an export", () => {
  using session = megolm.createInbound(LIBOLM_KEY);
  assertEquals(text(session.decrypt(LIBOLM_MESSAGE).plaintext), "Message");
  using imported = megolm.importInbound(exported(session, 0));
  assertEquals(text(imported.decrypt(LIBOLM_MESSAGE).plaintext), "Message");
  assertEquals(megolm.messageIndex(LIBOLM_MESSAGE), 0);
});

Deno.test("InboundGroupSession.decrypt() takes any known index in any order, as often as asked", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  assertEquals(inbound.sessionId, outbound.sessionId);
  const messages = Array.from({ length: 20 }, (_, index) => outbound.encrypt(`${index}`));
  assertEquals(outbound.messageIndex, 20);
  for (const index of [19, 0, 7, 7, 3, 19, 12]) {
    const { plaintext, messageIndex } = inbound.decrypt(messages[index] ?? "");
    assertEquals([text(plaintext), messageIndex], [`${index}`, index]);
  }
});

Deno.test("InboundGroupSession.decrypt() names both indices when the message is too early", () => {
  using outbound = megolm.createOutbound();
  const early = outbound.encrypt("early");
  outbound.encrypt("next");
  using inbound = megolm.createInbound(outbound.sessionKey());
  const error = assertCode("unknown_index", () => inbound.decrypt(early));
  assertEquals([error.firstKnownIndex, error.messageIndex], [2, 0]);
  const [outcome] = inbound.decryptAll([early]);
  assert(outcome?.ok === false);
  assertEquals([outcome.error.code, outcome.error.firstKnownIndex, outcome.error.messageIndex], [
    "unknown_index",
    2,
    0,
  ]);
});

Deno.test("InboundGroupSession.decrypt() refuses a message with a bit changed, or finds that it means the same", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const message = bytesOf(outbound.encrypt("good"));
  const same: number[] = [];
  for (let bit = 0; bit < message.length * 8; bit++) {
    const bad = message.slice();
    bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const [outcome] = inbound.decryptAll([bad]);
    if (!outcome?.ok) continue;
    assertEquals([text(outcome.value.plaintext), outcome.value.messageIndex], ["good", 0]);
    same.push(bit >> 3);
  }
  // The tag of the index: an unknown field instead of it, and the index is 0 by default. vodozemac
  // verifies the message as it would have written it itself, so this is no other message.
  assertEquals([...new Set(same)], [1]);
});

Deno.test("InboundGroupSession.decrypt() and decryptAll() refuse a message whose signature alone was changed", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const forged = bytesOf(outbound.encrypt("good"));
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  assertCode("bad_signature", () => inbound.decrypt(forged));
  const [outcome] = inbound.decryptAll([forged]);
  assertEquals(outcome?.ok === false && outcome.error.code, "bad_signature");
});

Deno.test("InboundGroupSession.decryptAll() says of each what became of it", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const [one, two] = [outbound.encrypt("one"), outbound.encrypt("two")];
  const forged = bytesOf(two);
  forged[forged.length - 70] = (forged.at(-70) ?? 0) ^ 1;
  const outcomes = inbound.decryptAll([two, "AAA?", one, forged, new Uint8Array(), bytesOf(one)]);
  assertEquals(
    outcomes.map((outcome) =>
      outcome.ok ? [text(outcome.value.plaintext), outcome.value.messageIndex] : outcome.error.code
    ),
    [["two", 1], "bad_base64", ["one", 0], "bad_signature", "malformed", ["one", 0]],
  );
});

Deno.test("Megolm.createInbound() checks the signature, the version and the length", () => {
  using outbound = megolm.createOutbound();
  const key = bytesOf(outbound.sessionKey());
  assertEquals(key.length, 229);
  for (
    const [offset, code] of [[0, "unsupported_version"], [10, "bad_signature"], [
      228,
      "bad_signature",
    ]] as const
  ) {
    const bad = key.slice();
    bad[offset] = (bad[offset] ?? 0) ^ 1;
    assertCode(code, () => megolm.createInbound(bad));
  }
  assertCode("bad_length", () => megolm.createInbound(Uint8Array.of(...key, 0)));
  assertCode("bad_length", () => megolm.createInbound(key.subarray(1)));
});

Deno.test("Megolm.importInbound() refuses trailing bytes, another version and a key off the curve", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const key = bytesOf(exported(inbound));
  assertEquals(key.length, 165);
  assertCode("bad_length", () => megolm.importInbound(Uint8Array.of(...key, 0)));
  assertCode("unsupported_version", () => megolm.importInbound(key.with(0, 2)));
  key.fill(0xff, 133);
  assertCode("bad_key", () => megolm.importInbound(key.fill(2, 133)));
});

Deno.test("InboundGroupSession.exportAt() exports at every index from the first known one", () => {
  using outbound = megolm.createOutbound();
  outbound.encrypt("skipped");
  using inbound = megolm.createInbound(outbound.sessionKey());
  const messages = Array.from({ length: 10 }, (_, index) => outbound.encrypt(`${index}`));
  assertEquals(inbound.firstKnownIndex, 1);
  assertEquals(inbound.exportAt(0), undefined);
  for (let index = 0; index < messages.length; index++) {
    using imported = megolm.importInbound(exported(inbound, index + 1));
    assertEquals([imported.sessionId, imported.firstKnownIndex], [inbound.sessionId, index + 1]);
    messages.forEach((message, at) => {
      if (at < index) assertCode("unknown_index", () => imported.decrypt(message));
      else assertEquals(text(imported.decrypt(message).plaintext), `${at}`);
    });
  }
});

Deno.test("InboundGroupSession.advanceTo() forgets what came before", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const messages = ["0", "1", "2"].map((plaintext) => outbound.encrypt(plaintext));
  inbound.decrypt(messages[2] ?? "");
  assert(inbound.advanceTo(1));
  assert(!inbound.advanceTo(1));
  assert(!inbound.advanceTo(0));
  assertCode("unknown_index", () => inbound.decrypt(messages[0] ?? ""));
  assertEquals(text(inbound.decrypt(messages[1] ?? "").plaintext), "1");
  assertCode("unknown_index", () => megolm.restoreInbound(inbound.state()).decrypt(messages[0] ?? ""));
});

Deno.test("InboundGroupSession reaches the last index of all, and no further", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  assert(inbound.advanceTo(0xffff_ffff));
  assertEquals(inbound.firstKnownIndex, 0xffff_ffff);
  assertEquals(exported(inbound).length, 220);
  assertCode("out_of_range", () => inbound.advanceTo(2 ** 32));
  assertCode("out_of_range", () => inbound.exportAt(-1));
});

Deno.test("InboundGroupSession.compare() and merge() take the earlier of two that are connected", () => {
  using outbound = megolm.createOutbound();
  using early = megolm.createInbound(outbound.sessionKey());
  const message = outbound.encrypt("at 0");
  using late = megolm.createInbound(outbound.sessionKey());
  using other = megolm.createInbound(megolm.createOutbound().sessionKey());

  assertEquals(early.compare(late), "better");
  assertEquals(late.compare(early), "worse");
  assertEquals(early.compare(early), "equal");
  assertEquals(early.compare(other), "unconnected");
  assert(early.connected(late) && !late.connected(other));
  assertEquals(late.merge(other), undefined);
  for (const merged of [late.merge(early), early.merge(late), early.merge(early)]) {
    using session = merged;
    assertEquals(session?.firstKnownIndex, 0);
    assertEquals(text(session?.decrypt(message).plaintext ?? new Uint8Array()), "at 0");
  }
});

Deno.test("InboundGroupSession.compare() sees that the same name does not make the same ratchet", () => {
  using outbound = megolm.createOutbound();
  using good = megolm.createInbound(outbound.sessionKey());
  const forged = bytesOf(exported(good));
  forged[20] = (forged[20] ?? 0) ^ 1;
  using bad = megolm.importInbound(forged);
  assertEquals(bad.sessionId, good.sessionId);
  assertEquals([good.compare(bad), bad.compare(good)], ["unconnected", "unconnected"]);
});

Deno.test("OutboundGroupSession.state() goes on at the same index with the same keys", () => {
  using outbound = megolm.createOutbound();
  outbound.encrypt("0");
  using restored = megolm.restoreOutbound(outbound.state());
  using copy = outbound.clone();
  const message = outbound.encrypt("1");
  assertEquals(restored.encrypt("1"), message);
  assertEquals(copy.encrypt("1"), message);
  assertNotEquals(outbound.encrypt("1"), message);
  assertEquals(restored.sessionId, outbound.sessionId);
});

Deno.test("OutboundGroupSession.signKey() gives the key of each earlier index, as it was then", () => {
  using outbound = megolm.createOutbound();
  using copy = megolm.createInbound(outbound.sessionKey());
  const keys = Array.from({ length: 4 }, (_, index) => {
    const key = outbound.sessionKey();
    outbound.encrypt(`${index}`);
    return key;
  });
  const state = outbound.state();
  assertEquals(keys.map((_, index) => outbound.signKey(exported(copy, index))), keys);
  assertEquals(outbound.signKey(bytesOf(exported(copy, 1))), keys[1]);
  assertEquals(outbound.state(), state);
});

Deno.test("OutboundGroupSession.signKey() signs no key of another session, and nothing else", () => {
  using outbound = megolm.createOutbound();
  using copy = megolm.createInbound(outbound.sessionKey());
  using other = megolm.createInbound(megolm.createOutbound().sessionKey());
  assertCode("bad_key", () => outbound.signKey(exported(other)));
  const key = bytesOf(exported(copy));
  assertCode("unsupported_version", () => outbound.signKey(key.with(0, 2)));
  assertCode("bad_length", () => outbound.signKey(key.subarray(1)));
  assertCode("bad_length", () => outbound.signKey(outbound.sessionKey()));
});

Deno.test("OutboundGroupSession.encrypt() refuses to use the index after the last one", () => {
  using outbound = megolm.createOutbound();
  const state = outbound.state();
  // The index is the number 0 behind the name of its field.
  const name = new TextEncoder().encode("counter");
  const at = state.findIndex((_, index) => name.every((byte, offset) => state[index + offset] === byte)) +
    name.length;
  assertEquals(state[at], 0);
  using last = megolm.restoreOutbound(
    Uint8Array.of(...state.subarray(0, at), 0xce, 0xff, 0xff, 0xff, 0xff, ...state.subarray(at + 1)),
  );
  assertEquals(last.messageIndex, 0xffff_ffff);
  assertCode("exhausted", () => last.encrypt("too much"));
});

Deno.test("InboundGroupSession.decrypt() follows the ratchet over its boundaries at 2^8, 2^16 and 2^24", () => {
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  const state = outbound.state();
  for (const index of [0xff, 0x100, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, 0x104_1506]) {
    // The message at a far index comes from a session that was moved there: export, and sign with
    // the old key.
    using moved = megolm.importInbound(exported(inbound, index));
    assertEquals(moved.compare(inbound), index === 0 ? "equal" : "worse");
    assertEquals(exported(inbound, index), exported(moved, index));
  }
  assertEquals(outbound.state(), state);
});
