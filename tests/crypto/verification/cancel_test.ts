import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { JsonObject } from "@greenroom/matrix/types";
import type { VerificationStep } from "../../../src/crypto/verification/protocol.ts";
import { SasExchange } from "../../../src/crypto/verification/sas_exchange.ts";
import { Duel, type Side } from "./duel.ts";

/** A verification in which one message is another. */
function changed(
  step: VerificationStep,
  change: (content: JsonObject, from: Side) => JsonObject | undefined,
): Duel {
  const duel = new Duel({ isReady: false });
  let isDone = false;
  duel.wire = (from, now, content) => {
    if (now !== step || isDone) return content;
    isDone = true;
    return change(content, from);
  };
  duel.bob.flow.accept(["sas"]);
  duel.run();
  if (duel.alice.phase === "ready") duel.startSas().run().confirm();
  return duel;
}

/** The code with which both sides end: the one who noticed says so to the other. */
function assertEnds(duel: Duel, code: string, noticedBy: "alice" | "bob"): void {
  const [alice, bob] = noticedBy === "alice" ? ["us", "them"] : ["them", "us"];
  assertEquals(duel.cancelled, [[code, alice], [code, bob]]);
  const cancels = [...duel.alice.sent, ...duel.bob.sent].filter((each) => each === "cancel");
  assertEquals(cancels.length, 1); // never a cancel for a cancel
}

Deno.test("m.user: each side can call it off at any time, and decline", () => {
  for (const isReady of [false, true]) {
    for (const who of ["alice", "bob"] as const) {
      const duel = new Duel({ isReady });
      duel[who].flow.cancel("m.user", "no");
      assertEnds(duel.run(), "m.user", who);
    }
  }
  const comparing = new Duel().startSas().run();
  comparing.bob.flow.cancel("m.user", "no");
  assertEnds(comparing.run(), "m.user", "bob");
});

Deno.test("m.timeout: what has taken too long is called off", () => {
  const duel = new Duel().startSas().run();
  duel.alice.flow.cancel("m.timeout", "too long");
  assertEnds(duel.run(), "m.timeout", "alice");
});

Deno.test("m.mismatched_sas: the user sees different strings", () => {
  const duel = new Duel().startSas().run();
  duel.bob.flow.mismatch();
  assertEnds(duel.run(), "m.mismatched_sas", "bob");
});

Deno.test("m.mismatched_commitment: the key is not the one that was committed to", () => {
  assertEnds(
    changed("accept", (content) => ({ ...content, commitment: "A".repeat(43) })),
    "m.mismatched_commitment",
    "alice",
  );
});

Deno.test("m.unknown_method: another method, or nothing in common", () => {
  assertEnds(
    changed("ready", (content) => ({ ...content, methods: ["org.example.dance"] })),
    "m.unknown_method",
    "alice",
  );
  assertEnds(
    changed("start", (content) => ({ ...content, method: "org.example.dance" })),
    "m.unknown_method",
    "bob",
  );
  for (
    const other of [
      { key_agreement_protocols: ["curve25519"] },
      { hashes: ["md5"] },
      { message_authentication_codes: ["hmac-sha256"] },
      { short_authentication_string: ["dance"] },
    ]
  ) assertEnds(changed("start", (content) => ({ ...content, ...other })), "m.unknown_method", "bob");
  for (
    const other of [
      { key_agreement_protocol: "curve25519" },
      { hash: "md5" },
      { message_authentication_code: "hmac-sha256" },
      { short_authentication_string: ["dance"] },
    ]
  ) assertEnds(changed("accept", (content) => ({ ...content, ...other })), "m.unknown_method", "alice");
});

