/** What becomes of a message for each way in which it can't be decrypted. */

import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { assertEquals, assertRejects } from "@std/assert";
import { OlmInbox } from "../../../src/crypto/olm_inbox.ts";
import type { OlmSessions } from "../../../src/crypto/olm_sessions.ts";
import type { OwnKeys } from "../../../src/crypto/own_keys.ts";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";

const PEER = { userId: "@alice:example.org", curve25519: "A".repeat(43) } as const;

/** Has a message decrypted with two sessions, of which the first says that it is not its own. */
function open(error: unknown) {
  const sessions = {
    peer: () => Promise.resolve({ sessions: [{ id: "first" }, { id: "second" }] }),
    decrypt: (_tx: unknown, _peer: unknown, { id }: { id: string }) =>
      Promise.reject(id === "first" ? new VodozemacError("bad_mac", "decrypt") : error),
  } as unknown as OlmSessions;
  const inbox = new OlmInbox(testContext(), { ownKeys: {} as OwnKeys, sessions });
  return step(memoryVault(), (tx) => inbox.open(tx, PEER, { type: 1, body: Uint8Array.of(1) }));
}

const failsWith = async (code: VodozemacErrorCode) => (await open(new VodozemacError(code, "decrypt"))).kind;

Deno.test("a message that is bad in itself is dropped: a new session would not help", async () => {
  const codes = [
    "malformed",
    "unsupported_version",
    "bad_key",
    "bad_length",
    "identity_key_mismatch",
    "non_contributory_key",
    "too_long",
  ] as const;
  for (const code of codes) assertEquals([code, await failsWith(code)], [code, "dropped"]);
});

Deno.test("a message that none of the sessions can decrypt shows that the two sides have lost each other", async () => {
  const codes = [
    "bad_mac",
    "bad_padding",
    "bad_state",
    "missing_message_key",
    "too_long_gap",
    "unknown_one_time_key",
  ] as const;
  for (const code of codes) assertEquals([code, await failsWith(code)], [code, "failed"]);
});

Deno.test("whatever else goes wrong is no one's message's fault, and is thrown", async () => {
  for (const code of ["instance_dead", "bad_handle", "disposed"] as const) {
    await assertRejects(() => failsWith(code), VodozemacError);
  }
  await assertRejects(() => open(new RangeError("no")), RangeError);
});
