import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { emojiOf } from "../../../src/encryption/verification/verification_crypto.ts";
import { Duel } from "./duel.ts";

Deno.test("Both sides show the same string, and vouch for device and identity", () => {
  for (const roomId of [undefined, "!room:example.org"] as const) {
    const duel = new Duel({ roomId }).startSas().run();
    assertEquals([duel.alice.phase, duel.bob.phase], ["comparing", "comparing"]);
    assertEquals(duel.alice.state.shortString, duel.bob.state.shortString);
    duel.confirm();
    assertEquals(duel.vouched, [{ device: true, identity: true }, { device: true, identity: true }]);
    assertEquals([duel.alice.state.needs, duel.bob.state.needs], ["completion", "completion"]);
    assertEquals(duel.alice.sent, ["start", "key", "mac"]);
    assertEquals(duel.bob.sent, ["ready", "accept", "key", "mac"]);
  }
});

Deno.test("Either side can start, and each exchange shows another string", () => {
  const strings = ["alice", "bob", "bob"].map((who) => {
    const duel = new Duel();
    duel.startSas(who === "bob" ? duel.bob : duel.alice).run();
    assertEquals(duel.alice.state.shortString, duel.bob.state.shortString);
    return JSON.stringify(duel.alice.state.shortString?.emojiIndices);
  });
  assertEquals(new Set(strings).size, 3);
});

Deno.test("A side that does not know its own master key does not vouch for it", () => {
  const duel = new Duel({ isSelf: true });
  duel.bob.isOwnVerified = false;
  duel.startSas().run().confirm();
  assertEquals(duel.vouched, [{ device: true, identity: false }, { device: true, identity: true }]);
});

Deno.test("A side without an identity is verified by its device alone", () => {
  const duel = new Duel();
  duel.bob.hasMaster = false;
  duel.startSas().run().confirm();
  assertEquals(duel.vouched, [{ device: true, identity: false }, { device: true, identity: true }]);
});

Deno.test("Nothing is verified before both have confirmed", () => {
  const duel = new Duel().startSas().run();
  duel.alice.flow.confirm();
  duel.run();
  assertEquals([duel.alice.state.needs, duel.bob.state.needs], [undefined, undefined]);
  duel.bob.flow.confirm();
  duel.run();
  assertEquals([duel.alice.state.needs, duel.bob.state.needs], ["completion", "completion"]);
});

Deno.test("A peer that knows only the old MAC is verified with it", () => {
  const duel = new Duel();
  duel.wire = (_from, step, content) => {
    if (step === "start") return { ...content, message_authentication_codes: ["hkdf-hmac-sha256"] };
    return content;
  };
  // The other side sees the changed offer, so that the commitment is to another start.
  duel.startSas().run();
  assertEquals(duel.cancelled, [["m.mismatched_commitment", "us"], ["m.mismatched_commitment", "them"]]);

  const old = new Duel();
  old.wire = (_from, step, content) =>
    step === "accept" ? { ...content, message_authentication_code: "hkdf-hmac-sha256" } : content;
  old.startSas().run().confirm(); // Alice takes the old one, Bob the new one
  assertEquals(old.alice.cancelled?.[0], "m.key_mismatch");
});

Deno.test("If both start, the start of the smaller user counts, or of the smaller device", () => {
  for (const isSelf of [false, true]) {
    const duel = new Duel({ isSelf });
    duel.startSas(duel.alice);
    duel.startSas(duel.bob);
    duel.run();
    assertEquals([duel.alice.phase, duel.bob.phase], ["comparing", "comparing"]);
    assertEquals(duel.alice.state.shortString, duel.bob.state.shortString);
    assert(!duel.alice.sent.includes("accept"));
    assert(duel.bob.sent.includes("accept"));
  }
});

Deno.test("Strings are shown as far as both sides can", () => {
  const duel = new Duel();
  duel.wire = (_from, step, content) =>
    step === "accept" ? { ...content, short_authentication_string: ["decimal", "dance"] } : content;
  duel.startSas().run();
  assertEquals(duel.alice.state.shortString?.emojiIndices, undefined);
  assertEquals(duel.alice.state.shortString?.decimals?.length, 3);
});

Deno.test("What is not the time for is refused, and changes nothing", () => {
  const duel = new Duel({ isReady: false });
  assertThrows(() => duel.startSas(), ValueError, "Cannot compare emoji: the verification is requested");
  assertThrows(() => duel.alice.flow.accept(["sas"]), ValueError, "Cannot accept");
  assertThrows(() => duel.bob.flow.confirm(), ValueError, "Cannot confirm");
  assertThrows(() => duel.bob.flow.mismatch(), ValueError, "Cannot report a mismatch");
  assertEquals([duel.alice.phase, duel.bob.phase], ["requested", "requested"]);
  const ready = new Duel();
  assertThrows(() => ready.bob.flow.confirm(), ValueError, "Cannot confirm");
  ready.startSas().run().confirm();
  assertThrows(() => ready.alice.flow.confirm(), ValueError, "Cannot confirm");
});

Deno.test("There are 64 emoji, those of the specification in its order, each with a name", async () => {
  const emoji = emojiOf(Array.from({ length: 64 }, (_, index) => index));
  const symbols = new TextEncoder().encode(emoji.map(({ symbol }) => symbol).join());
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", symbols)).toHex();
  assertEquals(
    hash,
    "5ab0ce728c2e1fb6e58ac993b2b6f29c2ba223178afebe545e64b6355096b124",
    "people would compare others than those of their clients",
  );
  assertEquals(new Set(emoji.map(({ symbol }) => symbol)).size, 64);
  assertEquals([emoji[0], emoji[63]], [{ symbol: "🐶", name: "Dog" }, { symbol: "📌", name: "Pin" }]);
  assert(emoji.every(({ name }) => /^[A-Z]/.test(name)));
});