Deno.test("m.invalid_message: what is malformed", () => {
  assertEnds(changed("ready", ({ methods: _, ...content }) => content), "m.invalid_message", "alice");
  assertEnds(changed("start", ({ hashes: _, ...content }) => content), "m.invalid_message", "bob");
  assertEnds(changed("start", (content) => ({ ...content, method: 7 })), "m.invalid_message", "bob");
  assertEnds(changed("start", (content) => ({ ...content, extra: 0.5 })), "m.invalid_message", "bob");
  assertEnds(changed("accept", ({ commitment: _, ...content }) => content), "m.invalid_message", "alice");
  assertEnds(changed("key", (content) => ({ ...content, key: "short" })), "m.invalid_message", "bob");
  assertEnds(changed("mac", (content) => ({ ...content, mac: [] })), "m.invalid_message", "bob");
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`ed25519:${index}`, "x"]));
  assertEnds(changed("mac", (content) => ({ ...content, mac: many })), "m.invalid_message", "bob");
  assertEnds(
    changed("mac", (content) => ({ ...content, mac: { "\ud800": "x" } })),
    "m.invalid_message",
    "bob",
  );
});

Deno.test("m.unexpected_message: what does not come at its time", () => {
  const steps: readonly [VerificationStep, JsonObject][] = [
    ["accept", {
      key_agreement_protocol: "curve25519-hkdf-sha256",
      hash: "sha256",
      message_authentication_code: "hkdf-hmac-sha256.v2",
      short_authentication_string: ["decimal"],
      commitment: "x",
    }],
    ["key", { key: "A".repeat(43) }],
    ["mac", { mac: {}, keys: "x" }],
    ["done", {}],
  ];
  for (const [step, content] of steps) {
    const duel = new Duel();
    duel.alice.flow.receive({ step, content });
    assertEnds(duel.run(), "m.unexpected_message", "alice");
  }
  const twice = new Duel().startSas().run();
  twice.bob.flow.receive({ step: "key", content: { key: "A".repeat(43) } });
  assertEnds(twice.run(), "m.unexpected_message", "bob");
  const ready = new Duel({ isReady: false });
  ready.bob.flow.receive({ step: "ready", content: { from_device: "ALICE", methods: ["m.sas.v1"] } });
  assertEnds(ready.run(), "m.unexpected_message", "bob");
});

Deno.test("m.unexpected_message: a start before the request was accepted, and a second one", () => {
  const start = () => {
    const duel = new Duel();
    duel.startSas();
    const [sent] = duel.alice.flow.takeOutgoing();
    return sent?.content ?? {};
  };
  const early = new Duel({ isReady: false });
  early.bob.flow.receive({ step: "start", content: start() });
  assertEnds(early.run(), "m.unexpected_message", "bob");
  const late = new Duel().startSas().run();
  late.bob.flow.receive({ step: "start", content: start() });
  assertEnds(late.run(), "m.unexpected_message", "bob");
});

Deno.test("m.accepted: another device was faster", () => {
  const duel = new Duel({ isReady: false });
  duel.bob.flow.receive({ step: "cancel", content: { code: "m.accepted", reason: "" } });
  assertEquals(duel.bob.cancelled, ["m.accepted", "other-device"]);
});

Deno.test("A cancel is never answered, whatever is in it, and its words are cut off", () => {
  for (const content of [{}, { code: 7, reason: {} }, { code: "x".repeat(101), reason: "y".repeat(500) }]) {
    const duel = new Duel();
    duel.bob.flow.receive({ step: "cancel", content: content as JsonObject });
    duel.run();
    assertEquals([duel.bob.cancelled, duel.bob.sent], [["m.user", "them"], ["ready"]]);
    assert((duel.bob.state.cancellation?.reason.length ?? 0) <= 200);
  }
});

Deno.test("After its end nothing changes a verification any more", () => {
  const duel = new Duel().startSas().run();
  duel.bob.flow.mismatch();
  duel.run();
  const before = duel.alice.state;
  duel.alice.flow.receive({ step: "mac", content: { mac: {}, keys: "" } });
  duel.alice.flow.cancel("m.user", "again");
  assertEquals(duel.alice.state, before);
  assertEquals(duel.alice.flow.takeOutgoing(), []);
});

