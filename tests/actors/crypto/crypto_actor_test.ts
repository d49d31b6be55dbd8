import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { spawnCrypto } from "../../../src/actors/crypto/crypto_actor.ts";
import { spawnStore } from "../../../src/actors/store/store_actor.ts";
import { DEFAULT_POLICY } from "../../../src/crypto/engine/policy.ts";
import { EncryptionError } from "../../../src/errors/crypto_error.ts";
import { TestClock } from "../../../src/testing/test_clock.ts";
import { recordingLogger } from "../kernel/support.ts";

const ALICE = { userId: "@alice:example.org", deviceId: "ALICE" } as const;

Deno.test("The engine of a device is opened once, whoever opens it again, and nothing is asked of it before", async () => {
  const log = recordingLogger();
  const store = spawnStore({ close: true, log });
  await store.ask("open", ["greenroom"]);
  const crypto = spawnCrypto({ store, clock: new TestClock(), log, policy: DEFAULT_POLICY });
  await assertRejects(() => crypto.ask("requests", undefined), EncryptionError, "has not been opened");
  const identity = await crypto.ask("open", ALICE);
  assertNotEquals(await crypto.ask("requests", undefined), []);
  assertEquals(await crypto.ask("open", ALICE), identity);
  assertEquals(await crypto.ask("requests", undefined), [], "what is on its way is not made twice");
  await crypto.stop();
  await store.stop();
});
