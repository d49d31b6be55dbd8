/** What becomes of a message for each way in which it can't be decrypted. */

import { type Vodozemac, VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { assertEquals, assertRejects } from "@std/assert";
import { OlmInbox } from "../../../src/crypto/olm/olm_inbox.ts";
import type { OlmSessions } from "../../../src/crypto/olm/olm_sessions.ts";
import type { OwnKeys } from "../../../src/crypto/account/account.ts";
import { NEW_PEERS_A_DAY } from "../../../src/crypto/records/mod.ts";
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

Deno.test("other errors are not blamed on a message, and are thrown", async () => {
  for (const code of ["instance_dead", "bad_handle", "disposed"] as const) {
    await assertRejects(() => failsWith(code), VodozemacError);
  }
  for (const code of ["malformed", "bad_mac"] as const) {
    await assertRejects(() => open(Object.assign(new RangeError("no"), { code })), RangeError);
  }
});

Deno.test("a message that was not decrypted is not recorded: it displaces no other, and is reported as before", async () => {
  const sessions = { peer: () => Promise.resolve({ sessions: [] }) } as unknown as OlmSessions;
  const inbox = new OlmInbox(testContext(), { ownKeys: {} as OwnKeys, sessions });
  const vault = memoryVault();
  for (let times = 0; times < 2; times++) {
    const opened = await step(vault, (tx) => inbox.open(tx, PEER, { type: 1, body: Uint8Array.of(1) }));
    assertEquals(opened.kind, "failed");
    assertEquals(await step(vault, (tx) => inbox.seen.lastAt(tx, PEER.curve25519)), undefined);
  }
});

Deno.test("a device that is known may begin as many sessions in a day as it likes", async () => {
  let begun = 0;
  const known = { sessions: [], wedgingIndex: 0 };
  const sessions = {
    peer: () => Promise.resolve(known),
    isGone: () => Promise.resolve(undefined),
    add: () => Promise.resolve(),
  } as unknown as OlmSessions;
  const ownKeys = {
    account: { createInbound: () => ({ session: {}, plaintext: Uint8Array.of(++begun) }) },
  } as unknown as OwnKeys;
  const readPreKeyMessage = () => ({ sessionId: String(begun), identityKey: PEER.curve25519 });
  const vodozemac = { olm: { readPreKeyMessage } } as unknown as Vodozemac;
  const inbox = new OlmInbox({ ...testContext(), vodozemac }, { ownKeys, sessions });
  await step(memoryVault(), async (tx) => {
    for (let times = 0; times <= NEW_PEERS_A_DAY; times++) {
      const body = Uint8Array.of(times, times >> 8);
      assertEquals((await inbox.open(tx, PEER, { type: 0, body })).kind, "opened");
    }
  });
});
