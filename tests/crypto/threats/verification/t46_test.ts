/** Somebody in between plays both sides of a verification against each other. */

import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { SasExchange, sasOffer } from "../../../../src/crypto/verification/sas_exchange.ts";
import { checkedContent, VerificationFault } from "../../../../src/crypto/verification/protocol.ts";
import { signingKey } from "../../support/fake_user.ts";
import { Duel } from "../../verification/duel.ts";

const vodozemac = await Vodozemac.load();

/** Nothing was vouched for, and both sides know why. */
function assertRefused(duel: Duel, code: string): void {
  assertEquals(duel.cancelled.map((each) => each?.[0]), [code, code]);
  assertEquals([duel.alice.state.verified, duel.bob.state.verified], [undefined, undefined]);
  assertEquals([duel.alice.state.needs, duel.bob.state.needs], [undefined, undefined]);
}

Deno.test("T46: a key that was not committed to ends the verification before anything is shown", () => {
  using mine = vodozemac.createSas();
  const duel = new Duel();
  duel.wire = (from, step, content) =>
    step === "key" && from === duel.bob ? { ...content, key: mine.publicKey } : content;
  duel.startSas().run();
  assertRefused(duel, "m.mismatched_commitment");
  assertEquals(duel.alice.state.shortString, undefined);
});

Deno.test("T46: the key of the one who starts can be replaced, and then the strings differ", () => {
  using mine = vodozemac.createSas();
  const duel = new Duel();
  duel.wire = (from, step, content) =>
    step === "key" && from === duel.alice ? { ...content, key: mine.publicKey } : content;
  duel.startSas().run();
  const [one, other] = [duel.alice.state.shortString, duel.bob.state.shortString];
  assertNotEquals(one, other);
  duel.confirm(); // even if nobody looks, the MACs are of other keys
  assertRefused(duel, "m.key_mismatch");
});

Deno.test("T46: the own key, reflected, is refused", () => {
  const parties = {
    own: { userId: "@bob:example.org", deviceId: "BOB" },
    other: { userId: "@alice:example.org", deviceId: "ALICE" },
    flowId: "flow",
  } as const;
  const start = { from_device: "ALICE", ...sasOffer(), transaction_id: "flow" };
  const offer = checkedContent("start", start);
  using exchange = SasExchange.received(vodozemac, parties, { start, offer });
  const fault = assertThrows(
    () => exchange.receiveKey({ key: exchange.publicKey }),
    VerificationFault,
    "own",
  );
  assertEquals([fault.problem, exchange.shortString], ["m.key_mismatch", undefined]);
});

Deno.test("T46: a key that agrees with everybody on the same secret is refused", () => {
  const duel = new Duel();
  duel.wire = (from, step, content) =>
    step === "key" && from === duel.alice ? { ...content, key: "A".repeat(43) } : content;
  duel.startSas().run();
  assertRefused(duel, "m.key_mismatch");
});

Deno.test("T46: MACs over no key, over unknown keys, and of another text verify nothing", () => {
  for (const way of ["none", "unknown", "other", "list"] as const) {
    const duel = new Duel();
    duel.wire = (from, step, content) => {
      if (step !== "mac" || from !== duel.alice) return content;
      const mac = content.mac as Record<string, string>;
      if (way === "none") return { ...content, mac: {} };
      if (way === "unknown") return { ...content, mac: { "ed25519:OTHER": Object.values(mac)[0] ?? "" } };
      if (way === "list") return { ...content, keys: "A".repeat(43) };
      return { ...content, mac: Object.fromEntries(Object.keys(mac).map((name) => [name, "A".repeat(43)])) };
    };
    duel.startSas().run();
    duel.alice.flow.confirm();
    duel.run();
    assertRefused(duel, "m.key_mismatch");
  }
});

/**
 * Has both sides confirm, but Alice vouch for other keys than her own:
 * she knows the secret, and each MAC is good.
 */
function vouching(forge: (keys: ReadonlyMap<string, string>) => Iterable<[string, string]>): Duel {
  const { macs } = SasExchange.prototype;
  const duel = new Duel();
  duel.startSas().run();
  SasExchange.prototype.macs = function (keys) {
    return macs.call(this, new Map(forge(keys)));
  };
  try {
    duel.alice.flow.confirm();
  } finally {
    SasExchange.prototype.macs = macs;
  }
  return duel.run();
}

Deno.test("T46: good MACs over no key, or over unknown keys alone, verify nothing", () => {
  for (const keys of [[], [["ed25519:OTHER", signingKey().publicKey]]] satisfies [string, string][][]) {
    assertRefused(vouching(() => keys), "m.key_mismatch");
  }
});

Deno.test("T46: a MAC over the master key alone verifies no device", () => {
  const { bob } = vouching((keys) => [...keys].filter(([name]) => name !== "ed25519:ALICE"));
  assertEquals(bob.flow.vouched, { device: false, identity: true });
});

Deno.test("T46: keys that a server swaps after the beginning are not verified: those of the beginning count", () => {
  const duel = new Duel();
  duel.startSas();
  // Bob gets other keys of Alice from the server than she has.
  const shown = {
    ...duel.bob.keys(duel.alice),
    device: signingKey().publicKey,
    master: signingKey().publicKey,
  };
  duel.bob.keys = () => shown;
  duel.run();
  assertEquals(duel.alice.state.shortString, duel.bob.state.shortString); // the exchange itself is good
  duel.confirm();
  assertRefused(duel, "m.key_mismatch");
});
