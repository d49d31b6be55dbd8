/** Somebody in between has two devices that know the good MAC use the old one. */

import { assertEquals } from "@std/assert";
import { Duel } from "../../verification/duel.ts";

const OLD = "hkdf-hmac-sha256";

Deno.test("T47: of two MACs that both know, the good one is chosen", () => {
  const duel = new Duel();
  const chosen: unknown[] = [];
  duel.wire = (_from, step, content) => {
    if (step === "accept") chosen.push(content.message_authentication_code);
    return content;
  };
  duel.startSas().run();
  assertEquals(chosen, ["hkdf-hmac-sha256.v2"]);
});

Deno.test("T47: an offer without the good MAC, which was not made, is noticed before anything is shown", () => {
  const duel = new Duel();
  duel.wire = (_from, step, content) =>
    step === "start" ? { ...content, message_authentication_codes: [OLD] } : content;
  duel.startSas().run();
  assertEquals(duel.cancelled, [["m.mismatched_commitment", "us"], ["m.mismatched_commitment", "them"]]);
});

Deno.test("T47: a choice of the old MAC, which was not made, verifies nothing", () => {
  const duel = new Duel();
  duel.wire = (_from, step, content) =>
    step === "accept" ? { ...content, message_authentication_code: OLD } : content;
  duel.startSas().run().confirm();
  assertEquals(duel.cancelled.map((each) => each?.[0]), ["m.key_mismatch", "m.key_mismatch"]);
  assertEquals(duel.vouched, [undefined, undefined]);
});
