import { assert, assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertCode } from "./support/assert_code.ts";
import { text } from "./support/pair.ts";

const vodozemac = await Vodozemac.load();

Deno.test("EciesChannel carries messages both ways, in order", () => {
  const theirs = vodozemac.createEcies();
  const opened = vodozemac.createEcies().open(theirs.publicKey, "hello");
  const accepted = theirs.accept(opened.message);
  using here = opened.channel;
  using there = accepted.channel;
  assertEquals(text(accepted.plaintext), "hello");
  assertEquals(here.checkCode, there.checkCode);
  assertEquals(
    here.checkCode.digits,
    (here.checkCode.bytes[0] ?? 0) % 10 * 10 + (here.checkCode.bytes[1] ?? 0) % 10,
  );
  assert(here.checkCode.digitsWithoutLeadingZero >= 10 && here.checkCode.digitsWithoutLeadingZero <= 99);
  assertEquals(text(there.decrypt(here.encrypt("one"))), "one");
  assertEquals(text(here.decrypt(there.encrypt("two"))), "two");
  const [first, second] = [here.encrypt("1"), here.encrypt("2")];
  assertCode("decryption_failed", () => there.decrypt(second));
  assertCode("decryption_failed", () => there.decrypt(first));
});

Deno.test("Ecies.accept() refuses what is malformed without being used up, and what is forged for good", () => {
  const theirs = vodozemac.createEcies();
  const { message } = vodozemac.createEcies().open(theirs.publicKey, "hello");
  assertCode("malformed", () => theirs.accept(message.replace("|", "")));
  assertCode("bad_length", () => theirs.accept(message + "AAAA"));
  assert(!theirs.disposed);
  const forged = (message[0] === "A" ? "B" : "A") + message.slice(1);
  assertCode("decryption_failed", () => theirs.accept(forged));
  assert(theirs.disposed);
  assertCode("decryption_failed", () => {
    const other = vodozemac.createEcies({ info: "another application" });
    other.accept(vodozemac.createEcies().open(other.publicKey, "hello").message);
  });
});

Deno.test("HpkeChannel carries messages both ways, bound to their additional data", () => {
  const recipient = vodozemac.createHpke();
  const opened = vodozemac.openHpke(recipient.publicKey, "hello", { additionalData: "a" });
  const accepted = recipient.accept(opened.message, { additionalData: "a" });
  const answered = accepted.channel.answer("welcome", { additionalData: "b" });
  const completed = opened.channel.complete(answered.message, { additionalData: "b" });
  using here = completed.channel;
  using there = answered.channel;
  assertEquals([text(accepted.plaintext), text(completed.plaintext)], ["hello", "welcome"]);
  assertEquals(here.checkCode, there.checkCode);
  const message = here.seal("one", { additionalData: Uint8Array.of(1) });
  assertCode("decryption_failed", () => there.open(message));
  assertEquals(text(there.open(message, { additionalData: Uint8Array.of(1) })), "one");
  assertCode("decryption_failed", () => there.open(message, { additionalData: Uint8Array.of(1) }));
  assertEquals(text(here.open(there.seal("two"))), "two");
});

Deno.test("HPKE refuses other additional data, another application, short messages and keys that add nothing", () => {
  const open = (options: { additionalData?: string; info?: string }) => {
    const recipient = vodozemac.createHpke();
    recipient.accept(vodozemac.openHpke(recipient.publicKey, "hello", options).message);
  };
  assertCode("decryption_failed", () => open({ additionalData: "other" }));
  assertCode("decryption_failed", () => open({ info: "other" }));
  using recipient = vodozemac.createHpke();
  assertCode("malformed", () => recipient.accept(new Uint8Array(31)));
  assert(!recipient.disposed);
  assertCode("non_contributory_key", () => vodozemac.openHpke(new Uint8Array(32), "hello"));
});
