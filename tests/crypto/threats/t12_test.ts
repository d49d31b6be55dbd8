import { assertEquals, assertFalse } from "@std/assert";
import { DeviceStage } from "../support/device_stage.ts";
import { FakeUser, queryResponse } from "../support/fake_user.ts";
import { testContext } from "../support/context.ts";

const ALICE = "@alice:a.example";

/** 44 characters of base64 that are not 32 bytes, and other texts that are no key. */
const NO_KEYS = [
  "A".repeat(44),
  "A".repeat(42) + "B",
  "A".repeat(45),
  "",
  "=".repeat(44),
  "!".repeat(44),
  7,
  null,
  {},
];

Deno.test("T12: a device whose key does not decode is skipped, the others are taken, and the engine lives", async () => {
  for (const key of NO_KEYS) {
    for (const name of ["curve25519", "ed25519"]) {
      const stage = new DeviceStage();
      const alice = new FakeUser(ALICE, "BAD", "GOOD");
      const response = queryResponse(alice);
      const bad = alice.device("BAD");
      const keys = { "curve25519:BAD": bad.curve25519, "ed25519:BAD": bad.signing.publicKey };
      response.device_keys[ALICE] = {
        ...response.device_keys[ALICE],
        BAD: alice.deviceKeys(bad, { keys: { ...keys, [`${name}:BAD`]: key } }),
      };
      await stage.mark(ALICE);
      await stage.ask(response);
      assertEquals(await stage.trust(ALICE), { GOOD: "unsigned" });
    }
  }
  assertFalse(testContext().vodozemac.dead);
});

Deno.test("T12: a signing key that is 32 bytes and no point of the curve makes the device be skipped", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "BAD", "GOOD");
  const response = queryResponse(alice);
  const bad = alice.device("BAD");
  for (const ed25519 of ["A".repeat(43), "/".repeat(42) + "8", "Ag".padEnd(43, "A")]) {
    const keys = { "curve25519:BAD": bad.curve25519, "ed25519:BAD": ed25519 };
    response.device_keys[ALICE] = {
      ...response.device_keys[ALICE],
      BAD: alice.deviceKeys(bad, { keys }),
    };
    await stage.mark(ALICE);
    await stage.ask(response);
    assertEquals(await stage.trust(ALICE), { GOOD: "unsigned" });
  }
  assertFalse(testContext().vodozemac.dead);
});