Deno.test("m.unexpected_message: a MAC a second time, or before anything is compared", () => {
  const twice = new Duel().startSas().run();
  twice.alice.flow.confirm();
  const [mac] = twice.alice.flow.takeOutgoing();
  twice.bob.flow.receive({ step: "mac", content: mac?.content ?? {} });
  assertEquals(twice.bob.phase, "comparing");
  twice.bob.flow.receive({ step: "mac", content: mac?.content ?? {} });
  assertEquals(twice.bob.cancelled, ["m.unexpected_message", "us"]);
  const early = new Duel().startSas();
  early.alice.flow.receive({ step: "mac", content: mac?.content ?? {} });
  assertEquals(early.alice.cancelled, ["m.unexpected_message", "us"]);
});

Deno.test("m.unexpected_message: an acceptance of a start that was not made", () => {
  const duel = new Duel();
  let accept: JsonObject = {};
  duel.wire = (_from, step, content) => {
    if (step === "accept") accept = content;
    return content;
  };
  duel.startSas().run();
  duel.bob.flow.receive({ step: "accept", content: accept });
  assertEquals(duel.bob.cancelled, ["m.unexpected_message", "us"]);
});

Deno.test("m.unknown_method: who accepts has nothing in common with who asks", () => {
  const duel = new Duel({ isReady: false });
  duel.bob.flow.accept(["scan-qr"]);
  assertEquals(duel.bob.cancelled, ["m.unknown_method", "us"]);
  duel.run();
  assertEquals(duel.alice.cancelled, ["m.unknown_method", "them"]);
  assertEquals(duel.bob.sent, ["cancel"]);
});

Deno.test("m.unknown_method: a start to compare although nobody has said so", () => {
  const duel = new Duel({ ways: ["show-qr", "scan-qr"] });
  const other = new Duel();
  other.startSas();
  duel.bob.flow.receive({ step: "start", content: other.alice.flow.takeOutgoing()[0]?.content ?? {} });
  assertEquals(duel.bob.cancelled, ["m.unknown_method", "us"]);
});

Deno.test("A start that waits for its answer is not overtaken by an own one", () => {
  const duel = new Duel();
  duel.startSas();
  duel.deliver(duel.alice);
  assertEquals(duel.bob.state.needs, "start");
  duel.startSas(duel.bob);
  duel.run();
  duel.startSas(duel.bob);
  assertEquals([duel.alice.phase, duel.bob.phase], ["comparing", "comparing"]);
  assert(!duel.bob.sent.includes("start"));
});

Deno.test("A code is neither shown nor scanned out of its time", () => {
  const duel = new Duel({ ways: ["sas", "show-qr", "scan-qr"] });
  const { alice, bob } = duel;
  const code = bob.flow.showQr(bob.keys(alice));
  duel.startSas().run();
  assertThrows(() => alice.flow.showQr(alice.keys(bob)), ValueError, "Cannot show a QR code");
  assertThrows(() => alice.flow.scanQr(code, alice.keys(bob)), ValueError, "Cannot scan a QR code");
  const shows = new Duel({ ways: ["show-qr", "scan-qr"], isReady: false });
  shows.bob.flow.accept(["scan-qr"]);
  shows.run();
  assertThrows(() => shows.alice.flow.scanQr(code, alice.keys(bob)), ValueError, "have not both said");
});

Deno.test("The private keys of a comparison are freed at its end, however it ends", () => {
  const dispose = SasExchange.prototype[Symbol.dispose];
  let freed = 0;
  SasExchange.prototype[Symbol.dispose] = function () {
    freed++;
    return dispose.call(this);
  };
  try {
    const duel = new Duel();
    duel.startSas().run();
    assertEquals(freed, 0);
    duel.alice.flow.mismatch();
    duel.run();
    assertEquals(freed, 2);
    const { alice } = new Duel().startSas().run().confirm();
    alice.flow.complete({ device: true, identity: true });
    assertEquals(freed, 3);
  } finally {
    SasExchange.prototype[Symbol.dispose] = dispose;
  }
});
