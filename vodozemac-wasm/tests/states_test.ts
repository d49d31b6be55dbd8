import { assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { text } from "./support/pair.ts";

/**
 * States as the first version of the format has them. Every later version must read them: never
 * write them anew.
 */
const vectors = JSON.parse(await Deno.readTextFile(new URL("./vectors/states_v1.json", import.meta.url)));
const { olm, megolm } = await Vodozemac.load();

Deno.test("states of format 1 are read, and stay what they were", () => {
  using account = olm.restoreAccount(vectors.account);
  assertEquals(account.ed25519Key, vectors.ed25519Key);
  assertEquals(account.oneTimeKeys(), vectors.oneTimeKeys);
  assertEquals(account.fallbackKey(), vectors.fallbackKey);
  assertEquals([account.storedOneTimeKeyCount, account.sign("text")], [2, vectors.signature]);
  assertEquals(account.state().toBase64(), vectors.account);

  using session = olm.restoreSession(vectors.session);
  assertEquals(session.state().toBase64(), vectors.session);
  assertEquals(session.sessionId, vectors.sessionId);
  assertEquals(text(session.decrypt(vectors.skipped)), "skipped");

  using outbound = megolm.restoreOutbound(vectors.outbound);
  using inbound = megolm.restoreInbound(vectors.inbound);
  assertEquals([outbound.state().toBase64(), inbound.state().toBase64()], [
    vectors.outbound,
    vectors.inbound,
  ]);
  assertEquals([outbound.sessionId, inbound.sessionId], [vectors.groupSessionId, vectors.groupSessionId]);
  assertEquals(outbound.encrypt("at 1"), vectors.message);
  assertEquals(text(inbound.decrypt(vectors.message).plaintext), "at 1");
});
