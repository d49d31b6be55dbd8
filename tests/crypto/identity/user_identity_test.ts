import { assertEquals } from "@std/assert";
import { acceptedIdentity } from "../../../src/crypto/identity/user_identity.ts";

const [MASTER, BEFORE] = ["A".repeat(43), "B".repeat(42) + "A"];

Deno.test("an identity that is accepted vouches by the key that it has now, if it has one", () => {
  for (const selfSigning of [undefined, "C".repeat(42) + "A"]) {
    const identity = { pinned: BEFORE, master: MASTER, selfSigning, selfSigningKeys: [BEFORE] };
    const accepted = acceptedIdentity(identity, { userId: "@alice:a.example", master: MASTER });
    assertEquals(accepted.pinned, MASTER);
    assertEquals(accepted.selfSigningKeys, selfSigning === undefined ? [] : [selfSigning]);
  }
});
