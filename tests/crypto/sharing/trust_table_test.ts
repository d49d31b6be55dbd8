/** The table of TRUST.md: which devices get keys, and which are heard. */

import { assertEquals } from "@std/assert";
import type { AcceptPolicy, SendPolicy } from "@greenroom/matrix";
import type { DeviceTrust } from "@greenroom/matrix/types";
import { accepts } from "../../../src/crypto/megolm/mod.ts";
import { shareDecision } from "../../../src/crypto/sharing/mod.ts";
import { device } from "./fakes.ts";

const SEND: readonly SendPolicy[] = ["all", "cross-signed", "verified"];
const ACCEPT: readonly AcceptPolicy[] = ["all", "cross-signed-or-legacy", "cross-signed"];

/** What a device gets with each policy: the key, why not, or nobody gets anything. */
function gets(trust: DeviceTrust, wasVerified = false): string[] {
  return SEND.map((policy) => {
    const decision = shareDecision(policy, device("@bob:b.org", "BOB", { trust }), {
      isSpared: false,
      wasVerified,
    });
    return typeof decision === "string" ? decision : decision.code;
  });
}

Deno.test("TRUST.md: who gets keys with which sendTo", () => {
  assertEquals(gets("verified"), ["share", "share", "share"]);
  assertEquals(gets("cross-signed"), ["share", "share", "m.unverified"]);
  assertEquals(gets("unsigned"), ["share", "m.unverified", "m.unverified"]);
  assertEquals(gets("violation"), ["share", "m.unverified", "m.unverified"]);
  const wasVerified = true;
  assertEquals(gets("violation", wasVerified), ["share", "refuse", "refuse"]);
  assertEquals(gets("blacklisted"), ["m.blacklisted", "m.blacklisted", "m.blacklisted"]);
});

Deno.test("TRUST.md: who is heard with which accept", () => {
  const heard = (trust: Parameters<typeof accepts>[1]["trust"], source: "direct" | "backup" = "direct") =>
    ACCEPT.filter((policy) => accepts(policy, { trust, source }));
  assertEquals(heard("verified"), ACCEPT);
  assertEquals(heard("unverified-identity"), ACCEPT);
  assertEquals(heard("unsigned-device"), ["all"]);
  assertEquals(heard("unsigned-device", "backup"), ["all"]);
  assertEquals(heard("unknown-device"), ["all"]);
  assertEquals(heard("unknown-device", "backup"), ["all", "cross-signed-or-legacy"]);
  assertEquals(heard("verification-violation"), ["all"]);
  assertEquals(heard("mismatched-sender"), []);
});
