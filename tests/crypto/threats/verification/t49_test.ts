/** A QR code with other keys, or a secret that was not scanned. */

import { assertEquals, assertThrows } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { ValueError } from "@greenroom/matrix";
import {
  decodeQrCode,
  encodeQrCode,
  type QrCode,
} from "../../../../src/crypto/verification/qr_reciprocation.ts";
import { sasOffer } from "../../../../src/crypto/verification/sas_exchange.ts";
import { signingKey } from "../../support/fake_user.ts";
import { Duel } from "../../verification/duel.ts";

const vodozemac = await Vodozemac.load();
const WAYS = ["show-qr", "scan-qr"] as const;

function assertRefused(duel: Duel): void {
  assertEquals(duel.cancelled.map((each) => each?.[0]), ["m.key_mismatch", "m.key_mismatch"]);
  assertEquals([duel.alice.state.needs, duel.bob.state.needs], [undefined, undefined]);
  assertEquals(duel.vouched, [undefined, undefined]);
}

Deno.test("T49: a code with another key than the server shows is refused, in each mode and for each key", () => {
  for (const [isSelf, shower] of [[false, true], [true, true], [true, false]] as const) {
    for (const which of ["ownKey", "theirKey"] as const) {
      const duel = new Duel({ ways: WAYS, isSelf });
      const { alice, bob } = duel;
      if (isSelf) (shower ? bob : alice).isOwnVerified = false;
      const code = decodeQrCode(alice.flow.showQr(alice.keys(bob)));
      const other: QrCode = { ...code, [which]: signingKey().publicKey };
      bob.flow.scanQr(encodeQrCode(other), bob.keys(alice));
      duel.run();
      assertRefused(duel);
    }
  }
});

Deno.test("T49: a code whose keys are swapped round is refused", () => {
  const duel = new Duel({ ways: WAYS });
  const { alice, bob } = duel;
  const code = decodeQrCode(alice.flow.showQr(alice.keys(bob)));
  const swapped = { ...code, ownKey: code.theirKey, theirKey: code.ownKey };
  bob.flow.scanQr(encodeQrCode(swapped), bob.keys(alice));
  assertRefused(duel.run());
});

Deno.test("T49: a secret that is not that of the code is refused", () => {
  for (const secret of ["A".repeat(22), "", "no base64!", "A".repeat(200)]) {
    const duel = new Duel({ ways: WAYS });
    const { alice, bob } = duel;
    alice.flow.showQr(alice.keys(bob));
    const content = { from_device: "BOB", method: "m.reciprocate.v1", secret, transaction_id: "flow" };
    alice.flow.receive({ step: "start", content });
    assertRefused(duel.run());
  }
});

Deno.test("T49: a secret without a code, and a secret that was used, are refused", () => {
  const start = { from_device: "BOB", method: "m.reciprocate.v1", secret: "A".repeat(22) };
  const early = new Duel({ ways: WAYS });
  early.alice.flow.receive({ step: "start", content: start });
  early.run();
  assertEquals(early.alice.cancelled, ["m.unexpected_message", "us"]);

  const duel = new Duel({ ways: WAYS });
  const { alice, bob } = duel;
  const bytes = alice.flow.showQr(alice.keys(bob));
  bob.flow.scanQr(bytes, bob.keys(alice));
  duel.run();
  const { secret } = decodeQrCode(bytes);
  alice.flow.receive({ step: "start", content: { ...start, secret } });
  duel.run();
  assertEquals([alice.cancelled?.[1], alice.flow.state().needs], ["us", undefined]);
});

Deno.test("T49: a server that shows both users other identities is noticed by the one who scans", () => {
  const duel = new Duel({ ways: WAYS });
  const { alice, bob } = duel;
  const shown = signingKey().publicKey;
  const code = alice.flow.showQr({ ...alice.keys(bob), master: shown }); // Alice is shown another Bob
  bob.flow.scanQr(code, bob.keys(alice));
  assertRefused(duel.run());
});

Deno.test("T49: what a code was made with counts: identities that a server swaps after that are not verified by it", () => {
  for (const isSelf of [false, true]) {
    for (const next of ["showQr", "scanQr", "startSas"] as const) {
      const duel = new Duel({ ways: ["sas", ...WAYS], isSelf });
      const { alice, bob } = duel;
      if (isSelf) alice.isOwnVerified = false;
      const code = alice.flow.showQr(alice.keys(bob));
      const master = signingKey().publicKey;
      const shown = { ...alice.keys(bob), master, ...(isSelf && { ownMaster: master }) };
      if (next === "showQr") alice.flow.showQr(shown);
      if (next === "scanQr") alice.flow.scanQr(bob.flow.showQr(bob.keys(alice)), shown);
      if (next === "startSas") alice.flow.startSas(vodozemac, shown);
      if (next === "showQr") bob.flow.scanQr(code, bob.keys(alice));
      duel.run();
      assertRefused(duel);
    }
  }
});

Deno.test("T49: a start that waits for its answer keeps a code from being scanned, which would count for other keys", () => {
  const duel = new Duel({ ways: ["sas", ...WAYS] });
  const { alice, bob } = duel;
  const code = bob.flow.showQr(bob.keys(alice));
  const content = { from_device: "BOB", ...sasOffer(), transaction_id: "flow" };
  alice.flow.receive({ step: "start", content });
  assertThrows(() => alice.flow.scanQr(code, alice.keys(bob)), ValueError, "Cannot scan a QR code");
  const shown = { ...alice.keys(bob), master: signingKey().publicKey };
  alice.flow.answerStart(vodozemac, shown);
  alice.flow.receive({ step: "done", content: { transaction_id: "flow" } });
  assertEquals([alice.flow.vouched, alice.state.verified], [undefined, undefined]);
});
