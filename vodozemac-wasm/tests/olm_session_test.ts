import { assert, assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { decodeBase64 } from "../src/binary.ts";
import { assertCode } from "./support/assert_code.ts";
import { first, pair, text } from "./support/pair.ts";

const vodozemac = await Vodozemac.load();
const { olm } = vodozemac;

Deno.test("OlmSession sends pre-key messages until it has received one", () => {
  using alice = olm.createAccount();
  using bob = olm.createAccount();
  using session = alice.createOutboundSession(bob.curve25519Key, first(bob.generateOneTimeKeys(1).created));
  const opening = session.encrypt("one");
  assertEquals([opening.type, session.encrypt("two").type, session.hasReceivedMessage], [0, 0, false]);
  using other = bob.createInboundSession(alice.curve25519Key, opening).session;
  const reply = other.encrypt("reply");
  assertEquals([reply.type, other.hasReceivedMessage], [1, true]);
  session.decrypt(reply);
  assertEquals([session.encrypt("three").type, session.hasReceivedMessage], [1, true]);
});

Deno.test("OlmSession.decrypt() takes messages out of order, and each only once", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const messages = Array.from({ length: 5 }, (_, index) => fromAlice.encrypt(`${index}`));
  for (const index of [4, 0, 2, 1, 3]) {
    const message = messages[index];
    assert(message);
    assertEquals(text(fromBob.decrypt(message)), `${index}`);
    assertCode("missing_message_key", () => fromBob.decrypt(message));
  }
});

Deno.test("OlmSession.decrypt() takes messages of the types 0 and 1 and of no other", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const message = fromAlice.encrypt("hello");
  for (const type of [2, 3, -1, 0.5, 256, 257, NaN]) {
    assertCode("malformed", () => fromBob.decrypt({ ...message, type: type as 0 }));
  }
  assertEquals(text(fromBob.decrypt(message)), "hello");
});

Deno.test("OlmSession.decrypt() keeps 40 skipped keys and bridges a gap of 2000 messages, not of 2001", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const messages = Array.from({ length: 2003 }, () => fromAlice.encrypt("x"));
  const at = (index: number) => messages[index] ?? { type: 1, body: "" };
  assertCode("too_long_gap", () => fromBob.decrypt(at(2001)));
  fromBob.decrypt(at(2000));
  fromBob.decrypt(at(1960));
  assertCode("missing_message_key", () => fromBob.decrypt(at(1959)));
});

Deno.test("OlmSession.decrypt() leaves the session as it was when it fails", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const bytes = decodeBase64(fromAlice.encrypt("good").body, "test");
  const before = fromBob.state();
  let failures = 0;
  for (let index = 0; index < bytes.length; index++) {
    using trial = fromBob.clone();
    const [outcome] = trial.decryptAll([{ type: 1, body: bytes.with(index, (bytes[index] ?? 0) ^ 0x40) }]);
    if (outcome?.ok) {
      // A tag that became one of an unknown field: vodozemac authenticates what it would have
      // written itself.
      assertEquals(text(outcome.value), "good");
    } else {
      failures += 1;
      assertEquals(trial.state(), before);
    }
  }
  assert(failures > bytes.length - 4, `${failures} of ${bytes.length}`);
  assertEquals(text(fromBob.decrypt({ type: 1, body: bytes })), "good");
});

Deno.test("OlmSession.decryptAll() decrypts what it can and says of each what became of it", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const [one, two] = [fromAlice.encrypt("one"), fromAlice.encrypt("two")];
  const outcomes = fromBob.decryptAll([one, { type: 1, body: "?" }, one, { type: 7, body: "AAAA" }, two]);
  assertEquals(
    outcomes.map((outcome) => outcome.ok ? text(outcome.value) : outcome.error.code),
    ["one", "bad_base64", "missing_message_key", "malformed", "two"],
  );
  assertEquals(fromBob.decryptAll([]), []);
});

Deno.test("OlmSession.state() goes on where the session was", () => {
  const { fromAlice, fromBob } = pair(vodozemac);
  const [skipped, later] = [fromAlice.encrypt("skipped"), fromAlice.encrypt("later")];
  fromBob.decrypt(later);
  using restored = olm.restoreSession(fromBob.state());
  using copy = fromBob.clone();
  for (const session of [restored, copy]) {
    assertEquals(session.sessionId, fromBob.sessionId);
    assertEquals(session.keys, fromBob.keys);
    assertEquals(text(session.decrypt(skipped)), "skipped");
    assertCode("missing_message_key", () => session.decrypt(later));
  }
  assertEquals(text(fromAlice.decrypt(restored.encrypt("back"))), "back");
});

Deno.test("OlmSession.decrypt() refuses the second configuration and unknown versions", () => {
  const { fromBob } = pair(vodozemac);
  const body = new Uint8Array(64).fill(1);
  for (const version of [0, 1, 2, 4, 5, 255]) {
    body[0] = version;
    assertCode(version === 4 ? "malformed" : "unsupported_version", () => fromBob.decrypt({ type: 1, body }));
  }
  assertCode("malformed", () => fromBob.decrypt({ type: 1, body: "" }));
  assertCode("unsupported_version", () => fromBob.decrypt({ type: 0, body }));
});
