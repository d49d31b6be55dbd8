import { assertEquals } from "@std/assert";
import { withAccepted } from "../../../src/crypto/devices/local_trust.ts";

const [MASTER, BEFORE] = ["A".repeat(43), "B".repeat(42) + "A"];

Deno.test("an identity that is accepted vouches by the key that it has now, if it has one", () => {
  for (const selfSigning of [undefined, "C".repeat(42) + "A"]) {
    const identity = { pinned: BEFORE, master: MASTER, selfSigning, selfSigningKeys: [BEFORE] };
    const record = { devices: [], gone: [], identity };
    const accepted = withAccepted(record, { userId: "@alice:a.example", master: MASTER });
    assertEquals(accepted.identity?.pinned, MASTER);
    assertEquals(accepted.identity?.selfSigningKeys, selfSigning === undefined ? [] : [selfSigning]);
  }
});
