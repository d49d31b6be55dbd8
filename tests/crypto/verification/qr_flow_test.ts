import { assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { decodeQrCode } from "../../../src/crypto/verification/qr_reciprocation.ts";
import { Duel, type DuelOptions, type Side } from "./duel.ts";

const WAYS = ["sas", "show-qr", "scan-qr"] as const;

/** A verification in which both can show and scan. */
function duel(options: DuelOptions = {}): Duel {
  return new Duel({ ways: WAYS, ...options });
}

/** One shows, the other scans. */
function scan(shows: Side, scans: Side): Uint8Array {
  const bytes = shows.flow.showQr(shows.keys(scans));
  scans.flow.scanQr(bytes, scans.keys(shows));
  return bytes;
}

/** Both scan each other's code. */
function crossing(): Duel {
  const here = duel();
  const { alice, bob } = here;
  const [one, other] = [alice.flow.showQr(alice.keys(bob)), bob.flow.showQr(bob.keys(alice))];
  alice.flow.scanQr(other, alice.keys(bob));
  bob.flow.scanQr(one, bob.keys(alice));
  here.run();
  return here;
}

const [DEVICE, IDENTITY] = [{ device: true, identity: false }, { device: false, identity: true }];

Deno.test("Two users verify each other's identities, whoever shows the code", () => {
  for (const who of ["alice", "bob"] as const) {
    const here = duel();
    const [shows, scans] = [here[who], here.other(here[who])];
    assertEquals(decodeQrCode(scan(shows, scans)).mode, "other-user");
    here.run();
    assertEquals([shows.phase, scans.phase], ["scanned", "confirmed"]);
    assertEquals([shows.state.needs, scans.state.needs], [undefined, undefined]);
    shows.flow.confirm();
    assertEquals([shows.state.needs, shows.flow.vouched], ["completion", IDENTITY]);
    shows.flow.complete(IDENTITY);
    here.run();
    assertEquals([scans.state.needs, scans.flow.vouched], ["completion", IDENTITY]);
    scans.flow.complete(IDENTITY);
    assertEquals([shows.phase, scans.phase], ["done", "done"]);
  }
});

Deno.test("A device that trusts the own identity verifies a new one, and that one the identity", () => {
  for (const trusts of ["shows", "scans"] as const) {
    const here = duel({ isSelf: true });
    const [shows, scans] = [here.alice, here.bob];
    (trusts === "shows" ? scans : shows).isOwnVerified = false;
    assertEquals(decodeQrCode(scan(shows, scans)).mode, trusts === "shows" ? "trusting" : "untrusting");
    here.run();
    shows.flow.confirm();
    assertEquals(shows.flow.vouched, trusts === "shows" ? DEVICE : IDENTITY);
    shows.flow.complete(DEVICE);
    here.run();
    assertEquals(scans.flow.vouched, trusts === "shows" ? IDENTITY : DEVICE);
  }
});

Deno.test("T49: without a proven identity between them two devices can't verify by code", () => {
  const here = duel({ isSelf: true });
  here.alice.isOwnVerified = here.bob.isOwnVerified = false;
  const bytes = here.alice.flow.showQr(here.alice.keys(here.bob));
  assertThrows(
    () => here.bob.flow.scanQr(bytes, here.bob.keys(here.alice)),
    ValueError,
    "does not know that the own identity",
  );
  const other = duel();
  other.bob.isOwnVerified = false;
  const shown = other.alice.flow.showQr(other.alice.keys(other.bob));
  assertThrows(
    () => other.bob.flow.showQr(other.bob.keys(other.alice)),
    ValueError,
    "Cannot show a QR code: this device",
  );
  assertThrows(
    () => other.bob.flow.scanQr(shown, other.bob.keys(other.alice)),
    ValueError,
    "ensureVerified()",
  );
  for (const side of ["alice", "bob"] as const) {
    const bare = duel();
    bare[side].hasMaster = false;
    assertThrows(
      () => bare.alice.flow.showQr(bare.alice.keys(bare.bob)),
      ValueError,
      "no cross-signing identity",
    );
  }
  assertEquals([here.bob.phase, other.bob.phase], ["ready", "ready"]); // they can still compare emoji
});

Deno.test("T49: a code of another verification is refused, and the verification goes on", () => {
  const [here, other, self] = [duel(), duel({ roomId: "!room:example.org" }), duel({ isSelf: true })];
  for (const wrong of [other, self]) {
    const bytes = wrong.alice.flow.showQr(wrong.alice.keys(wrong.bob));
    assertThrows(
      () => here.bob.flow.scanQr(bytes, here.bob.keys(here.alice)),
      ValueError,
      "another verification",
    );
  }
  assertEquals(here.bob.phase, "ready");
});

Deno.test("Codes can be shown and scanned as far as both devices have said so", () => {
  const here = new Duel({ ways: ["sas", "show-qr"] });
  assertEquals([here.alice.state.ways, here.bob.state.ways], [["sas"], ["sas"]]); // nobody scans
  assertThrows(
    () => here.alice.flow.showQr(here.alice.keys(here.bob)),
    ValueError,
    "have not both said that they can",
  );
  const mixed = new Duel({ ways: ["show-qr"], isReady: false });
  mixed.bob.flow.accept(["scan-qr"]);
  mixed.run();
  assertEquals([mixed.alice.state.ways, mixed.bob.state.ways], [["show-qr"], ["scan-qr"]]);
  assertThrows(() => mixed.startSas(), ValueError, "Cannot compare emoji: not both devices can");
});

Deno.test("After a code was shown the two can still compare emoji; a scan and a start at once call it off", () => {
  const here = duel();
  here.alice.flow.showQr(here.alice.keys(here.bob));
  here.startSas(here.bob).run().confirm();
  assertEquals(here.vouched, [{ device: true, identity: true }, { device: true, identity: true }]);

  const both = duel();
  both.startSas(both.alice);
  const bytes = duel().alice.flow.showQr(both.alice.keys(both.bob));
  both.bob.flow.scanQr(bytes, both.bob.keys(both.alice));
  both.run();
  assertEquals(both.cancelled.map((each) => each?.[0]), ["m.unexpected_message", "m.unexpected_message"]);
});

Deno.test("If both scan each other's code, the scan of the smaller user counts", () => {
  const here = crossing();
  const { alice, bob } = here;
  assertEquals([alice.phase, bob.phase], ["confirmed", "scanned"]);
  bob.flow.confirm();
  bob.flow.complete(IDENTITY);
  here.run();
  assertEquals(alice.flow.vouched, IDENTITY);
});

Deno.test("A scan that does not count confirms nothing, however soon the other side says that it is done", () => {
  const here = crossing();
  const { bob } = here;
  bob.flow.receive({ step: "done", content: {} });
  assertEquals([bob.phase, bob.flow.state().needs], ["scanned", undefined]);
  bob.flow.confirm();
  assertEquals([bob.phase, bob.flow.state().needs], ["confirmed", "completion"]);
});

Deno.test("m.key_mismatch: the user sees no success on the device that scans", () => {
  const here = duel();
  scan(here.alice, here.bob);
  here.run();
  here.alice.flow.mismatch();
  here.run();
  assertEquals(here.cancelled, [["m.key_mismatch", "us"], ["m.key_mismatch", "them"]]);
});
